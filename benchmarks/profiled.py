"""Parlour under a profiler: SIGUSR1 begins, SIGUSR2 ends and writes the profile to the file named first."""

import cProfile
import signal
import sys

from parlour.cli import app


def main() -> None:
    """Serve with the rest of the arguments."""
    file = sys.argv.pop(1)
    profile = cProfile.Profile()

    def begin(*_: object) -> None:
        profile.enable()

    def end(*_: object) -> None:
        profile.disable()
        profile.dump_stats(file)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, end)
    app()


if __name__ == "__main__":
    main()
