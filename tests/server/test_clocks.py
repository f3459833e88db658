"""Players' clocks on a server: what clients are told of them, and what restarts and lag make of them."""

import httpx
import pytest
from websockets.frames import Frame, Opcode

from parlour.clocks import MAX_LAG, Absence, ClockSettings
from parlour.errors import Refused
from parlour.server.api.endpoints import Api, web_app
from parlour.server.gateway.websocket import PROBE_BYTES
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from parlour.wire import Queue
from tests.doors.hall import Hall
from tests.probe import Probe
from tests.server.wires import Wire
from tests.server.world import World

TOKENS = Tokens(b"k" * 32)
FIVE_THREE = ClockSettings("increment", 300.0, 3.0)
NATIVE = "/socket/websocket?vsn=2.0.0"


@pytest.fixture
async def http(world):
    app = web_app(Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings), None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://parlour.test") as http:
        yield http


def mark(cell):
    return {"type": "mark", "cell": cell}


async def seated(world, settings=FIVE_THREE):
    await world.open("tictactoe", clock=settings)
    return await world.seated("ABCD", "ann", "bob")


async def test_whoever_comes_is_told_how_much_time_everybody_has(world):
    await seated(world)
    await world.wait(10)
    (zoe,) = [await world.person("zoe")]
    await zoe.join("ABCD", spectate=True)
    told = zoe.heard("sync")[0][1]
    assert told["now"] == world.clock.now()
    assert told["clocks"] == {
        "settings": {"kind": "increment", "seconds": 300, "extra": 3},
        "seats": [{"left": 300, "since": told["now"] - 10}, {"left": 300}],
        "started": True,
    }


async def test_a_move_tells_everybody_the_clocks_after_it(world):
    ann, bob = await seated(world)
    await world.wait(10)
    bob.forget()
    await ann.play("ABCD", mark(4))
    told = bob.heard("update")[-1][1]
    assert [seat["left"] for seat in told["clocks"]["seats"]] == [293, 300]
    assert told["clocks"]["seats"][1]["since"] == told["now"]


async def test_a_chat_says_nothing_of_the_clocks(world):
    ann, bob = await seated(world)
    bob.forget()
    await ann.push("ABCD", "chat", {"text": "hello"})
    assert "clocks" not in bob.heard("update")[-1][1]


async def test_whose_time_is_over_has_lost_although_nobody_does_anything(world):
    _, bob = await seated(world)
    await world.wait(300 + MAX_LAG)
    result = bob.heard("update")[-1][1]["result"]
    assert (result["outcome"]["won"], result["verdict"]) == (["bob"], "flagged")


async def test_with_three_seconds_left_before_a_kill_there_are_three_seconds_after_it(world):
    ann, _ = await seated(world, ClockSettings("increment", 20))
    await world.wait(16)
    await ann.push("ABCD", "chat", {"text": "a beat"})
    await world.wait(1)
    async with await world.restart() as again:
        room = again.room()
        assert room.clocks.out_at(0) - room.clock(again.clock.now()) == pytest.approx(3)
        await again.wait(3)
        assert again.room().outcome is None
        await again.wait(MAX_LAG)
        assert again.room().verdict.how == "flagged"


async def test_the_lag_of_a_player_is_measured_and_kept_with_the_move(world):
    ann, _ = await seated(world)
    assert ann.is_measured
    ann.lag = 0.15
    await world.wait(10)
    await ann.play("ABCD", mark(4))
    assert world.room().clocks.seats[0].left == pytest.approx(293.15)
    async with await world.restart() as again:
        assert again.room().clocks.seats[0].left == pytest.approx(293.15)


async def test_nobody_stops_their_clock_by_leaving_and_sitting_down_again(world):
    ann, bob = await seated(world)
    await ann.play("ABCD", mark(4))
    await bob.push("ABCD", "leave", {})
    await world.quiet()
    assert (world.room().verdict.how, world.room().outcome.lost) == ("resigned", ("bob",))
    assert world.room().players == ("ann", "bob")


async def test_before_anybody_has_played_a_game_with_a_clock_it_is_left_without_a_result(world):
    ann, _ = await seated(world)
    await ann.push("ABCD", "leave", {})
    assert (world.room().outcome, world.room().players) == (None, (None, "bob"))


async def test_at_a_table_for_more_a_seat_is_given_up_and_its_clock_stands(world):
    await world.open("hearts", clock=FIVE_THREE)
    people = await world.seated("ABCD", "ann", "bob", "cleo", "dora")
    for person in people:
        legal = world.games["hearts"].legal_events(world.room().state, person.player)
        await person.play("ABCD", next(iter(legal)))
    await world.wait(10)
    await people[0].push("ABCD", "leave", {})
    before = world.room().clocks.seats[0].left
    await world.wait(10)
    assert (world.room().outcome, world.room().players[0]) == (None, None)
    assert world.room().clocks.seats[0].left == before


async def test_what_a_client_says_of_its_own_lag_counts_for_nothing(world):
    ann, _ = await seated(world)
    await world.wait(10)
    answer = await ann.push("ABCD", "game_event", {"event": mark(4), "lag": 0.2})
    assert (answer[0], answer[1]["code"]) == ("error", "malformed")
    assert (await ann.play("ABCD", {**mark(4), "lag": 0.2}))[0] == "error"
    await ann.play("ABCD", mark(4))
    assert world.room().clocks.seats[0].left == 293


async def test_nobody_is_measured_who_has_no_clock(world):
    await world.open("tictactoe")
    (ann,) = await world.seated("ABCD", "ann")
    assert not ann.is_measured


class Measured:
    """A connection whose lag is measured; it answers by hand."""

    def __init__(self, hall):
        self.clock, self.wire = hall.clock, Wire(hall.sockets, NATIVE)
        (self.socket,) = hall.sockets.open

    def ask(self):
        """Have it asked, and say what it was asked."""
        before = len(self.wire.pipe.written)
        self.socket.measure_lag()
        asked = bytes(self.wire.pipe.written[before:])
        assert asked[:2] == bytes([0x80 | Opcode.PING, PROBE_BYTES])
        return asked[2:]

    def answer(self, said, after=0.0):
        """Answer so many seconds later."""
        self.clock.time += after
        self.socket.data_received(Frame(Opcode.PONG, said).serialize(mask=True))
        return self.socket.lag


@pytest.fixture
async def measured():
    async with Hall() as hall:
        yield Measured(hall)


async def test_a_connection_knows_how_long_its_answer_took(measured):
    assert measured.answer(measured.ask(), 0.125) == 0.125
    assert measured.answer(measured.ask(), 0.25) == 0.25
    assert "cut" not in measured.wire.got


async def test_nobody_makes_their_lag_longer_by_answering_again(measured):
    asked = measured.ask()
    measured.answer(asked, 0.125)
    assert measured.answer(asked, 3.0) == 0.125


@pytest.mark.parametrize("said", [b"", b"lag", bytes(PROBE_BYTES)])
async def test_an_answer_to_what_was_not_asked_says_nothing_of_the_lag(measured, said):
    assert measured.answer(said, 0.2) == 0.0
    measured.answer(measured.ask(), 0.125)
    assert measured.answer(said, 0.2) == 0.125
    measured.ask()
    assert measured.answer(said, 0.2) == 0.125


async def test_nobody_knows_what_the_next_ping_will_say_and_answers_before_it_comes(measured):
    asked = [measured.ask() for _ in range(10)]
    assert len(set(asked)) == 10
    assert measured.answer(asked[-2], 0.2) == 0.0
    assert measured.answer(asked[-1], 0.1) == pytest.approx(0.3)


async def test_a_room_says_over_http_how_much_time_its_players_have(world):
    await world.open("tictactoe", clock=FIVE_THREE)
    found = await world.journal.find("ABCD")
    assert world.server.rooms.describe(found).clock == FIVE_THREE


async def test_strangers_who_want_the_same_clock_are_paired_and_have_it(world):
    pairing = world.server.pairing
    await pairing.queue("ann", Queue("tictactoe", clock=FIVE_THREE))
    await pairing.queue("bob", Queue("tictactoe"))
    await pairing.queue("cat", Queue("tictactoe", clock=ClockSettings("turn", 30)))
    ticket = await pairing.queue("dan", Queue("tictactoe", clock=FIVE_THREE))
    room = await world.server.rooms.look(ticket.room)
    assert ({seat.id for seat in room.seats}, room.clock) == ({"ann", "dan"}, FIVE_THREE)
    assert pairing.describe(ticket).clock == FIVE_THREE
    assert [pairing.tickets(player)[0].room for player in ("bob", "cat")] == [None, None]


async def test_an_open_ticket_has_its_clock_after_a_restart(world):
    await world.server.pairing.queue("ann", Queue("tictactoe", clock=FIVE_THREE))
    async with await world.restart() as again:
        await again.server.pairing.queue("bob", Queue("tictactoe"))
        ticket = await again.server.pairing.queue("cat", Queue("tictactoe", clock=FIVE_THREE))
        assert (await again.server.rooms.look(ticket.room)).clock == FIVE_THREE


async def test_a_clock_for_a_game_without_turns_is_refused_before_anybody_waits():
    async with World({"probe": Probe()}) as world:
        with pytest.raises(Refused, match="does not say whose turn it is"):
            await world.server.pairing.queue("ann", Queue("probe", clock=FIVE_THREE))


async def against_bot(world, settings):
    await world.open("tictactoe", clock=settings)
    (ann,) = await world.seated("ABCD", "ann")
    await world.seat_bot("ABCD", "random", "ann")
    return ann


async def test_a_bot_pays_for_its_thinking_but_not_for_being_held_back():
    async with World(bot_pace=5.0) as world:
        ann = await against_bot(world, ClockSettings("increment", 60))
        await ann.play("ABCD", mark(4))
        await world.wait(5)
        assert world.room().state.played[1:], "people could follow"
        assert world.room().clocks.seats[1].left == pytest.approx(60)


async def test_a_room_does_not_rest_while_the_time_of_its_bot_runs():
    async with World(bot_pace=30.0, rest_after=5.0) as world:
        ann = await against_bot(world, ClockSettings("increment", 60.0))
        await ann.play("ABCD", mark(4))
        await ann.drop()
        await world.wait(20)
        before = world.room().seq
        await world.wait(10)
        assert (await world.server.rooms.look("ABCD")).seq == before + 1, "the bot has moved"


async def test_a_bot_with_little_time_is_not_held_back():
    async with World(bot_pace=30.0) as world:
        ann = await against_bot(world, ClockSettings("turn", 20))
        await ann.play("ABCD", mark(4))
        assert len(world.room().state.played) == 2


async def test_a_bot_moves_for_whose_time_is_over_and_then_it_is_the_others_turn(world):
    ann, _ = await seated(world, ClockSettings("turn", 30.0, at_zero="bot"))
    await ann.drop()
    await world.wait(30 + MAX_LAG)
    await world.quiet()
    room = world.room()
    assert (len(room.state.played), room.outcome, room.stood_in_for) == (1, None, [])
    assert room.clocks.seats[0].left == 30


async def test_a_client_claims_the_game_of_whose_time_is_over(world):
    _, bob = await seated(world, ClockSettings("turn", 30.0, at_zero="claim"))
    await world.wait(60)
    assert (await bob.push("ABCD", "claim", {}))[0] == "ok"
    assert bob.heard("update")[-1][1]["result"]["verdict"] == "flagged"


async def test_a_bot_moves_for_whoever_is_gone_until_they_are_back(world):
    ann, bob = await seated(world, ClockSettings("none", away=Absence(60, "bot")))
    await ann.play("ABCD", mark(4))
    await ann.drop()
    await world.wait(61)
    for cell in (0, 1, 3):
        free = world.room().state.cells[cell] == "."
        await bob.play("ABCD", mark(cell if free else world.room().state.cells.index(".")))
        await world.quiet()
        if world.room().outcome is not None:
            break
        assert len(world.room().state.played) % 2 == 1, "the bot has answered"
    again = await world.person("ann")
    await again.join("ABCD")
    assert world.room().stood_in_for == []


async def test_whoever_is_gone_for_too_long_is_claimed_against_by_a_client(world):
    ann, bob = await seated(world, ClockSettings("none", away=Absence(60, "claim")))
    await ann.drop()
    await world.wait(59)
    assert (await bob.push("ABCD", "claim", {}))[1]["code"] == "illegal_move"
    await world.wait(1)
    told = bob.heard("update")[-1][1]["clocks"]
    assert told["away"] == [{"left": 0, "out": True}, {"left": 60}]
    assert (await bob.push("ABCD", "claim", {}))[0] == "ok"
    assert bob.heard("update")[-1][1]["result"]["outcome"]["why"] == "away too long"


async def test_the_time_to_be_away_is_what_it_was_after_a_kill(world):
    ann, _ = await seated(world, ClockSettings("none", away=Absence(60)))
    await ann.drop()
    await world.wait(57)
    async with await world.restart() as again:
        assert again.room().outcome is None
        await again.wait(2.9)
        assert again.room().outcome is None
        await again.wait(0.2)
        assert again.room().outcome.why == "away too long"


@pytest.mark.parametrize(
    "clock", [ClockSettings("turn", 30.0, at_zero="bot"), ClockSettings("none", away=Absence(60, "bot"))]
)
async def test_no_bot_moves_in_a_ranked_game(world, clock):
    with pytest.raises(Refused, match="in a ranked game"):
        await world.server.pairing.queue("ann", Queue("tictactoe", mode="ranked", clock=clock))


async def test_a_room_that_is_opened_again_has_the_same_clock(world):
    await world.open("tictactoe", clock=FIVE_THREE)
    await world.wait(3600)
    assert (await world.journal.find("ABCD")).summary.ended is not None
    again = await world.server.rooms.creation.again("ABCD", "ann", "203.0.113.1")
    assert again.summary.clock == FIVE_THREE


@pytest.mark.parametrize(
    ("clock", "where"),
    [
        ({"kind": "turn", "seconds": -5}, "$.clock.seconds"),
        ({"kind": "turn", "seconds": 0}, "$.clock.seconds"),
        ({"kind": "turn", "seconds": 1e300}, "$.clock.seconds"),
        ({"kind": "delay", "seconds": 60, "extra": -1}, "$.clock.extra"),
        ({"kind": "turn", "seconds": 60, "extra": 5}, "$.clock"),
        ({"kind": "sand", "seconds": 60}, "$.clock.kind"),
        ({"kind": "turn", "seconds": 60, "at_zero": "explode"}, "$.clock.at_zero"),
        ({"kind": "turn"}, "$.clock"),
        ({"kind": "none"}, "$.clock"),
        ({"kind": "none", "away": {"seconds": -60}}, "$.clock.away.seconds"),
        ({"kind": "none", "away": {"seconds": 1e300}}, "$.clock.away.seconds"),
        ({"kind": "none", "away": {"seconds": 60, "at_zero": "explode"}}, "$.clock.away.at_zero"),
        (60, "$.clock"),
    ],
)
@pytest.mark.parametrize("call", ["/api/rooms", "/api/tickets"])
async def test_a_clock_of_negative_or_absurd_time_is_refused_with_where_and_why(http, call, clock, where):
    headers = {"Authorization": f"Bearer {TOKENS.issue('ann')}"}
    answer = await http.post(call, json={"game": "tictactoe", "clock": clock}, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["path"]) == (400, "malformed", where)
    assert problem["message"]
