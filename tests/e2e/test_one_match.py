"""One match, several protocols: SignalR against one player at a browser and at phoenix; both are watched."""

import re
from time import monotonic
from typing import Any, NamedTuple

import msgspec
import pytest
from playwright.sync_api import expect

from parlour.scene import Patch, Scene, apply
from tests.e2e.browser import Visitor
from tests.e2e.clients import Player
from tests.e2e.gammonx import HubPlayer
from tests.e2e.hands import act, button
from tests.e2e.lines import PATIENCE
from tests.e2e.positions import Position, of_page, of_scene, of_state, of_view
from tests.e2e.servers import Guest

pytestmark = pytest.mark.e2e

OF_GAME = ("game-started", "game-state", "double-offered", "double-accepted")
"""Events with the game's state; each step of a game but its last is one of them."""


class Page(NamedTuple):
    """A browser at the match."""

    visitor: Visitor
    eyes: int

    def shows(self, seq: int, position: Position, seat: int) -> None:
        """It has heard of this step, and draws this position."""
        told = next(frame[4] for frame in reversed(self.visitor.frames) if frame[3] == "sync")
        scene = msgspec.convert(told["scene"], Scene)
        until = monotonic() + PATIENCE
        while True:
            shown = of_page(self.visitor, scene.spots, self.eyes, seat)
            if (self.visitor.seq, shown) == (seq, position) or monotonic() > until:
                break
        assert (self.visitor.seq, shown) == (seq, position), f"step {seq} at {self.visitor.name}'s browser"


class Table:
    """The match, and all who sit at it or watch; `agree` compares what they have."""

    def __init__(self, hub: HubPlayer, other: Player, reader: Player, *pages: Page) -> None:
        self.hub = hub
        self.other = other
        """The browser player's phoenix client."""
        self.steps = 0
        """That were compared."""
        self._reader = reader
        """A spectator's phoenix client, which is shown scenes."""
        self.pages = pages
        self._scene = Scene()
        self._read = 0
        """So many of the messages that make it."""
        lobby = hub.hear("match-lobby-found")
        self._players = (lobby["player1"], lobby["player2"])
        self.undone = False
        """A move was taken back."""
        self.seat = self._players.index(hub.id)
        """Of the SignalR client; the other one is the browser's."""

    @property
    def view(self) -> Any:
        """As the browser's player has it."""
        return self.other.view

    @property
    def seq(self) -> int:
        return int(self.other.heard("update", "sync")[-1][1]["seq"])

    def told(self) -> list[tuple[str, Any]]:
        """The states of the game that the SignalR client got, with their events."""
        lines = [line for line in self.hub.lines.all if line.get("heard") in OF_GAME]
        return [(line["heard"], line["payload"]) for line in lines]

    def agree(self, seq: int) -> None:
        """After this step all have the same position."""
        position = of_view(self.other.see(seq), self.seat)
        self._agree_at_signalr(seq, position)
        self.agree_elsewhere(seq, position)

    def _agree_at_signalr(self, seq: int, position: Any) -> None:
        self.steps += 1
        event, state = self.hub.lines.wait(
            lambda _: self.told()[self.steps - 1 : self.steps] or None, f"an event of step {seq}"
        )[0]
        assert len(self.told()) == self.steps, "each step is told once"
        told = of_state(state, self._players, self.seat, offered=event == "double-offered")
        assert told == position, f"SignalR at step {seq}"

    def agree_elsewhere(self, seq: int, position: Any) -> None:
        """The pages and the scene have this position after this step."""
        assert of_scene(self._scene_at(seq), 0, self.seat) == position, f"the scene of step {seq}"
        for page in self.pages:
            page.shows(seq, position, self.seat)

    def _scene_at(self, seq: int) -> Scene:
        """The spectator's scene after a step, made of patches."""
        self._reader.wait_for("update", seq=seq)
        messages = self._reader.heard("sync", "update")
        for name, load in messages[self._read :]:
            if name == "sync":
                self._scene = msgspec.convert(load["scene"], Scene)
            elif "patch" in load:
                self._scene = apply(msgspec.convert(load["patch"], Patch), self._scene)
        self._read = len(messages)
        assert messages[-1][1]["seq"] == seq
        return self._scene


@pytest.fixture
def table(server, come, enter, visit):
    """Ann waits at SignalR; Bob comes by the link of her match, to a browser and to phoenix; others watch."""
    ann = come()
    match = ann.want(variant=0, modus=0, type=2)
    ann.connect()
    assert ann.invoke("JoinMatch", ann.id) is None
    bob, eve = visit(server, "Bob").come_in(match), visit(server, "Eve").come_in(match, "Watch")
    token = bob.token
    again, cid = enter(server, Guest("", "Bob", token)), enter(server, "Cid")
    assert again.join(match).response["seat"] == 1
    assert cid.join(match, spectate=True, format="scene").response["seat"] is None
    return Table(ann, again, cid, Page(bob, 1), Page(eve, 0))


# What the two do.


def by_signalr(table: Table) -> None:
    """One thing that Ann's client may do, by what it was told last: the rearmost checker runs."""
    _, state = table.told()[-1]
    may, (command, *fields) = state["allowedCommands"], ("EndTurn",)
    if "OfferDouble" in may and state["turnNumber"] > 4:
        command = "OfferDouble"
    elif "Roll" in may:
        command = "Roll"
    elif "Move" in may:
        step = min((way["moves"][0] for way in state["moveSequences"]), key=lambda move: move["from"])
        command, fields = "Move", [step["from"], step["to"]]
    assert table.hub.invoke(command, *fields) is None


def by_phoenix(table: Table) -> None:
    """One thing that Bob may do, at his phoenix client."""
    view = table.view
    event: dict[str, Any] = {"type": {"roll": "roll", "double": "accept"}.get(view["phase"], "end_turn")}
    if view["ways"]:
        start, end = max(
            (way.split()[0].split("/") for way in view["ways"]), key=lambda step: number(step[0])
        )
        event = {"type": "move", "from": number(start), "to": number(end)}
    answer = table.other.push("game_event", {"event": event})
    assert answer.status == "ok", answer


def number(place: str) -> int:
    return 25 if place == "bar" else 0 if place == "off" else int(place)


def by_hand(table: Table, bob: Visitor) -> None:
    """One thing that Bob may do, by a click in his browser; the first move of all he takes back once."""
    if table.view["played"] and not table.undone:
        table.undone = True
        button(bob, "Undo").click()
    else:
        act(bob, table.view)


def test_all_protocols_agree_on_every_step_of_a_match(table):
    bob, eve = (page.visitor for page in table.pages)
    seq, clicks = table.seq + 2, 0  # both get ready
    button(bob, "Ready").click()
    assert table.hub.invoke("StartGame") is None
    while table.other.see(seq)["phase"] != "over":
        table.agree(seq)
        if table.view["awaited"] == [table.seat]:
            by_signalr(table)
        elif table.view["turn_number"] % 4 < 2:
            by_hand(table, bob)
            clicks += 1
        else:
            by_phoenix(table)
        seq += 1
    agree_on_the_end(table, seq)
    doubled = table.view["match"]["games"][0]["points"]
    assert (table.undone, doubled % 2) == (True, 0), "a move was taken back, the cube turned"
    assert clicks > table.steps / 8, "a fair part of it was clicked"


def agree_on_the_end(table: Table, seq: int) -> None:
    """At SignalR the last move is told by its outcome, and then the connection is closed."""
    end = table.hub.hear("match-ended")
    table.hub.hear("force-disconnect")
    x, o = score = tuple(table.view["match"]["score"])
    assert (end["player1"]["score"], end["player2"]["score"]) == score
    assert end["winner"] == end["player1" if x > o else "player2"]["id"]
    table.hub.hear_line("closed")
    seq += 2  # its player is not connected any more, and Bob's page adds bytes for the luck of another match
    table.agree_elsewhere(seq, of_view(table.other.see(seq), table.seat))
    bob, eve = (page.visitor for page in table.pages)
    won = (o > x) == (table.seat == 0)
    verdict = f"{max(score)} \N{EN DASH} {min(score)} "
    expect(bob.status).to_have_text(re.compile(f"^{'You win' if won else '(?!Bob).+ wins'}: {verdict}"))
    expect(eve.status).to_have_text(re.compile(f"^{'Bob' if won else '(?!Bob).+'} wins: {verdict}"))
