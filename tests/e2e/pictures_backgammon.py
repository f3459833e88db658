"""Pictures of the five games in the middle of play; `tests.e2e.screenshots` takes them with the others."""

from collections.abc import Callable
from typing import Any, Protocol

from playwright.sync_api import expect

from tests.e2e.backgammon import hasten
from tests.e2e.browser import Visitor
from tests.e2e.servers import Server

VARIANTS = ("backgammon", "tavla", "portes", "plakoto", "fevga")


class Camera(Protocol):
    """Somebody who takes pictures."""

    server: Server

    def visitor(self, name: str) -> Visitor: ...
    def take(self, visitor: Visitor, name: str, *, whole: bool = False) -> None: ...


def worth_a_picture(variant: str, token_seat: int) -> Callable[[Any], bool]:
    """In the middle of a game, one's own dice lie there; of plakoto with a checker under another."""

    def is_so(view: Any) -> bool:
        mine = view["phase"] == "move" and view["turn"] == token_seat and len(view["ways"]) > 1
        pinned = any(view["pinned"]) or variant != "plakoto"
        return mine and not view["played"] and pinned and view["turn_number"] > 9

    return is_so


def take_backgammon(camera: Camera) -> None:
    for variant in VARIANTS:
        config = {"variant": variant, "match": "five_points", "turn_seconds": 600}
        room = camera.server.open_room("backgammon", config=config)["id"]
        ann, bob = camera.visitor("Ann").come_in(room), camera.visitor("Bob").come_in(room)
        tokens = [who.token for who in (ann, bob)]
        hasten(camera.server, tokens, room, worth_a_picture(variant, 0))
        expect(ann.board.locator(".piece.movable").first).to_be_visible()
        ann.board.locator(".piece.movable").first.click()
        expect(ann.board.locator(".aim").first).to_be_visible()
        camera.take(ann, variant)
