"""What is wrong with a scene that a browser could not draw, hit or read aloud."""

from collections import Counter
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any

from parlour.scene.values import Scene

GLYPHS = frozenset(
    [
        "marshal",
        "general",
        "colonel",
        "major",
        "captain",
        "lieutenant",
        "sergeant",
        "miner",
        "scout",
        "spy",
        "bomb",
        "flag",
        "clubs",
        "diamonds",
        "hearts",
        "spades",
    ]
)
"""The emblems that there are; those of the suits are for cards."""
EDGE = 1e-9
"""Lengths that are no more than this over the edge are on it."""


def scene_faults(scene: Scene) -> Iterator[str]:
    """A sentence for each thing in a scene that cannot be drawn, hit or read aloud.

    >>> from parlour.scene import Piece, Scene, Spot
    >>> list(scene_faults(Scene(1, 1, (Spot("a", 0, 0),), (Piece("x", "disc", "b"),))))
    ["piece 'x' stands on spot 'b', which is not there; there is 'a'"]
    """
    things: tuple[Any, ...] = (*scene.spots, *scene.pieces, *scene.controls)
    ids = Counter(thing.id for thing in things)
    yield from (f"the id {id!r} is there {count} times" for id, count in ids.items() if count > 1)
    yield from _spot_faults(scene)
    yield from _piece_faults(scene)
    yield from _picture_faults(scene)
    yield from _narrow_faults(scene)
    yield from (f"control {control.id!r} has no text" for control in scene.controls if not control.text)
    for line in scene.lines:
        across, down = sorted((line.x, line.to_x)), sorted((line.y, line.to_y))
        if across[0] < 0 or across[1] > scene.width or down[0] < 0 or down[1] > scene.height:
            yield f"a line leaves the board of {scene.width} x {scene.height}: {line}"


def _spot_faults(scene: Scene) -> Iterator[str]:
    for spot in scene.spots:
        right, low = scene.width + EDGE, scene.height + EDGE
        if spot.x < 0 or spot.y < 0 or spot.x + spot.w > right or spot.y + spot.h > low:
            yield f"spot {spot.id!r} leaves the board of {scene.width} x {scene.height}"
        if (spot.click or spot.second) and not spot.label:
            yield f"spot {spot.id!r} can be clicked and has no label for screen readers"


def _piece_faults(scene: Scene) -> Iterator[str]:
    spots = {spot.id for spot in scene.spots}
    for piece in scene.pieces:
        for spot in {piece.spot, *piece.drops, piece.via} - spots - {None}:
            near = _nearest(str(spot), spots)
            yield f"piece {piece.id!r} {_relation(piece, spot)} spot {spot!r}, which is not there{near}"
        if piece.glyph and piece.glyph not in GLYPHS:
            yield f"piece {piece.id!r}: expected a glyph of {', '.join(sorted(GLYPHS))}; got {piece.glyph!r}"
        if (piece.click or piece.drops) and not piece.label:
            yield f"piece {piece.id!r} can be moved and has no label for screen readers"
    places = Counter((piece.spot, piece.at) for piece in scene.pieces)
    for (spot, at), count in places.items():
        if count > 1:
            yield f"{count} pieces have the place at={at} on spot {spot!r}"


def _picture_faults(scene: Scene) -> Iterator[str]:
    """A look with a dot in it is the file of a picture; those of other games are not there, either."""
    looks = [(f"piece {piece.id!r}", piece.look) for piece in scene.pieces]
    looks += [(f"side {seat}", side.look) for seat, side in enumerate(scene.sides) if side.look is not None]
    for what, look in looks:
        if "." in look and look not in scene.pictures:
            there = ", ".join(sorted(scene.pictures)) or "which there are none beside its file"
            yield f"{what}: expected a picture of this game's own, of {there}; got {look!r}"


def _relation(piece: Any, spot: Any) -> str:
    return "stands on" if piece.spot == spot else "goes by way of" if piece.via == spot else "drops on"


def _narrow_faults(scene: Scene) -> Iterator[str]:
    spots = {spot.id for spot in scene.spots}
    if scene.narrow is None:
        return
    width, height = scene.narrow.width, scene.narrow.height
    boxes = {spot.id: (spot.x, spot.y, spot.w, spot.h) for spot in scene.spots} | dict(scene.narrow.places)
    for id, (x, y, w, h) in boxes.items():
        if id not in spots:
            yield f"narrow has a place for spot {id!r}, which is not there{_nearest(id, spots)}"
        elif x < 0 or y < 0 or x + w > width + EDGE or y + h > height + EDGE:
            yield f"narrow: spot {id!r} leaves the board of {width} x {height}"


def _nearest(wanted: str, spots: Collection[str]) -> str:
    """Those spots that may have been meant."""
    near = get_close_matches(wanted, spots) or sorted(spots)[:5]
    return f"; there is {', '.join(map(repr, near))}" if near else ""
