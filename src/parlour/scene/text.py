"""A scene as text, for whoever cannot look at a picture: the labels of what is drawn, and the view beside."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from parlour.scene.values import Clock, Piece, Scene, Side

LAST_LINES = 5
"""So many lines of what happened are told."""
MOST_SPOTS = 100
"""Where more than that hold something, labels would fill pages; the view is told in their place."""
SHORT_VIEW = 1_500
"""Characters up to which a view is told although the labels say what is on the board."""


def text_of(scene: Scene, view: Any) -> str:
    """All that a viewer sees, as lines of text; ``{0}`` stands for the name of whoever has seat 0.

    The labels of what is drawn come first. The view is told, too, where it is short or labels are missing.
    """
    lines = [scene.status, *_sides(scene.sides)]
    if scene.turn:
        lines.append("to act: " + ", ".join(f"{{{seat}}}" for seat in scene.turn))
    lines += [_clock(clock) for clock in scene.clocks]
    board = _board(scene)
    if len(board) > MOST_SPOTS:
        board = []
    if board:
        lines += ["board:", *(f"  {line}" for line in board)]
    if scene.text:
        lines.append(scene.text)
    if scene.log:
        lines += ["last:", *(f"  {line}" for line in scene.log[-LAST_LINES:])]
    if not scene.text:
        told = msgspec.json.encode(view).decode()
        if len(told) <= SHORT_VIEW or not board or not _is_labelled(scene):
            lines.append(f"view: {told}")
    return "\n".join(filter(None, lines))


def with_names(text: str, names: Sequence[str | None]) -> str:
    """*text* with the names of those who sit there.

    >>> with_names("{1} waits for {0}", ["Ann", None])
    'seat 1 waits for Ann'
    """

    def name(found: re.Match[str]) -> str:
        seat = int(found[1])
        if seat >= len(names):
            return found[0]
        return names[seat] or f"seat {seat}"

    return re.sub(r"\{(\d{1,3})\}", name, text)


def _sides(sides: Sequence[Side]) -> list[str]:
    said = [", ".join(filter(None, (side.look or "", side.text, side.score))) for side in sides]
    return [f"{{{seat}}}: {words}" for seat, words in enumerate(said) if words]


def _clock(clock: Clock) -> str:
    whose = "clock" if clock.seat is None else f"clock of {{{clock.seat}}}"
    return f"{whose}: {clock.seconds:g} s{'' if clock.at is None else ', running'}"


def _is_labelled(scene: Scene) -> bool:
    """True if whatever stands on the board has a label."""
    return all(piece.label for piece in scene.pieces)


def _board(scene: Scene) -> list[str]:
    """A line for each labelled spot that holds something, or whose label says more than its name."""
    held_by: dict[str, Counter[str]] = {}
    for piece in sorted(scene.pieces, key=lambda piece: (piece.spot, piece.at, piece.id)):
        if piece.label:
            held_by.setdefault(piece.spot, Counter())[_piece(piece)] += 1
    lines = []
    for spot in scene.spots:
        held: Mapping[str, int] = held_by.get(spot.id, {})
        if not spot.label or not (held or spot.text or ":" in spot.label):
            continue
        things = [words if count == 1 else f"{count} x {words}" for words, count in held.items()]
        if spot.text and ":" not in spot.label:
            things.insert(0, spot.text)
        lines.append(": ".join(filter(None, (spot.label, ", ".join(things)))))
    return lines


def _piece(piece: Piece) -> str:
    """What a piece is called; how many it stands for; that it is used up."""
    count = f" ({piece.count})" if piece.count and str(piece.count) not in piece.label else ""
    return f"{piece.label}{count}{', used' if piece.dim else ''}"
