"""What a GammonX client may do: told in every payload, and when something is refused with the reason."""

import random
import re
from typing import Any

import msgspec
import pytest

from parlour.doors.gammonx.board import board_of, field_of, move_sequences
from parlour.doors.gammonx.hub import COMMANDS
from parlour.doors.gammonx.reasons import why_no_move
from parlour.errors import Refused
from parlour.games.backgammon.play import Move
from parlour.games.backgammon.variants import BAR
from parlour.room import apply
from parlour.wire import Act
from tests.doors.hall import Hall, Visitor
from tests.doors.plain import plain_view
from tests.doors.test_gammonx_sequences import VARIANTS, legal_to, positions

PLAYS = {command.name: command for command in COMMANDS.values() if command.shows is None}
del PLAYS["JoinMatch"]


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


# What is told.


def accepted(hall: Hall, who: Visitor) -> set[str]:
    """What the match would take from this player now, tried out on the room itself."""
    live = hall.world.server.rooms.peek(who.match or "")
    if live is None:
        return set()
    player, room, now = hall.player(who.who), live.here, hall.world.server.environment.instant()
    taken = set()
    for command in PLAYS.values():
        moves = [Move(*step) for step in room.state.routes] or [Move(24, 23)]
        for event in moves[:1] if command.event is None else [command.event]:
            try:
                apply(live.game, room, Act(player, msgspec.Raw(msgspec.json.encode(event))), now)
            except Refused:
                continue
            taken.add(command.name)
    return taken


def check(hall: Hall, players: list[Visitor]) -> int:
    """Whatever these players were told since the last time says what they may do now; how much that was."""
    told = 0
    for who in players:
        may = accepted(hall, who)
        for record in who.records:
            if isinstance(record, dict) and record.get("type") == 1:
                (argument,) = record["arguments"]
                name, payload = argument["type"], argument["payload"]
                assert set(payload["allowedCommands"]) == may, f"{who.who} was told so by {name}"
                told += 1
        who.records.clear()
    return told


@pytest.mark.parametrize(("variant", "type"), [(0, 0), (1, 2), (2, 2)], ids=["backgammon", "tavla", "tavli"])
async def test_the_allowed_commands_of_every_payload_are_those_that_are_accepted(hall, variant, type):
    rng, told, players = random.Random(variant), 0, list(await hall.two(variant, type))
    for who in players:
        who.records.clear()
    for _ in range(300):
        await act(hall, players, rng)
        told += check(hall, players)
        if hall.world.room(players[0].match or "").state.phase == "over":
            players = list(await hall.two(variant, type))
            for who in players:
                who.records.clear()
    assert told > 300


async def act(hall: Hall, players: list[Visitor], rng: random.Random) -> None:
    """Something that a player may do, something that they may not, a question, or a line that breaks."""
    number = rng.randrange(len(players))
    who, name = players[number], rng.choice(["GameState", "MatchState", "StartMatch", *PLAYS])
    chance = rng.random()
    if chance < 0.03:
        await who.drop()
        players[number] = await hall.come(who.who, who.match)
    elif chance < 0.2:
        await play(who, name, rng) if not name.startswith("Resign") else await who.do("JoinMatch", who.id)
    else:
        seldom = {"ResignGame", "ResignMatch", "UndoMove", "OfferDouble"}
        if may := accepted(hall, who) - (seldom if chance > 0.25 else {"ResignMatch"}):
            await play(who, rng.choice(sorted(may)), rng)


async def play(who: Visitor, name: str, rng: random.Random) -> None:
    if name != "Move":
        await who.do(name)
        return
    view = who.hall.world.room(who.match or "").state
    routes = [(field_of(start), field_of(end)) for start, end in view.routes] or [(0, 1)]
    await who.do("Move", *rng.choice(routes))


async def test_before_the_second_has_joined_nothing_is_allowed_and_nothing_accepted(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert ann.last("match-lobby-waiting")["allowedCommands"] == []
    for name in PLAYS:
        _, message = await ann.refused(name, *((0, 1) if name == "Move" else ()))
        assert message == "your opponent has not joined yet"


# What is refused.


async def test_a_refusal_gives_the_reason_in_the_clients_own_words(hall):
    one, other = await hall.two()
    assert (await one.refused("Roll"))[1] == "no game is being played: call StartGame first"
    assert (await one.refused("ResignGame"))[1] == "no game is being played: call StartGame first"
    await one.do("StartGame")
    assert (await one.refused("StartGame"))[1].startswith("you have called StartGame, and your opponent")
    assert (await one.refused("Roll"))[1] == "no game is being played: your opponent has not called it yet"
    await other.do("StartGame")
    first, second = (one, other) if one.last("game-started")["activeTurn"] == one.id else (other, one)
    assert (await first.refused("StartGame"))[1] == "a game is being played already"
    assert (await second.refused("Roll"))[1] == "it is your opponent's turn"
    assert (await first.refused("Move", 0, 1))[1] == "call Roll first"
    assert (await first.refused("AcceptDouble"))[1] == "no double is offered"
    await first.do("OfferDouble")
    assert (await first.refused("Roll"))[1] == "it is your opponent's turn to answer the double"
    assert (await second.refused("Roll"))[1] == "answer the double first: call AcceptDouble or DeclineDouble"
    await second.do("AcceptDouble")
    assert (await first.refused("OfferDouble"))[1] == "the cube is your opponent's"
    await first.do("Roll")
    assert (await first.refused("Roll"))[1] == "you have rolled already"
    assert (await first.refused("UndoMove"))[1] == "there is no move of this turn to undo"
    assert (await first.refused("EndTurn"))[1].endswith(" can still be played: call Move first")
    assert (await first.refused("Move", 1, 3))[1] == "from: you have no checker on field 1"
    assert (await first.refused("Move", 11, 3))[1] == "to: expected a field after 11, got 3"
    assert (await first.refused("Move", 0, 5))[1] in (
        "to: field 5 is held by your opponent",
        *(f"to: 5 fields are more or fewer than the dice allow, {dice}" for dice in ROLLS),
    )


ROLLS = [
    ", ".join(map(str, dice))
    for a in range(1, 7)
    for b in range(1, 7)
    for dice in [(a,) * 4 if a == b else (max(a, b), min(a, b))]
]


async def test_nobody_is_told_that_there_is_a_room_or_a_seat_of_ours(hall):
    one, _ = await hall.playing()
    eve = await hall.come("eve", one.match)
    assert (await eve.refused("JoinMatch", eve.id))[1] == f"both seats of match {one.match} are taken"
    waits = await hall.want("ann", 1)
    assert await hall.want("bob", 1) == waits
    eve = await hall.come("eve", waits)
    assert (await eve.refused("JoinMatch", eve.id))[
        1
    ] == f"the free seat of match {waits} is kept for another player"
    assert (await eve.refused("Roll"))[1] == f"expected JoinMatch of match {waits} first"


def test_who_is_on_the_bar_is_told_to_enter_first():
    told = set()
    for match in positions("backgammon", 1):
        if match.board.counts[match.turn][BAR]:
            view = plain_view(match, match.player(match.turn))
            told |= {why_no_move(view, place, place - match.left[0]) for place in range(7, BAR)}
    assert told == {"enter from the bar first: from -1"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_move_that_needs_another_first_is_refused_with_the_one_that_must_come_first(variant):
    """The document's own search offers such moves."""
    found = 0
    for seed in range(6):
        for match in positions(variant, seed):
            view = plain_view(match, match.player(match.turn))
            sequences = move_sequences(view, match.turn)
            for place in range(1, BAR + 1):
                for to in legal_to(field_of(place), sequences):
                    end = 0 if to == -100 else 24 - to
                    if (place, end) not in match.routes:
                        found += 1
                        why = why_no_move(view, place, end)
                        first = re.fullmatch(r"another move must come first: from (-?\d+) to (-?\d+)", why)
                        assert first or why == "enter from the bar first: from -1"
                        if first is not None:
                            begins = tuple(24 - int(f) if f != "-100" else 0 for f in first.groups())
                            assert begins in match.routes
    assert found > 0 or variant in ("plakoto", "fevga")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_refused_move_has_a_reason(variant):
    chance = random.Random(1)
    for match in positions(variant, 7):
        view: Any = plain_view(match, match.player(match.turn))
        assert board_of(view) == match.board
        for _ in range(5):
            start, end = chance.randint(1, BAR), chance.randint(0, 24)
            if (start, end) not in match.routes:
                assert len(why_no_move(view, start, end)) > 10


# Too fast.


async def test_a_rate_limit_has_a_code_of_its_own():
    async with Hall(rate=2) as hall:
        one, _ = await hall.playing()
        for _ in range(20):
            await one.do("MatchState")
        assert one.last("error")["code"] == "RATE_LIMIT_ERROR"
    async with Hall(address_rate=2) as hall:
        answers = [await hall.call("/api/matches/join", {}) for _ in range(3)]
        assert answers[-1].status_code == 429
        assert answers[-1].json()["payload"]["code"] == "RATE_LIMIT_ERROR"
