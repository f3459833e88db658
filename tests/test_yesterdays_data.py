"""Data folders that earlier Parlours wrote are opened by this one, and everything in them goes on.

`scripts/data-folder` makes one: `tests/data/format-<n>` has the files of that Parlour and, in `seen.json`,
what it told everybody before it was killed. Of the same step more may be told today, but nothing else.
"""

import json
import re
import shutil
import sqlite3
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from parlour.games import GAMES
from parlour.journal import JOURNALS
from parlour.journal.base import Journal, TooNew
from parlour.journal.sqlite.file import FORMAT
from parlour.server.api.endpoints import Api, web_app
from parlour.server.game_loader import load_games
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.relaying import Exchange
from tests.server.world import HandClock, Person, World

FOLDERS = sorted((Path(__file__).parent / "data").glob("format-*"))
NIM = Path(__file__).parent / "data" / "nim.py"


class Then(HandClock):
    """The clock of the day on which a folder was made."""

    def __init__(self, made: float) -> None:
        super().__init__()
        self._made = made

    def start(self, at: float) -> None:
        self._began = at
        super().start(at)

    def date(self) -> float:
        return self._made + 60 + self.time - self._began


class Folder:
    """A copy of a data folder, and what was seen of it when it was made."""

    def __init__(self, kept: Path, copy: Path) -> None:
        shutil.copytree(kept, copy)
        self.path = copy
        self.seen: dict[str, Any] = json.loads((kept / "seen.json").read_text())

    @asynccontextmanager
    async def opened(self, *more_games):
        """A world of today on the folder, and its HTTP calls."""
        games = {**GAMES, **{game.name: game for game in more_games}}
        limits: dict[str, Any] = dict.fromkeys(("rate", "player_rate", "address_rate", "player_rooms"), 0)
        async with World(games, self.journal(), Then(self.seen["made"]), **limits) as world:
            tokens = await self.tokens(world)
            api = Api(world.server, tokens, Limits(world.settings, world.clock), world.settings)
            transport = httpx.ASGITransport(web_app(api, None))
            async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
                yield world, Calls(http, self.seen["players"])

    def journal(self) -> Journal:
        return JOURNALS["sqlite"](self.path, "process")

    async def tokens(self, world: World) -> Tokens:
        return Tokens.in_folder(self.path, date=world.clock.date)

    def rooms(self, *statuses):
        """The ids of the rooms that were found so."""
        return [id for id, room in self.seen["rooms"].items() if room["status"] in statuses]


class Calls:
    """HTTP calls by the people of the folder, with the tokens that they have since then."""

    def __init__(self, http: httpx.AsyncClient, players: dict[str, Any]) -> None:
        self._http = http
        self._players = players

    async def get(self, path: str, name: str | None = None) -> Any:
        headers = {} if name is None else {"Authorization": f"Bearer {self._players[name]['token']}"}
        answer = await self._http.get(path, headers=headers)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request, tmp_path):
    return Folder(request.param, tmp_path / "data")


def differences(then, now, where="$"):
    """What is not as it was; what is new in an object is none."""
    match then, now:
        case dict(), dict():
            return [line for key in then for line in differences(then[key], now.get(key), f"{where}.{key}")]
        case list(), list() if len(then) <= len(now):
            pairs = enumerate(zip(then, now, strict=False))
            return [line for at, (a, b) in pairs for line in differences(a, b, f"{where}[{at}]")]
        case _:
            return [] if then == now else [f"{where}: was {then}, is {now}"]


CHANGED = [
    (
        "stratego",
        re.compile(r"\$\.steps\[\d+\]\.view\.board\[\d+\]: was [^?]*[rb]\?"),
    ),  # open when it is over
    ("backgammon", re.compile(r"\$\.steps\[\d+\]\.view\.(clock|absence): was")),  # the room has clocks
]
"""What is told differently on purpose since then, by game."""


def meant(history, difference):
    return any(game == history["game"] and what.match(difference) for game, what in CHANGED)


def without(found, *names):
    return {name: value for name, value in found.items() if name not in names}


def named(profile, name):
    """A player's profile under another name."""
    return profile | {"name": name, "standings": [one | {"name": name} for one in profile["standings"]]}


def test_there_is_a_folder_of_every_format_since_the_third():
    assert {f"format-{number}" for number in range(3, FORMAT)} <= {folder.name for folder in FOLDERS}
    assert FOLDERS


async def test_every_room_is_as_it_was(folder):
    async with folder.opened() as (_, calls):
        for id, then in folder.seen["rooms"].items():
            now = await calls.get(f"/api/rooms/{id}")
            assert not differences(without(then, "seq", "spectators"), now), id
            assert now["seq"] >= then["seq"]
        assert await calls.get("/api/rooms") == [], "nobody is there yet"


async def test_every_history_reads_as_it_was_told(folder):
    async with folder.opened() as (_, calls):
        for then in folder.seen["histories"]:
            path = f"/api/rooms/{then['id']}/history?room={then['room']}"
            now = await calls.get(path, then["viewer"])
            told = differences(without(then, "viewer", "seq"), now)
            assert not [line for line in told if not meant(then, line)], (then["id"], then["viewer"])


async def test_ratings_results_and_tickets_are_as_they_were(folder):
    async with folder.opened() as (_, calls):
        for name, then in folder.seen["profiles"].items():
            assert not differences(then, await calls.get(f"/api/players/{then['id']}")), name
        for ladder, then in folder.seen["ladders"].items():
            assert not differences(then, await calls.get(f"/api/leaderboard?game={ladder}")), ladder
        for name, then in folder.seen["tickets"].items():
            now = await calls.get("/api/tickets", name)
            assert not differences([without(ticket, "waited") for ticket in then], now), name


async def test_the_tokens_of_that_day_are_still_valid(folder):
    async with folder.opened() as (_, calls):
        for name, then in folder.seen["rooms_of"].items():
            assert sorted(room["id"] for room in await calls.get("/api/players/me/rooms", name)) == then


async def test_a_guest_of_that_day_becomes_an_account_and_keeps_rating_and_games(folder):
    async with folder.opened() as (world, calls):
        for name, then in folder.seen["profiles"].items():
            (_, device), code = await world.server.accounts.open(then["id"], f"{name} of old", "a phone")
            again = await world.server.accounts.sign_in_by_code(code, "a laptop", "203.0.113.9")
            assert (again.player.id, again.device) == (then["id"], device + 1)
            await world.quiet()
            now = await calls.get(f"/api/players/{then['id']}")
            assert not differences(named(then, f"{name} of old"), now), name
            assert now["guest"] is False


async def test_players_come_back_to_every_open_room_and_play_on(folder):
    nim = load_games(NIM)
    async with folder.opened(*nim) as (world, _):
        ids = folder.rooms("waiting", "playing", "over", "game_missing")
        for id in ids:
            people = await come_back(world, folder, id)
            seq = world.room(id).seq
            await go_on(world, id, people)
            assert world.room(id).seq > seq, id
            status, _ = await people[0].push(id, "chat", {"text": "here again"})
            assert status == "ok", id
        assert len(ids) > 20


async def come_back(world: World, folder: Folder, id: str) -> list[Person]:
    """Everybody who sits in the room, and a newcomer where nobody does."""
    there = [seat["id"] for seat in folder.seen["rooms"][id]["seats"] if seat and not seat.get("bot")]
    people = []
    for player in there or ["zoe"]:
        person = await world.person(player)
        status, response = await person.join(id)
        assert status == "ok", (id, response)
        assert person.heard("sync"), id
        people.append(person)
    return people


async def go_on(world: World, id: str, people: list[Person]) -> None:
    """Take part: a rematch after the end, company while one waits, otherwise any legal event."""
    room = world.room(id)
    if room.outcome is not None:
        outcomes = [await person.push(id, "rematch", {}) for person in people]
        assert [status for status, _ in outcomes] == ["ok"] * len(people), (id, outcomes)
    elif room.status == "waiting":
        yan = await world.person("yan")
        status, response = await yan.join(id)
        if status != "ok":  # who opened it has a while to come
            assert response["code"] == "seat_kept", id
            await world.wait(32)
            status, _ = await yan.join(id)
        assert status == "ok", id
    else:
        events = [(person, await legal(world, id, person)) for person in people]
        person, event = next((person, event) for person, event in events if event is not None)
        status, response = await person.play(id, event)
        assert status == "ok", (id, event, response)


async def legal(world: World, id: str, person: Person) -> Any:
    room = world.room(id)
    if room.game == "nim":
        return {"type": "take", "count": 1} if person.player == room.state.player(room.state.turn) else None
    return next(iter(world.games[room.game].legal_events(room.state, person.player) or ()), None)


async def test_a_move_that_was_answered_then_is_not_made_again(folder):
    ann = folder.seen["players"]["Ann"]["id"]
    async with folder.opened() as (world, _):
        person = await world.person(ann)
        assert (await person.join("PLAYED"))[0] == "ok"
        seq = world.room("PLAYED").seq
        move = {"event": {"type": "mark", "cell": 4}, "id": "once"}
        # The very bytes of that day: `Person.play` would leave the blanks out.
        await person.send(json.dumps([None, "again", "game:PLAYED", "game_event", move]))
        reply = next(frame[4] for frame in person.frames if frame[1] == "again")
        assert (reply["status"], world.room("PLAYED").seq) == ("ok", seq), reply
        assert reply["response"]["seq"] < seq


async def test_a_room_whose_game_is_missing_waits_on_until_it_is_back(folder):
    ann = folder.seen["players"]["Ann"]["id"]
    async with folder.opened() as (world, calls):
        assert (await calls.get("/api/rooms/STICKS"))["status"] == "game_missing"
        status, response = await (await world.person(ann)).join("STICKS")
        assert (status, response["code"]) == ("error", "unknown_game")
    async with folder.opened(*load_games(NIM)) as (world, calls):
        assert (await calls.get("/api/rooms/STICKS"))["status"] == "playing"


async def test_what_passed_through_relays_is_told_to_those_who_return(folder):
    journal = folder.journal()
    await journal.open()
    exchange = Exchange(journal, relay_history=True)
    for path, (first, *then) in folder.seen["relays"].items():
        wire = await exchange.connect(path, f"{path}?id=ann&lastnum={first['Num']}")
        now = [json.loads(message) for message in wire.got]
        assert not differences(then, now), path
    await journal.close()


async def test_a_folder_that_was_opened_is_opened_again(folder):
    async with folder.opened():
        pass
    await test_every_room_is_as_it_was(folder)


async def test_a_folder_of_the_future_is_refused_with_a_sentence_and_left_as_it_is(folder):
    with closing(sqlite3.connect(folder.path / "parlour.db")) as journal:
        journal.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = (folder.path / "parlour.db").read_bytes()
    with pytest.raises(TooNew) as refusal:
        await JOURNALS["sqlite"](folder.path, "process").open()
    file = folder.path / "parlour.db"
    assert str(refusal.value) == (
        f"{file} has format {FORMAT + 1}, and this Parlour reads formats up to {FORMAT}: "
        "start the newer Parlour that wrote it, or choose another data folder"
    )
    assert file.read_bytes() == before
