"""Parlour under a tracer: SIGUSR1 begins a trace, SIGUSR2 ends it; run by `benchmarks.walks`.

The first argument is a folder, the rest is what `parlour` is asked. When a trace has begun the file `begun`
is in the folder, and when it has ended the file `trace`: one line for each call, resumption and return of a
function of Parlour's own, in every thread. It needs nothing of Parlour but its name.
"""

import inspect
import runpy
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType

IN_PASSING = ("server/clock.py", "server/metrics.py", "server/watchdog.py")
"""What looks at every walk and is no part of any."""
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Frames of their own in some versions of Python, and to a reader no functions."""
PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Tracer:
    """Notes what happens, from `begin` to `end`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = f"{root}/"
        self._folder = folder
        self._files: dict[CodeType, str | None] = {}
        self._lines: list[str] = []
        self._is_on = False

    def install(self) -> None:
        """Look at every call in this thread and in all that begin from now on."""
        signal.signal(signal.SIGUSR1, self.begin)
        signal.signal(signal.SIGUSR2, self.end)
        threading.setprofile(self.look)
        sys.setprofile(self.look)

    def begin(self, *_: object) -> None:
        self._lines.clear()
        self._is_on = True
        (self._folder / "begun").touch()

    def end(self, *_: object) -> None:
        self._is_on = False
        whole = self._folder / "writing"
        whole.write_text("".join(self._lines))
        whole.rename(self._folder / "trace")

    def look(self, frame: FrameType, event: str, _: object) -> None:
        """What Python calls with every call and return."""
        if self._is_on and event in ("call", "return"):
            code = frame.f_code
            if code not in self._files:
                self._files[code] = self._file(code)
            file = self._files[code]
            if file is not None:
                kind = "resume" if event == "call" and was_paused(frame) else event
                self._lines.append(f"{threading.get_ident()} {kind} {file} {code.co_qualname}\n")

    def _file(self, code: CodeType) -> str | None:
        """Where a function of ours is, seen from the package; None for all others."""
        if not code.co_filename.startswith(self._root) or code.co_name in COMPREHENSIONS:
            return None
        file = code.co_filename.removeprefix(self._root)
        return None if file in IN_PASSING else file


def was_paused(frame: FrameType) -> bool:
    """Whether this goes on where it had awaited or yielded; the instruction where it enters says so."""
    code = frame.f_code
    return bool(code.co_flags & PAUSES) and code.co_code[frame.f_lasti + 1] & 3 != 0


def main() -> None:
    """Be `python -m parlour` with the rest of the arguments."""
    folder = Path(sys.argv.pop(1))
    found = find_spec("parlour")
    if found is None or found.origin is None:
        raise SystemExit("expected the package parlour on the path, found none")
    Tracer(Path(found.origin).parent, folder).install()
    runpy.run_module("parlour", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
