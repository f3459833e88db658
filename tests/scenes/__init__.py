"""Scenes of every kind of board, as JSON that the browser's tests read, too."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from parlour.scene import Scene, difference

FOLDER = Path(__file__).parent

Moments = list[tuple[str, Scene]]
"""What happens on a board, moment by moment: a sentence, and the scene."""


def story(moments: Moments) -> str:
    """The moments as they are kept: the first and the last scene whole, and the patches between them."""
    told: list[dict[str, Any]] = []
    for number, (title, scene) in enumerate(moments):
        moment: dict[str, Any] = {"title": title}
        if number:
            moment["patch"] = difference(moments[number - 1][1], scene)
        if number in (0, len(moments) - 1):
            moment["scene"] = scene
        told.append(moment)
    text = msgspec.json.encode(told).decode()
    return text.replace('{"title":', '\n{"title":').replace('{"id":', '\n  {"id":') + "\n"


def same(one: Scene, two: Scene) -> bool:
    """Two scenes are alike to a browser; the order of pieces means nothing."""

    def received(scene: Scene) -> Scene:
        scene = msgspec.json.decode(msgspec.json.encode(scene), type=Scene)
        return replace(scene, pieces=tuple(sorted(scene.pieces, key=lambda piece: piece.id)))

    return received(one) == received(two)


def check_drawable(scene: Scene) -> None:
    """Things have ids of their own, stand on spots that are there and on the board, and can be told."""
    things: tuple[Any, ...] = (*scene.spots, *scene.pieces, *scene.controls)
    assert len({thing.id for thing in things}) == len(things)
    spots = {spot.id for spot in scene.spots}
    for spot in scene.spots:
        assert 0 <= spot.x <= spot.x + spot.w <= scene.width + 1e-9
        assert 0 <= spot.y <= spot.y + spot.h <= scene.height + 1e-9
        assert spot.label or not (spot.click or spot.second), "a screen reader needs a word"
    for piece in scene.pieces:
        assert {piece.spot, *piece.drops} | ({piece.via} - {None}) <= spots
        assert piece.label or not (piece.click or piece.drops), "a screen reader needs a word"
    assert len({(piece.spot, piece.at) for piece in scene.pieces}) == len(scene.pieces)
    assert all(control.text for control in scene.controls)
    for line in scene.lines:
        assert 0 <= min(line.x, line.to_x) <= max(line.x, line.to_x) <= scene.width
        assert 0 <= min(line.y, line.to_y) <= max(line.y, line.to_y) <= scene.height


def offers(scene: Scene) -> list[Any]:
    """Every event that the scene can send, but for those that a form makes."""
    things: tuple[Any, ...] = (*scene.spots, *scene.pieces)
    clicks = [thing.click for thing in things] + [spot.second for spot in scene.spots]
    drops = [event for piece in scene.pieces for event in piece.drops.values()]
    pressed = [control.event for control in scene.controls if control.fields is None and not control.options]
    chosen = [option.event for control in scene.controls for option in control.options]
    return [event for event in (*clicks, *drops, *pressed, *chosen) if event is not None]
