"""What a browser needs of a scene, and what can be clicked in it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from parlour.game import Game
from parlour.scene import Scene
from parlour.testing.table import Table

EDGE = 1e-9
"""Lengths that are no more than this over the edge are on it."""


def scene_faults(scene: Scene) -> Iterator[str]:
    """A sentence for each thing in a scene that cannot be drawn, hit or read aloud.

    >>> from parlour.scene import Piece, Spot
    >>> list(scene_faults(Scene(1, 1, (Spot("a", 0, 0),), (Piece("x", "disc", "b"),))))
    ["piece 'x' stands on spot 'b', which is not there"]
    """
    things: tuple[Any, ...] = (*scene.spots, *scene.pieces, *scene.controls)
    ids = Counter(thing.id for thing in things)
    yield from (f"the id {id!r} is there {count} times" for id, count in ids.items() if count > 1)
    yield from _spot_faults(scene)
    yield from _piece_faults(scene)
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
            yield f"piece {piece.id!r} {_relation(piece, spot)} spot {spot!r}, which is not there"
        if (piece.click or piece.drops) and not piece.label:
            yield f"piece {piece.id!r} can be moved and has no label for screen readers"
    places = Counter((piece.spot, piece.at) for piece in scene.pieces)
    for (spot, at), count in places.items():
        if count > 1:
            yield f"{count} pieces have the place at={at} on spot {spot!r}"


def _relation(piece: Any, spot: Any) -> str:
    return "stands on" if piece.spot == spot else "goes by way of" if piece.via == spot else "drops on"


def clicks(scene: Scene) -> list[Any]:
    """Every event that the scene can send, but for those that a form makes."""
    spots, pieces = ((), ()) if scene.waiting else (scene.spots, scene.pieces)
    clicked = (
        [spot.click for spot in spots] + [piece.click for piece in pieces] + [spot.second for spot in spots]
    )
    drops = [event for piece in pieces for event in piece.drops.values()]
    pressed = [control.event for control in scene.controls if control.fields is None and not control.options]
    chosen = [option.event for control in scene.controls for option in control.options]
    return [event for event in (*clicked, *drops, *pressed, *chosen) if event is not None]


def offered(table: Table, player: str) -> list[Any]:
    """What a player's scene lets them click; nothing, where nobody says what is legal and Parlour draws."""
    kind = type(table.game)
    guessed = kind.scene is Game.scene and table.game.legal_events(table.state, player) is None
    return [] if guessed else clicks(table.scene(player))
