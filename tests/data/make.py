"""Makes a data folder with rooms in every state, by the wire alone, and writes down what its server says.

`scripts/data-folder PYTHON FOLDER` runs the Parlour of that interpreter. The folder then has `parlour.db` and
`signing.key` as that Parlour left them when it was killed, and `seen.json`: what everybody was told before.
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from tests.e2e.clients import Raw
from tests.e2e.conftest import end
from tests.e2e.relays import Member
from tests.e2e.servers import Guest, Server

NIM = Path(__file__).with_name("nim.py")
PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay")
VARIANTS = ("backgammon", "tavla", "portes", "plakoto", "fevga", "tavli")
LADDERS = ("tictactoe", "stratego", *(f"backgammon&variant={variant}" for variant in VARIANTS))
GAMMONX_PLAYER = "11111111-2222-4333-8444-555555555555"
VIEW_EVERY = 16
"""Of the views in a history so many are written down, and the last."""


class Person:
    """Somebody at a bare socket, in as many rooms as they like."""

    def __init__(self, server: Server, guest: Guest) -> None:
        self.server, self.guest = server, guest
        self.line = Raw(server, guest.token)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.guest.token}"}

    def push(self, room: str, event: str, payload: Any) -> Any:
        answer = self.line.ask(f"game:{room}", event, payload)
        assert answer.status == "ok", (room, event, payload, answer)
        return answer.response

    def join(self, *rooms: str, **payload: Any) -> None:
        for room in rooms:
            self.push(room, "phx_join", payload)

    def play(self, room: str, type: str, id: str | None = None, **fields: Any) -> None:
        event = {"event": {"type": type, **fields}}
        self.push(room, "game_event", event if id is None else {**event, "id": id})

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.server.call(method, path, body, headers=self.headers)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    def take_bot(self, room: str, bot: str) -> None:
        self.call("POST", f"/api/rooms/{room}/bots", {"bot": bot})

    def play_on(self, room: str, moves: int) -> None:
        """Do what a bot would do, so many times; the other seat has a bot."""
        while moves:
            answer = self.server.call("POST", f"/api/rooms/{room}/hint", {}, headers=self.headers)
            event = answer.json()["event"] if answer.is_success else None
            if event is None:  # the other one thinks
                self.line.hear("update")
                continue
            self.push(room, "game_event", {"event": event})
            moves -= 1


class Evening:
    """A server, the people at it, and what they do."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.guests: dict[str, Guest] = {}
        self.people: dict[str, Person] = {}
        self.rooms: list[str] = []
        self.relays: dict[str, list[Any]] = {}

    def come(self) -> None:
        """Everybody opens a socket."""
        for name in PEOPLE:
            if name not in self.guests:
                self.guests[name] = self.server.guest(name)
            self.people[name] = Person(self.server, self.guests[name])

    def go(self, *names: str) -> None:
        for name in names:
            self.people.pop(name).line.close()

    def open(self, id: str, game: str, *seated: str, by: str = "Ann", **more: Any) -> list[Person]:
        """A room, and these people at its seats."""
        self.people[by].call("POST", "/api/rooms", {"game": game, "id": id, **more})
        if id not in self.rooms:
            self.rooms.append(id)
        people = [self.people[name] for name in seated]
        for person in people:
            person.join(id)
        return people

    # What is played before the server is stopped and started again.

    def play_noughts(self) -> None:
        """Waiting, in play, over, over with a rematch asked for, in a second game."""
        self.open("EMPTY", "tictactoe")
        self.open("ALONE", "tictactoe", "Ann")
        ann, bob = self.open("PLAYED", "tictactoe", "Ann", "Bob")
        self.people["Cleo"].join("PLAYED", spectate=True)
        ann.play("PLAYED", "mark", id="once", cell=4)
        self.people["Cleo"].push("PLAYED", "chat", {"text": "the centre, of course"})
        bob.play("PLAYED", "mark", cell=0)
        for room in ("OVER", "ASKED", "AGAIN"):
            self.open(room, "tictactoe", "Ann", "Bob")
            for person, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
                person.play(room, "mark", cell=cell)
        ann.push("ASKED", "rematch", {})
        for person in (ann, bob):
            person.push("AGAIN", "rematch", {})
        bob.play("AGAIN", "mark", cell=8)
        (dan,) = self.open("BOT", "tictactoe", "Dan", by="Dan", private=True)
        dan.take_bot("BOT", "random")
        dan.play_on("BOT", 1)

    def sweep_mines(self) -> None:
        (cleo,) = self.open("MINES", "minesweeper", "Cleo", config={"preset": "beginner"})
        cleo.play("MINES", "flag", x=1, y=1)
        cleo.play("MINES", "open", x=5, y=5)
        cleo.play_on("MINES", 3)

    def fight(self) -> None:
        self.open("ARRANGING", "stratego", "Ann", "Bob")
        self.people["Ann"].play("ARRANGING", "form", formation="wall")
        self.people["Ann"].play("ARRANGING", "ready")
        (dan,) = self.open("BATTLE", "stratego", "Dan", by="Dan")
        dan.take_bot("BATTLE", "sensible")
        dan.play_on("BATTLE", 12)
        ann, bob = self.open("RESIGNED", "stratego", "Ann", "Bob")
        for person in (ann, bob):
            person.play("RESIGNED", "ready")
        bob.play("RESIGNED", "resign")

    def roll(self) -> None:
        for variant in VARIANTS:
            room = variant.upper()
            (eve,) = self.open(room, "backgammon", "Eve", by="Eve", config={"variant": variant})
            eve.take_bot(room, "easy")
            eve.play_on(room, 14)
        clocks = {"match": "five_points", "crawford": True, "opening_dice": True, "turn_seconds": 3600}
        self.open("MATCH", "backgammon", "Ann", "Bob", config={**clocks, "absence_seconds": 3600})
        for name in ("Ann", "Bob"):
            self.people[name].play("MATCH", "ready")
        self.people["Ann"].play("MATCH", "resign_game")

        self.open("CUBE", "backgammon", "Ann", "Bob")
        for name in ("Ann", "Bob"):
            self.people[name].play("CUBE", "ready")
        view = self.asked("GET", "/api/rooms/CUBE/history")["steps"][-1]["view"]
        self.people[("Ann", "Bob")[view["turn"]]].play("CUBE", "double")

    def play_ranked(self) -> None:
        """Ratings: tickets are taken, somebody wins, and in noughts and crosses the same again."""
        for pair in (("Ann", "Bob"), ("Cleo", "Dan")):
            for game, config in (("tictactoe", {}), ("backgammon", {"variant": "tavla"})):
                wish = {"game": game, "config": config, "mode": "ranked"}
                sheets = [self.people[name].call("POST", "/api/tickets", wish) for name in pair]
                room = sheets[-1]["room"]
                self.rooms.append(room)
                people = [self.people[name] for name in pair]
                for person in people:
                    person.join(room)
                if game == "backgammon":
                    people[1].play(room, "resign_match")
                    continue
                self.win_in_five(room, people)
                for person in people:
                    person.push(room, "rematch", {})
                self.win_in_five(room, people)

    def win_in_five(self, room: str, people: list[Person]) -> None:
        seats = [seat["id"] for seat in self.server.room(room)["seats"]]
        order = sorted(people, key=lambda person: seats.index(person.guest.id))
        for number, cell in enumerate((0, 3, 1, 4, 2)):
            order[number % 2].play(room, "mark", cell=cell)

    def end_rooms(self) -> None:
        """A room that is gone, and a new one under its name."""
        fay = self.people["Fay"]
        for room in ("friday.night", "GONE"):
            fay.call("PUT", f"/api/rooms/{room}", {"game": "minesweeper"})
            self.rooms.append(room)
            fay.join(room)
            fay.play(room, "open", x=1, y=1)
            fay.push(room, "leave", {})
        for _ in range(2):
            while fay.line.hear("shutdown")[4]["reason"] != "game_ended":
                pass
        fay.call("PUT", "/api/rooms/friday.night", {"game": "tictactoe", "private": True})
        fay.join("friday.night")

    def play_nim(self) -> None:
        """A game that will be missing."""
        ann, bob = self.open("STICKS", "nim", "Ann", "Bob")
        ann.play("STICKS", "take", count=2)
        bob.push("STICKS", "chat", {"text": "five left"})

    # What is played in the second life of the server, and not stored but as steps.

    def go_on(self) -> None:
        self.people["Ann"].join("PLAYED", "MATCH", "ARRANGING")
        self.people["Bob"].join("PLAYED", "MATCH")
        self.people["Cleo"].join("MINES")
        self.people["Dan"].join("BATTLE")
        self.people["Eve"].join("BACKGAMMON", "FEVGA", "TAVLI")
        self.people["Ann"].play("PLAYED", "mark", cell=2)
        self.people["Bob"].push("PLAYED", "chat", {"text": "I see what you are up to"})
        self.people["Dan"].play_on("BATTLE", 3)
        for room in ("BACKGAMMON", "FEVGA", "TAVLI"):
            self.people["Eve"].play_on(room, 3)

    def wait_for_company(self) -> None:
        """Tickets that nobody has answered, and one that waits in a room of the GammonX door."""
        eve, fay = self.people["Eve"], self.people["Fay"]
        eve.call("POST", "/api/tickets", {"game": "stratego", "mode": "ranked"})
        fay.call("POST", "/api/tickets", {"game": "backgammon", "config": {"variant": "plakoto"}})
        wish = {"PlayerId": GAMMONX_PLAYER, "MatchVariant": 2, "MatchModus": 0, "MatchType": 0}
        answer = self.server.call("POST", "/api/matches/join", wish)
        self.rooms.append(answer.json()["payload"]["matchId"])

    def pass_letters(self) -> None:
        """Relays that remember."""
        for path, count in (("/g/red/table", 3), ("/g/blue", 40)):
            with ExitStack() as stack:
                ann = stack.enter_context(closing(Member(self.server, f"{path}?id=ann")))
                ann.hear("Welcome")
                bob = stack.enter_context(closing(Member(self.server, f"{path}?id=bob")))
                heard = [ann.hear("Joiner")]
                for number in range(count):
                    (bob, ann)[number % 2].say(json.dumps({"move": number}))
                    heard.append(ann.hear("Peer"))
                self.relays[path] = heard
                del bob

    # What everybody is told at the end.

    def seen(self) -> dict[str, Any]:
        """All that the server says of what there is."""
        anyone = self.server
        return {
            "version": anyone.call("GET", "/health").json()["version"],
            "players": {name: guest._asdict() for name, guest in self.guests.items()},
            "rooms": {room: anyone.room(room) for room in self.rooms},
            "listed": [room["id"] for room in anyone.call("GET", "/api/rooms").json()],
            "histories": [
                self.history(room, name)
                for room in self.rooms
                if room != "STICKS"  # its game is not here any more
                for name in (None, *self.seated(room)[:1])
            ],
            "profiles": {name: self.asked("GET", f"/api/players/{g.id}") for name, g in self.guests.items()},
            "rooms_of": {
                name: sorted(room["id"] for room in self.asked("GET", "/api/players/me/rooms", name))
                for name in self.guests
            },
            "tickets": {name: self.asked("GET", "/api/tickets", name) for name in self.guests},
            "ladders": {ladder: self.asked("GET", f"/api/leaderboard?game={ladder}") for ladder in LADDERS},
            "relays": self.relays,
        }  # fmt: skip

    def asked(self, method: str, path: str, name: str | None = None) -> Any:
        headers = {} if name is None else {"Authorization": f"Bearer {self.guests[name].token}"}
        answer = self.server.call(method, path, headers=headers)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    def seated(self, room: str) -> list[str]:
        ids = [seat["id"] for seat in self.server.room(room)["seats"] if seat is not None]
        return [name for name, guest in self.guests.items() if guest.id in ids]

    def history(self, room: str, name: str | None) -> dict[str, Any]:
        """A room's history as somebody may see it; of the views only some."""
        sheet = self.asked("GET", f"/api/rooms/{room}/history", name)
        for step in sheet["steps"][:-1]:
            if step["seq"] % VIEW_EVERY:
                step.pop("view", None)
        return {"viewer": name, **sheet}


def make(python: str, folder: Path) -> None:
    """Play, write down, kill, and take the files."""
    quick = {"PARLOUR_BOT_PACE": "0", "PARLOUR_RELAY_HISTORY": "1"}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        data = Path(scratch, "data")
        server = Server(data, str(NIM), environment=quick, python=python).start()
        stack.callback(lambda: end(server))
        evening = Evening(server)
        evening.come()
        evening.end_rooms()
        evening.play_noughts()
        evening.sweep_mines()
        evening.fight()
        evening.roll()
        evening.play_ranked()
        evening.play_nim()
        evening.pass_letters()
        evening.go(*PEOPLE)
        server.stop()
        server = evening.server = Server(data, environment=quick, python=python).start()
        evening.come()
        evening.go_on()
        evening.wait_for_company()
        seen = evening.seen()
        server.kill()  # some are connected; the next Parlour finds them gone
        take(data, folder, seen)


def take(data: Path, folder: Path, seen: dict[str, Any]) -> None:
    """The files of a data folder, the pages of the write-ahead log back in the journal."""
    with closing(sqlite3.connect(data / "parlour.db")) as journal:
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (seen["format"],) = journal.execute("PRAGMA user_version").fetchone()
        (seen["clock"],) = journal.execute("SELECT now FROM clock").fetchone()
        (seen["made"],) = journal.execute("SELECT max(json_extract(card, '$.created')) FROM rooms").fetchone()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("parlour.db", "signing.key"):
        shutil.copyfile(data / name, folder / name)
    lines = (f"{json.dumps(key)}: {told(value)}" for key, value in seen.items())
    (folder / "seen.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def told(value: Any) -> str:
    """JSON with a line for each of many, so that a difference can be read."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    if isinstance(value, dict) and value:
        return (
            "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items()) + "\n}"
        )
    return json.dumps(value)


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]))
