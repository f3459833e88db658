"""Client programs in Node processes, which do as they are told and print what they hear, a line each."""

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.lines import PATIENCE, Lines

FOLDER = Path(__file__).parent


class NodeClient:
    """One such program: `{"do", "n", ...}` goes in; `{"answer": n, ...}` and `{"heard": name, ...}` come."""

    def __init__(self, program: str) -> None:
        self._numbers = itertools.count(1)
        self._node = subprocess.Popen(
            ["node", program], cwd=FOLDER, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._node.stdout is not None
        self.lines = Lines(self._node.stdout, json.loads)

    def tell(self, do: str, **more: Any) -> int:
        """Give the program a command; its number."""
        number = next(self._numbers)
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps({"do": do, "n": number, **more}) + "\n")
        self._node.stdin.flush()
        return number

    def answered(self, number: int) -> Any:
        """The line that answers a command."""

        def look(lines: list[Any]) -> Any:
            return next((line for line in lines if line.get("answer") == number), None)

        return self.lines.wait(look, f"an answer to command {number}")

    def heard_lines(self, *names: str) -> list[Any]:
        """The lines of everything with these names that was heard so far."""
        return [line for line in tuple(self.lines.all) if line.get("heard") in names]

    def hear_line(
        self, name: str, count: int = 1, fits: Callable[[Any], bool] = bool, patience: float = PATIENCE
    ) -> Any:
        """The *count*-th line of this name that fits, as soon as it is there."""

        def look(lines: list[Any]) -> Any:
            fitting = [line for line in lines if line.get("heard") == name and fits(line)]
            return fitting[count - 1] if len(fitting) >= count else None

        return self.lines.wait(look, f"{name} for the {count}. time", patience)

    def close(self) -> None:
        """Go away for good."""
        with self._node:
            assert self._node.stdin is not None
            self._node.stdin.close()
            try:
                self._node.wait(PATIENCE)
            finally:
                self._node.kill()
            self.lines.end()
