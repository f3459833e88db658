"""What the leak check found, for the author of the game: which step, which viewer, which bytes."""

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any

import msgspec

from parlour.leakcheck.received import Difference, Received, encode

CONTEXT = 40
"""Bytes shown before the first that differs; twice as many after it."""
MOST_LINES = 5

ADVICE = {
    "reply": "A refusal must not depend on a secret, for it is in no view. Refuse the event in both worlds"
    " alike, or accept it as a step whose answer the view shows.",
    "time of the next alarm": "If nobody does anything, something happens sooner in one world than in the"
    " other, and time tells the secret. Let Later and End depend only on what this viewer sees; if the time"
    " itself is the secret, draw it with moment.chance where the timer is set.",
    "clocks": "Everybody sees whose clock runs: that of the players that to_move returns, or who have legal"
    " events. If it is secret who can do something, let to_move return no players meanwhile.",
    "legal events": "Whoever asks is told what is legal: for the same view the same, in the same order.",
}
USUAL_ADVICE = (
    "The views of both worlds are the same, so nothing was revealed, and nothing else may differ."
    " What this step should tell must be in the view of the same step."
)


class Leak(Exception):
    """Somebody received different bytes in two worlds that they must not be able to tell apart."""

    def __init__(self, what: Difference, hidden: Received, *, resampled: int) -> None:
        super().__init__(what.part)
        self.what = what
        self.hidden = hidden
        """The states of the two worlds, by `here` and `there`."""
        self.resampled = resampled
        """The step after which the worlds parted."""
        self.at_once = False
        """They differed as soon as they had parted, without a command."""
        self.viewer = ""
        self.game = ""
        self.number = 0
        self.seq = 0
        self.command = b""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        what = self.what
        yield (
            f"LEAK in {self.game}, game {self.number}, step {self.seq}: "
            f"{self.viewer} can tell two worlds apart that must look the same to them"
        )
        yield f"  command   {self._command()}"
        yield f"  different {what.part}, from byte {_first(what.here, what.there)} on"
        yield from _excerpts(what.here, what.there)
        yield from _paths(what.here, what.there)
        yield f"  hidden    what resample changed after step {self.resampled}"
        yield from _paths(self.hidden["here"], self.hidden["there"])
        yield f"  {self._advice()}"

    def _command(self) -> str:
        if self.at_once:
            return "none: the worlds differ as resample made them"
        return self.command.decode()

    def _advice(self) -> str:
        part = self.what.part
        if self.at_once:
            either = f"Either the {part} shows what resample takes for hidden,"
            return f"{either} or resample changes what this viewer knows. {ADVICE.get(part, '')}".rstrip()
        return ADVICE.get(part, USUAL_ADVICE)


class Report(msgspec.Struct):
    """How much was compared, and the leak if one was found."""

    game: str
    hides: bool = True
    """The game has a `resample` of its own."""
    games: int = 0
    steps: int = 0
    worlds: int = 0
    """Other worlds that resample gave and that were really others."""
    comparisons: int = 0
    refusals: int = 0
    """How many of the comparisons were of refusals."""
    exports: int = 0
    """How much of what exports say was compared."""
    reveals: int = 0
    """How often a step made the views differ, which ended the comparison."""
    by_viewer: dict[str, int] = {}
    """How many worlds each kind of viewer was given."""
    resampled: dict[str, bool] = {}
    """The fields of the state, and whether resample ever changed them."""
    leak: Leak | None = None

    @property
    def ok(self) -> bool:
        """No leak; and if the game hides anything, something was compared."""
        return self.leak is None and (not self.hides or self.worlds > 0)

    @property
    def code(self) -> int:
        """How the command exits."""
        return 0 if self.ok else 1

    def note_fields(self, state: Any, other: Any) -> None:
        """Remember which fields of the state resample changes."""
        for name in getattr(state, "__struct_fields__", ()):
            changed = getattr(state, name) != getattr(other, name)
            self.resampled[name] = self.resampled.get(name, False) or changed

    def is_secret(self, state: Any, other: Any) -> bool:
        """Two states differ, and only in fields that resample was seen to change."""
        fields = [name for name in self.resampled if getattr(state, name) != getattr(other, name)]
        return bool(fields) and all(self.resampled[name] for name in fields)

    def __str__(self) -> str:
        if not self.hides:
            return (
                f"{self.game}: nothing is hidden, so nothing was compared (it has no resample of its own)."
                " If its view hides something, write resample and check again."
            )
        played = f"{_count(self.games, 'game')}, {_count(self.steps, 'step')}"
        if self.leak is not None:
            return f"{self.leak}\n{self.game}: 1 leak after {played}"
        if not self.worlds:
            return f"{self.game}: nothing could be compared: in {played} resample never gave another state"
        viewers = _count(len(self.by_viewer), "viewer")
        compared = _count(self.comparisons, "comparison")
        return "\n".join((f"{self.game}: no leak in {played}, {viewers}, {compared}", *self._details()))

    def _details(self) -> Iterator[str]:
        yield (
            f"  compared: {_count(self.refusals, 'refusal')} among others;"
            f" {_count(self.reveals, 'time')} a step revealed something, which ended a comparison"
        )
        if self.exports:
            yield f"  in exports: {_count(self.exports, 'comparison')}"
        given = [f"{who}: {count}" for who, count in sorted(self.by_viewer.items())]
        yield f"  other worlds: {', '.join(given)}"
        for said, wanted in (("resample changed", True), ("resample never changed", False)):
            if names := [name for name, changed in self.resampled.items() if changed is wanted]:
                yield f"  {said}: {', '.join(names)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _first(here: bytes, there: bytes) -> int:
    """Where two texts begin to differ.

    >>> _first(b"ab", b"abc"), _first(b"xb", b"ab")
    (2, 0)
    """
    pairs = enumerate(zip_longest(here, there))
    return next((at for at, (one, other) in pairs if one != other), len(here))


def _excerpts(here: bytes, there: bytes) -> Iterator[str]:
    first = _first(here, there)
    start = max(first - CONTEXT, 0)
    for name, text in (("here", here), ("there", there)):
        shown = text[start : first + 2 * CONTEXT].decode(errors="replace")
        before, after = "…" if start else "", "…" if len(text) > first + 2 * CONTEXT else ""
        yield f"    {name:<8}{before}{shown}{after}"


def _paths(here: bytes, there: bytes) -> Iterator[str]:
    """What differs, value by value, up to a few."""
    found = list(islice(differences(msgspec.json.decode(here), msgspec.json.decode(there)), MOST_LINES + 1))
    for path, one, other in found[:MOST_LINES]:
        yield f"    {path}: {_short(one, other)} here, {_short(other, one)} there"
    if len(found) > MOST_LINES:
        yield "    and more"


MISSING = "nothing"
"""Stands where one of two things has nothing to compare with."""


def differences(here: Any, there: Any, path: str = "$") -> Iterator[tuple[str, Any, Any]]:
    """The values in which two things made of plain data differ, by their paths.

    >>> list(differences({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3}))
    [('$.a[1]', 2, 4)]
    """
    if isinstance(here, dict) and isinstance(there, dict):
        for key in {**here, **there}:
            yield from differences(here.get(key, MISSING), there.get(key, MISSING), f"{path}.{key}")
        if here == there and list(here) != list(there):
            yield path, list(here), list(there)
    elif isinstance(here, list) and isinstance(there, list):
        for at, (one, other) in enumerate(zip_longest(here, there, fillvalue=MISSING)):
            yield from differences(one, other, f"{path}[{at}]")
    elif here != there or type(here) is not type(there):
        yield path, here, there


def _short(value: Any, other: Any) -> str:
    """A value as JSON, cut to the part around where it differs from the other."""
    text, against = encode(value), encode(other)
    start = max(_first(text, against) - CONTEXT, 0)
    cut = text[start : start + 3 * CONTEXT].decode(errors="replace")
    return ("…" if start else "") + cut + ("…" if len(text) > start + 3 * CONTEXT else "")
