"""The bot that searches: how well it plays, and that it knows nothing but what it may know."""

import pytest
from msgspec.structs import replace

from parlour import Refused
from parlour.bots.chance import choose_any
from parlour.bots.search import QuickChance, Tree, search
from parlour.bots.tictactoe import play_casually
from parlour.game import Bot
from parlour.games import GAMES
from parlour.games.tictactoe import Board
from parlour.position import Position
from parlour.server.bots.pool import BotPool
from parlour.server.bots.questions import question_of
from parlour.server.bots.worker import Asked, think
from parlour.server.game_loader import load_games
from parlour.sim import Table, chance_of, pairings, play_pair
from parlour.sim.play import ask
from parlour.testing import Table as RoomTable
from tests.agents.kuhn import Kuhn

NOUGHTS = GAMES["tictactoe"]
SEARCH = search(200, secrets=False)


def decided(cells, bot=SEARCH, seed=0):
    """Which cell the bot marks in this position of noughts and crosses."""
    table = Table(NOUGHTS)
    table.state = replace(table.state, cells=cells)
    player = table.seats[cells.count("X") - cells.count("O")]
    assert player is not None
    return ask(table, player, bot, chance_of(seed))["cell"]


def test_it_takes_a_win_and_stops_the_others():
    assert decided("XX.OO....") == 2
    assert decided("X..OO...X") == 5


def test_the_same_luck_finds_the_same_move():
    assert decided(".........", seed=3) == decided(".........", seed=3)


def test_the_arena_puts_it_above_random_play():
    bots: dict[str, Bot] = {"random": choose_any, "search": search(60, secrets=False)}
    pairs = [play_pair(NOUGHTS, None, bots, pairing) for pairing in pairings(["random", "search"], 20)]
    assert not [game.fault for pair in pairs for game in pair.games if game.fault]
    assert sum(pair.score.points for pair in pairs) / 20 < 0.25


def test_games_are_played_on_by_a_cheap_bot_and_judged_where_they_are_cut_off():
    judged = []

    def worth(state: Board, player: str) -> float:
        judged.append(player)
        return 0.0

    bot = search(100, rollout=play_casually, depth=3, worth=worth, secrets=False)
    assert decided("XX.OO....", bot) == 2
    assert set(judged) == {"1", "2"}


def test_with_the_best_card_it_calls_and_with_the_worst_it_folds():
    for card, wanted in ((2, "bet"), (0, "pass")):
        table = Table(Kuhn())
        table.state = replace(table.state, cards=(1, card), bets="b")
        bot = search(300)
        assert ask(table, "2", bot, chance_of(card)) == {"type": wanted}


def test_what_was_kept_for_one_world_is_not_used_in_another():
    table = Table(Kuhn())
    tree = Tree(0, QuickChance(5), None, 20, None)
    tree.best(Position(table.game, table.state, table.seats), 400)
    for situation in tree._situations.values():
        for edge in situation.edges.values():
            if edge.after is not None:
                assert situation.position is not None
                seat, chance = situation.seat, QuickChance(0)
                assert edge.after.state == situation.position.play(seat, edge.event, chance).state


# What it may know.


CHEAT = """
from parlour.position import BotWithWorlds
from tests.agents.kuhn import Kuhn


def cheat(position, seat, chance, clock):
    return position.state.cards[1 - seat]


class Cheated(Kuhn):
    bots = {"cheat": BotWithWorlds(cheat)}
"""


def test_a_cheat_gets_no_true_state_from_a_room_nor_from_a_table(tmp_path):
    file = tmp_path / "cheated.py"
    file.write_text(CHEAT)
    [game] = load_games(file)
    room = RoomTable(game).sit("ann", "bob")
    question = question_of(game, room.room, "ann", "cheat")
    assert question is not None
    assert question.truth is not None
    seen = {think(Asked(question, number.to_bytes(32, "big"))) for number in range(30)}
    assert seen == {0, 1, 2} - {room.state.cards[0]}, "both that the other may hold, not the one in truth"
    table = Table(game)
    seen = {ask(table, "1", game.bots["cheat"], chance_of(number)) for number in range(30)}
    assert seen == {0, 1, 2} - {table.state.cards[0]}


async def test_in_a_process_of_its_own_it_calls_with_the_best_card(tmp_path):
    file = tmp_path / "searched.py"
    file.write_text(
        "from parlour.bots.search import search\nfrom tests.agents.kuhn import Kuhn\n\n\n"
        "class Searched(Kuhn):\n    bots = {'search': search(200, seconds=60)}\n"
    )
    [game] = load_games(file)
    room = RoomTable(game).sit("ann", "bob")
    room.lay_out(replace(room.state, cards=(1, 2), bets="b"))
    question = question_of(game, room.room, "bob", "search")
    assert question is not None
    pool = BotPool(1)
    assert bytes(await pool.ask(question) or b"") == b'{"type":"bet"}'
    await pool.stop()


def test_the_true_state_is_handed_over_for_bots_that_look_ahead_and_for_nobody_else():
    class Offered(Kuhn):
        bots = {"search": search(10), "plain": choose_any}  # noqa: RUF012 - a game's own

    room = RoomTable(Offered()).sit("ann", "bob")
    plain, looks = (question_of(room.game, room.room, "ann", bot) for bot in ("plain", "search"))
    assert plain is not None
    assert looks is not None
    assert plain.truth is None
    assert looks.truth is not None


def test_a_game_with_a_view_and_without_resample_is_refused_unless_it_says_that_it_has_no_secrets():
    table = Table(NOUGHTS)
    with pytest.raises(Refused, match="expected resample of a game that has a view of its own"):
        ask(table, "1", search(10), chance_of(0))
    with pytest.raises(Refused, match="got only a view"):
        search(10)(None, [], chance_of(0))


def test_it_stops_when_its_seconds_are_over_by_the_clock_that_it_was_given():
    ticks = iter(range(1000))
    table = Table(NOUGHTS)
    tree = Tree(0, QuickChance(1), None, 200, None)
    tree.best(Position(NOUGHTS, table.state, table.seats), 10_000, lambda: float(next(ticks)), seconds=5)
    assert tree.simulations == 4 * 16


@pytest.mark.parametrize(
    "wrong", [{"simulations": 0}, {"seconds": 0}, {"depth": 0}, {"seconds": float("nan")}]
)
def test_a_search_of_nothing_is_refused(wrong):
    with pytest.raises(Refused, match="expected simulations, seconds and a depth above 0"):
        search(**wrong)


def test_quick_luck_is_below_what_was_asked_and_every_number_comes():
    chance = QuickChance(1)
    assert {chance.below(6) for _ in range(200)} == set(range(6))
    assert 0 <= chance.below(1 << 50) < 1 << 50
    with pytest.raises(ValueError, match="expected 1 to"):
        chance.below(0)
