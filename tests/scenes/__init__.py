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
