"""python -m fuzz.guided TARGET [libFuzzer options]: atheris looks for inputs that reach new code."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def main(name: str, *options: str) -> None:
    import atheris  # noqa: PLC0415 - installed on demand

    with atheris.instrument_imports(include=["parlour", "fuzz"]):
        from fuzz.targets import TARGETS  # noqa: PLC0415

    target = TARGETS[name]
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(target.seeds):
            Path(corpus, str(number)).write_bytes(seed)
        read: Any = target.read
        atheris.Setup([sys.argv[0], "-max_len=4096", "-verbosity=0", *options, corpus], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
