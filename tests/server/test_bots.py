"""Bots sit like people: they see their view, act in the mailbox, and are there when anybody wants to play."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from parlour.errors import Refused
from parlour.games import GAMES
from parlour.server.bots.pool import BotFailed, BotPool
from parlour.server.bots.worker import Question
from parlour.testing import Table, legal
from parlour.wire import Join, Leave
from tests.probe import Probe
from tests.server.world import InPlace, World


async def with_bot(world: World, game: str = "tictactoe", bot: str | None = "random", config: Any = None):
    """Somebody and a bot, at the two seats of a room."""
    await world.open(game, config=config)
    (ann,) = await world.seated("ABCD", "ann")
    seated = await world.seat_bot("ABCD", bot, "ann")
    await world.quiet()
    return ann, seated


async def test_a_bot_takes_the_next_seat_and_is_marked_as_a_bot():
    async with World() as world:
        ann, seated = await with_bot(world)
        assert (seated.seat, seated.player.id, seated.player.bot) == (1, "bot:random", True)
        room = await world.server.rooms.look("ABCD")
        assert [(seat.name, seat.bot) for seat in room.seats if seat] == [
            ("Ann", False),
            ("Random bot", True),
        ]
        (_, diff), *_ = ann.heard("presence_diff")
        assert diff["joins"]["bot:random"]["metas"][0]["bot"] is True


async def test_a_bot_answers_every_move_until_the_game_is_over():
    async with World() as world:
        ann, _ = await with_bot(world)
        while world.room().outcome is None:
            moves = legal(GAMES["tictactoe"], world.room().state, "ann")
            assert (await ann.play("ABCD", moves[0]))[0] == "ok"
        assert len(world.room().state.played) >= 5


async def test_a_bot_that_is_first_begins():
    async with World() as world:
        await world.open("tictactoe", creator="ann")
        await world.seat_bot("ABCD", "random", "ann")
        await world.seated("ABCD", "ann")
        assert world.room().state.cells.count("X") == 1


async def test_a_second_bot_of_a_kind_has_a_number():
    async with World() as world:
        await world.open("tictactoe", creator="ann")
        for id in ("bot:random", "bot:random:2"):
            assert (await world.seat_bot("ABCD", "random", "ann")).player.id == id
        await world.quiet()
        assert world.room().outcome is not None


@pytest.mark.parametrize(
    ("bot", "by", "code"), [("clever", "ann", "unknown_bot"), ("random", "eve", "not_seated")]
)
async def test_a_bot_is_refused_with_a_reason(bot, by, code):
    async with World() as world:
        await world.open("tictactoe")
        await world.seated("ABCD", "ann")
        with pytest.raises(Refused, match=code):
            await world.seat_bot("ABCD", bot, by)
        assert world.room().seq == 2


async def test_a_bot_finds_no_seat_where_there_is_none():
    async with World() as world:
        await world.open("tictactoe")
        await world.seated("ABCD", "ann", "bob")
        with pytest.raises(Refused, match="game_full"):
            await world.seat_bot("ABCD", "random", "ann")


async def test_a_bot_agrees_to_every_rematch():
    async with World() as world:
        ann, _ = await with_bot(world)
        while world.room().outcome is None:
            moves = legal(GAMES["tictactoe"], world.room().state, "ann")
            await ann.play("ABCD", moves[0])
        await ann.push("ABCD", "rematch", {})
        await world.quiet()
        assert world.room().outcome is None
        assert world.room().players == ("bot:random", "ann")
        assert world.room().state.cells.count("X") == 1, "and it begins, since the seats have moved on"


async def test_a_bot_answers_an_offer_by_how_it_judges_the_position():
    async with World() as world:
        ann, _ = await with_bot(world, bot="perfect")
        await ann.play("ABCD", {"type": "mark", "cell": 4})
        await ann.push("ABCD", "offer", {"what": "draw"})
        await world.quiet()
        assert world.room().outcome is not None, "nothing is decided: it agrees"
        assert world.room().verdict.how == "agreed"


async def test_a_bot_answers_a_resignation_for_less_than_the_game_could_cost():
    async with World() as world:
        await world.open("backgammon", creator="ann")
        await world.seat_bot("ABCD", "easy", "ann")
        (ann,) = await world.seated("ABCD", "ann")
        await ann.play("ABCD", {"type": "ready"})
        await world.quiet()
        assert (await ann.play("ABCD", {"type": "resign_game", "grade": "single"}))[0] == "ok"
        await world.quiet()
        assert world.room().outcome.why == "1 \N{EN DASH} 0 (resigned)"


async def test_a_bot_that_wins_declines_a_draw_and_plays_on():
    async with World() as world:
        await world.open("tictactoe", creator="ann")
        await world.seat_bot("ABCD", "perfect", "ann")
        (ann,) = await world.seated("ABCD", "ann")
        await world.quiet()
        corner = world.room().state.played[0]
        edge = next(cell for cell in (1, 3, 5, 7) if cell != corner)
        await ann.play("ABCD", {"type": "mark", "cell": edge})
        await world.quiet()
        await ann.push("ABCD", "offer", {"what": "draw"})
        await world.quiet()
        assert world.room().outcome is None
        assert [offer.by for offer in world.room().offers.declined] == ["ann"]


async def test_a_bot_lets_a_move_be_taken_back_and_moves_anew():
    async with World() as world:
        ann, _ = await with_bot(world)
        await ann.play("ABCD", {"type": "mark", "cell": 4})
        await world.quiet()
        await ann.push("ABCD", "offer", {"what": "takeback"})
        await world.quiet()
        assert world.room().state.cells == "." * 9
        await ann.play("ABCD", {"type": "mark", "cell": 0})
        await world.quiet()
        assert world.room().state.cells.count("O") == 1


async def test_a_bot_without_answers_of_its_own_declines_a_draw():
    async with World() as world:
        ann, _ = await with_bot(world)
        await ann.push("ABCD", "offer", {"what": "draw"})
        await world.quiet()
        assert (world.room().outcome, world.room().offers.open) == (None, None)


async def test_in_a_pause_a_bot_waits_too():
    async with World() as world:
        ann, _ = await with_bot(world, "stratego", config={"preset": "ogetarts"})
        await ann.push("ABCD", "offer", {"what": "pause"})
        await world.quiet()
        assert world.room().offers.paused is not None
        assert (await ann.play("ABCD", {"type": "move", "from": 30, "to": 40}))[1]["code"] == "game_paused"
        await ann.push("ABCD", "offer", {"what": "resume"})
        await world.quiet()
        assert not world.room().offers


async def test_a_bot_says_that_it_is_ready():
    async with World() as world:
        ann, _ = await with_bot(world, "backgammon", config={"variant": "portes"})
        assert world.room().state.ready == (False, True)


async def test_a_bot_goes_on_after_the_server_died_in_the_middle_of_its_turn():
    class Slow(InPlace):
        async def ask(self, question: Question):
            await asyncio.Event().wait()

    world = World()
    async with world:
        await world.open("tictactoe")
        (ann,) = await world.seated("ABCD", "ann")
        world.server.bots._thinker = Slow()
        await world.seat_bot("ABCD", "random", "ann")
        ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":4}}]')
        while world.busy_mailboxes:
            await world.busy_mailboxes[0].drained()
        assert world.room().state.cells == "....X...."
        for turn in world.server.bots.thinking:
            turn.cancel()
        again = await world.restart()
        await again.quiet()
        assert again.room().state.cells.count("O") == 1
        assert again.room().connected == ["bot:random"]
        await again.server.stop()


async def test_what_a_bot_said_about_another_position_is_not_done():
    class Late(InPlace):
        def __init__(self):
            self.asked: list[Question] = []
            self.go = asyncio.Event()

        async def ask(self, question: Question):
            self.asked.append(question)
            await self.go.wait()
            return await super().ask(question)

    async with World() as world:
        ann, _ = await with_bot(world, "stratego", config={"preset": "ogetarts"})
        late = world.server.bots._thinker = Late()
        moves = legal(GAMES["stratego"], world.room().state, "ann")
        move = msgspec.json.encode(moves[0]).decode()
        ann.send_soon(f'["1","9","game:ABCD","game_event",{{"event":{move}}}]')
        while world.busy_mailboxes:
            await world.busy_mailboxes[0].drained()
        await asyncio.sleep(0)
        ann.send_soon('["1","10","game:ABCD","game_event",{"event":{"type":"offer_draw"}}]')
        while world.busy_mailboxes:
            await world.busy_mailboxes[0].drained()
        late.go.set()
        await world.quiet()
        assert len(late.asked) == 2, "the view has changed since: there is an offer"
        assert world.room().state.turn == 0


async def test_a_bot_that_fails_does_something_legal_and_its_traceback_is_in_the_log():
    class Failing(InPlace):
        async def ask(self, question: Question):
            raise BotFailed("no idea", "in my_bot, line 7")

    async with World() as world:
        world.server.bots._thinker = Failing()
        ann, _ = await with_bot(world)
        with capture_logs() as logs:
            await ann.play("ABCD", {"type": "mark", "cell": 4})
        assert world.room().state.cells.count("O") == 1
        (line,) = [line for line in logs if line["event"] == "bot_failed"]
        assert (line["bot"], line["error"], line["trace"]) == ("random", "no idea", "in my_bot, line 7")


async def test_a_bot_that_cheats_does_something_legal_instead():
    class Cheating(InPlace):
        async def ask(self, question: Question):
            return msgspec.Raw(b'{"type":"mark","cell":4}')

    async with World() as world:
        world.server.bots._thinker = Cheating()
        ann, _ = await with_bot(world)
        await ann.play("ABCD", {"type": "mark", "cell": 4})
        cells = world.room().state.cells
        assert (cells[4], cells.count("O")) == ("X", 1)


async def test_a_bot_takes_its_time_so_that_people_can_follow():
    async with World(bot_pace=0.5) as world:
        await world.open("tictactoe", creator="ann")
        await world.seat_bot("ABCD", "random", "ann")
        (ann,) = await world.seated("ABCD", "ann")
        assert world.room().state.played == ()
        await world.wait(0.4)
        assert world.room().state.played == ()
        await world.wait(0.2)
        assert len(world.room().state.played) == 1


# A bot is nobody whom a room waits for: that is the room's own business, without a server.


def test_a_room_with_nobody_but_bots_does_not_wait_long():
    table = Table(Probe()).sit("ann")
    table.do(Join("bot:random", "Random bot", bot=True))
    assert table.room.connected == ["ann", "bot:random"]
    table.disconnect("ann")
    table.wait(60)
    assert table.room.ended == "nobody_here"


def test_a_game_with_a_bot_waits_for_its_player_like_any_other():
    table = Table(GAMES["tictactoe"]).sit("ann")
    table.do(Join("bot:random", "Random bot", bot=True))
    table.disconnect("ann")
    assert table.wait(13 * 86400) == []


def test_what_bots_do_keeps_no_room_alive():
    table = Table(Probe()).sit("ann")
    table.wait(200)
    table.do(Join("bot:random", "Random bot", bot=True))
    table.act("ann", {"type": "tell"})
    table.wait(200)
    table.act("bot:random", {"type": "tell"})
    table.wait(100)
    assert table.room.ended == "game_timeout"


def test_a_bot_has_not_left_when_everybody_else_is_gone():
    table = Table(GAMES["tictactoe"]).sit("ann")
    table.do(Join("bot:random", "Random bot", bot=True))
    table.do(Leave("ann"))
    assert table.room.players == (None, "bot:random")


# Hints.


async def test_a_hint_is_what_a_bot_would_do_in_ones_place():
    async with World() as world:
        ann, _ = await with_bot(world)
        hint = await world.server.bots.hint("ABCD", "ann", "random")
        assert (await ann.play("ABCD", hint.event))[0] == "ok"


async def test_there_are_no_hints_against_people():
    async with World() as world:
        await world.open("tictactoe")
        await world.seated("ABCD", "ann", "bob")
        with pytest.raises(Refused, match="alone or against bots"):
            await world.server.bots.hint("ABCD", "ann")


async def test_there_is_no_hint_for_somebody_who_has_nothing_to_do():
    async with World() as world:
        await world.open("tictactoe")
        await world.seated("ABCD", "ann")
        with pytest.raises(Refused, match="not_your_turn"):
            await world.server.bots.hint("ABCD", "ann")


# The processes.


def question(bot: str, *legal: Any, game: str = "toss", file: Path | None = None) -> Question:
    events = msgspec.Raw(msgspec.json.encode(legal))
    return Question(game, bot, msgspec.Raw(b"null"), events, None if file is None else str(file))


MARK = {"type": "mark", "cell": 4}
QUESTION = question("random", MARK, game="tictactoe")


async def test_bots_think_in_a_process_of_their_own_that_ends_with_the_pool():
    pool = BotPool(1)
    event = await pool.ask(QUESTION)
    assert bytes(event or b"") == b'{"type":"mark","cell":4}'
    (worker,) = pool._workers
    await pool.stop()
    assert worker._process.returncode is not None


async def test_a_bot_in_a_file_of_somebodys_own_is_found_and_may_print(tmp_path):
    file = tmp_path / "toss.py"
    file.write_text(TOSS)
    pool = BotPool(1)
    assert bytes(await pool.ask(question("last", 1, 2, file=file)) or b"") == b"2"
    with pytest.raises(BotFailed, match="ZeroDivisionError") as failed:
        await pool.ask(question("broken", 1, file=file))
    assert "in broken" in failed.value.trace
    await pool.stop()


async def test_a_bot_that_never_answers_is_stopped_and_the_next_question_is_answered(tmp_path):
    file = tmp_path / "toss.py"
    file.write_text(TOSS)
    pool = BotPool(1)
    await pool.ask(QUESTION)
    pool.timeout = 0.1
    with pytest.raises(BotFailed, match="too long"):
        await pool.ask(question("endless", 1, file=file))
    pool.timeout = 30.0
    assert await pool.ask(QUESTION) is not None
    await pool.stop()


TOSS = """
from parlour import Event, Game, State

class Call(Event, frozen=True):
    heads: bool

def last(view, legal, chance):
    print("thinking")
    return legal[-1]

def broken(view, legal, chance):
    return 1 / 0

def endless(view, legal, chance):
    while True:
        pass

class Toss(Game):
    name = "toss"
    display_name = "Toss"
    seats = range(1, 2)
    State = State
    Event = Call
    bots = {"last": last, "broken": broken, "endless": endless}

    def init(self, config, moment):
        return State()
"""
