"""What can be clicked in a scene."""

from typing import Any

from parlour.game import Game
from parlour.scene import Scene
from parlour.testing.table import Table


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
