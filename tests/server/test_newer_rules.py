"""Rooms that began under older rules of the games that come with Parlour go on under today's."""

from msgspec.structs import replace
from structlog.testing import capture_logs

from parlour.game import Config
from parlour.games import GAMES
from parlour.games.backgammon import Backgammon
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.checkers import Checkers
from parlour.games.stratego import Stratego
from parlour.games.tictactoe import TicTacToe
from parlour.server.rooms.history import HistoryWanted
from tests.games.backgammon.test_whole_turns import ONLY_ONE_ORDER
from tests.server.world import World


class BearingOff(Backgammon):
    """Begins where 4-3 has been rolled, and can be played whole in one order only."""

    def init(self, config, moment):
        board, begun = Board.parse("backgammon", ONLY_ONE_ORDER), super().init(config, moment)
        laid = replace(begun, board=board, before=board, checkers=Checkers.on(board))
        return replace(laid, phase="move", dice=(4, 3))


def as_of(version: int, game: type):
    """The game as it was then."""

    class Before(game):  # type: ignore[misc]
        def handle_event(self, state, sender, event, moment):
            return super().handle_event(state, sender, event, replace(moment, rules=version))

    Before.version = version
    return Before()


async def test_a_game_of_stratego_that_would_have_kept_its_secrets_goes_on_and_shows_them_at_its_end():
    async with World({"stratego": as_of(1, Stratego)}) as before:
        await before.open("stratego", config={"preset": "ogetarts", "restart_after": 0})
        await before.seated("ABCD", "ann", "bob")
        async with await before.restart(GAMES) as again:
            ann, bob = await again.seated("ABCD", "ann", "bob")
            assert (await ann.play("ABCD", {"type": "resign"}))[0] == "ok"
            (*_, shown) = [said["view"] for _, said in bob.heard("update") if "view" in said]
            assert "?" not in str(shown["board"])
            told = await again.server.history.read("ABCD", None, HistoryWanted())
            assert ["?" in str(step.view["board"]) for step in told.steps[-2:]] == [True, False]


BORNE_OFF = {"type": "move", "from": 3, "to": 0}


async def test_a_turn_that_was_begun_with_a_move_that_is_refused_now_goes_on():
    async with World({"backgammon": as_of(1, BearingOff)}) as before:
        await before.open("backgammon")
        ann, _ = await before.seated("ABCD", "ann", "bob")
        assert (await ann.play("ABCD", BORNE_OFF))[0] == "ok"
        async with await before.restart({"backgammon": BearingOff()}) as again:
            ann, bob = await again.seated("ABCD", "ann", "bob")
            assert again.room().state.played == ((3, 0),)
            assert (await ann.play("ABCD", {"type": "end_turn"}))[0] == "ok"
            assert (await bob.play("ABCD", {"type": "roll"}))[0] == "ok"
            kept = [step.rules async for step in again.journal.replay(1)]
            assert (kept[0], kept[-1]) == (1, GAMES["backgammon"].version)


async def test_the_same_move_is_refused_in_a_turn_that_begins_now():
    async with World({"backgammon": BearingOff()}) as world:
        await world.open("backgammon")
        ann, _ = await world.seated("ABCD", "ann", "bob")
        assert (await ann.play("ABCD", BORNE_OFF))[1]["code"] == "illegal_move"


class Rows(Config):
    rows: int = 3


class OfThreeRows(TicTacToe):
    """Noughts and crosses with a setting."""

    Config = Rows


async def test_a_room_whose_settings_are_none_today_goes_on_without_a_clock():
    async with World({"tictactoe": OfThreeRows()}) as before:
        await before.open("tictactoe", config={"rows": 3})
        await before.seated("ABCD", "ann", "bob")
        with capture_logs() as logs:
            async with await before.restart({"tictactoe": TicTacToe()}) as again:
                ann, _ = await again.seated("ABCD", "ann", "bob")
                await again.wait(10)
                assert (await ann.play("ABCD", {"type": "mark", "cell": 4}))[0] == "ok"
        assert [line["event"] for line in logs if line["log_level"] != "info"] == ["clock_not_set"]
