"""Stratego: who sits, how pieces are arranged, what is a secret, and how it begins again."""

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, Game, Moment, Outcome, Send, Update
from parlour.games.stratego import Stratego
from parlour.games.stratego.board import BLUE, HOMES, MARSHAL, RANKS, RED
from parlour.games.stratego.formations import ARMY, FORMATIONS, random_army
from parlour.games.stratego.position import Position
from parlour.games.stratego.rules import Arrange, Form, Move, OfferDraw, Ready, Reset, Resign, Swap
from parlour.leakcheck import check
from parlour.testing import NEW_YEAR, Table, effects, legal, refused, told
from parlour.wire import Connect, Rematch

GAME = Stratego()
ANN, BOB, CEM = "ann", "bob", "cem"
DAY = 86400


def seated(config: Any = None, luck: int = 0) -> Table:
    return Table(GAME, config, luck=luck).sit(ANN, BOB)


def started(luck: int = 0) -> Table:
    """Both have said that they are ready."""
    table = seated(luck=luck)
    table.act(ANN, Ready())
    table.act(BOB, Ready())
    return table


def home(table: Table, side: int) -> str:
    """A side's ranks, square by square."""
    return "".join(RANKS[table.state.cells[square].rank] for square in HOMES[side])


def board(table: Table, viewer: str | None) -> list[str]:
    rows: list[str] = GAME.view(table.state, viewer)["board"]  # type: ignore[assignment]
    return rows


# What can be set up.


def test_by_default_there_are_lakes_and_both_arrange():
    rules = Table(GAME).state.rules
    assert (rules.lakes, rules.setup, rules.two_squares) == (True, "arrange", True)
    assert rules.restart_after == 0


def test_ogetarts_has_no_lakes_pieces_at_random_and_begins_again_by_itself():
    table = seated({"preset": "ogetarts"})
    assert (table.state.rules.lakes, table.state.rules.restart_after) == (False, 10)
    assert (table.state.phase, table.state.turn) == ("playing", RED)
    assert board(table, None)[4:6] == 2 * [" ".join(10 * ".")]


def test_a_preset_can_be_changed_in_every_point():
    config = {"preset": "ogetarts", "lakes": True, "setup": "arrange", "two_squares": True}
    config |= {"arrange_seconds": 60, "quiet_limit": 50, "restart_after": 0}
    rules = Table(GAME, config).state.rules
    assert {name: getattr(rules, name) for name in config if name != "preset"} == {
        name: value for name, value in config.items() if name != "preset"
    }


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"preset": "chess"}, "$.config.preset"),
        ({"lakes": 1}, "$.config.lakes"),
        ({"setup": "by hand"}, "$.config.setup"),
        ({"turn_seconds": -1}, "$.config.turn_seconds"),
        ({"quiet_limit": 10**9}, "$.config.quiet_limit"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused_and_the_path_says_where(config, path):
    assert refused("invalid_config", lambda: Table(GAME, config)).path == path


# Who plays.


def test_the_first_two_play_and_everybody_else_watches():
    table = seated()
    assert [GAME.view(table.state, viewer)["you"] for viewer in (ANN, BOB, None)] == ["red", "blue", None]
    refused("game_full", lambda: table.sit(CEM))
    assert table.watch(CEM).seat is None


def test_a_lone_player_waits_and_nothing_is_dealt():
    table = Table(GAME).sit(ANN)
    assert GAME.view(table.state, ANN)["phase"] == "waiting"
    assert not any(table.state.cells)
    assert legal(GAME, table.state, ANN) == []


@pytest.mark.parametrize(
    "event", [Move(30, 40), Ready(), Swap(0, 1), Form("wall"), OfferDraw(), Resign(), Reset()]
)
def test_a_lone_player_can_do_nothing_but_leave(event):
    Table(GAME).sit(ANN).refusal(ANN, event)


def test_who_leaves_before_there_is_an_opponent_frees_the_seat():
    table = Table(GAME).sit(ANN)
    table.leave(ANN)
    table.sit(BOB, ANN)
    assert table.room.players == (BOB, ANN)
    assert table.room.outcome is None


@pytest.mark.parametrize("arranging", [True, False])
def test_who_leaves_an_opponent_resigns_and_keeps_the_seat(arranging):
    table = seated() if arranging else started()
    table.leave(ANN)
    assert table.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="the other side resigned")
    assert table.room.players == (ANN, BOB)
    refused("game_full", lambda: table.sit(CEM))


def test_who_leaves_after_the_end_keeps_the_seat_too():
    table = started()
    table.act(BOB, Resign())
    before = table.state
    table.leave(BOB)
    assert (table.room.players, table.state) == ((ANN, BOB), before)


def test_two_weeks_of_absence_end_nothing():
    table = started()
    for player in (ANN, BOB):
        table.disconnect(player)
    assert table.wait(14 * DAY - 1) == []
    for player in (ANN, BOB):
        table.do(Connect(player))
    table.act(ANN, legal(GAME, table.state, ANN)[0])


def test_a_room_does_not_wait_for_ever_for_a_second_player_nor_after_the_end():
    lonely, over = Table(GAME).sit(ANN), started()
    over.act(ANN, Resign())
    for table, days, why in ((lonely, 14, "game_timeout"), (over, 7, "game_ended")):
        for player in table.room.connected:
            table.disconnect(player)
        table.wait(days * DAY - 1)
        assert table.why_ended() is None
        table.wait(1)
        assert table.why_ended() == why


# Arranging.


@pytest.mark.parametrize("config", [{}, {"preset": "ogetarts"}])
@pytest.mark.parametrize("luck", range(3))
def test_each_side_has_its_forty_pieces_in_its_own_four_rows(config, luck):
    table = seated(config, luck)
    for side in (RED, BLUE):
        assert Counter(home(table, side)) == Counter(ARMY)
    assert [piece.id for piece in table.state.cells if piece] == [*range(1, 41), *range(61, 101)]
    assert Counter(ARMY) == dict(zip("FBM98765432S", (1, 6, 1, 1, 2, 3, 4, 4, 4, 5, 8, 1), strict=True))


@pytest.mark.parametrize("luck", range(12))
def test_a_random_start_has_no_flag_in_the_front_row(luck):
    table = seated({"preset": "ogetarts"}, luck)
    assert "F" not in home(table, RED)[-10:]
    assert "F" not in home(table, BLUE)[:10]


def test_steps_of_the_second_version_are_dealt_as_they_were_then():
    armies = [
        [random_army(Chance(bytes(32), luck), hides_flag=hides) for luck in range(40)]
        for hides in (False, True)
    ]
    before, now = armies
    assert any("F" in army[:10] for army in before)
    assert [army for army in before if "F" not in army[:10]] == [
        army for army, old in zip(now, before, strict=True) if "F" not in old[:10]
    ]


def test_two_own_pieces_change_places():
    table = seated()
    before = home(table, RED)
    table.act(ANN, Swap(0, 39))
    assert home(table, RED) == before[39] + before[1:39] + before[0]
    assert told(table.steps[-1]) == []


@pytest.mark.parametrize("swap", [Swap(0, 60), Swap(60, 0), Swap(60, 61), Swap(0, 45), Swap(5, 5)])
def test_nothing_else_changes_places(swap):
    assert seated().refusal(ANN, swap).message == "two different pieces of your own can change places"


@pytest.mark.parametrize("name", list(FORMATIONS))
def test_a_well_known_formation_looks_the_same_from_both_sides(name):
    table = seated()
    for player in (ANN, BOB):
        table.act(player, Form(name))
    drawn = "".join(FORMATIONS[name].split())
    assert (home(table, BLUE), home(table, RED)) == (drawn, drawn[::-1])
    table.act(ANN, Ready())
    table.act(BOB, Ready())
    assert legal(GAME, table.state, ANN)


def test_a_formation_of_ones_own_is_forty_ranks_as_one_sees_them():
    table = seated()
    table.act(BOB, Arrange("2222222233 / 3335555666 / 44447776BB / BBBB889MSF"))
    assert board(table, BOB)[6:] == [
        "b2 b2 b2 b2 b2 b2 b2 b2 b3 b3",
        "b3 b3 b3 b5 b5 b5 b5 b6 b6 b6",
        "b4 b4 b4 b4 b7 b7 b7 b6 bB bB",
        "bB bB bB bB b8 b8 b9 bM bS bF",
    ]
    table.act(ANN, Arrange("2222222233 / 3335555666 / 44447776BB / BBBB889MSF"))
    assert board(table, ANN)[0] == "rF rS rM r9 r8 r8 rB rB rB rB"


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ("", "expected 1 of F among the 40 pieces, got 0"),
        (ARMY[:-1], "expected 1 of S among the 40 pieces, got 0"),
        (ARMY + "2", "expected 8 of 2 among the 40 pieces, got 9"),
        (ARMY.replace("S", "F"), "expected 1 of F among the 40 pieces, got 2"),
        (ARMY.replace("S", "?"), "expected 1 of S among the 40 pieces, got 0"),
        (ARMY + "x", "expected 0 of x among the 40 pieces, got 1"),
    ],
)
def test_a_formation_that_is_not_the_right_forty_pieces_is_refused(pieces, why):
    no = seated().refusal(ANN, Arrange(pieces))
    assert (no.code, no.message, no.path) == (Code.ILLEGAL_MOVE, why, "$.pieces")


def test_the_game_begins_when_both_are_ready_and_then_nothing_is_arranged_any_more():
    table = seated()
    table.act(BOB, Ready())
    assert GAME.view(table.state, ANN)["ready"] == {"red": False, "blue": True}
    assert table.refusal(BOB, Swap(60, 61)).message == "you have said that you are ready"
    assert table.refusal(ANN, Move(30, 40)).code == Code.NOT_YOUR_TURN
    table.act(ANN, Ready())
    assert told(table.steps[-1]) == [{"type": "ready", "side": "red"}, {"type": "begun"}]
    assert table.refusal(ANN, Form("wall")).message == "the time to arrange pieces is over"
    assert table.refusal(BOB, Ready()).message == "the time to arrange pieces is over"


def test_when_the_time_is_up_the_pieces_stand_as_they_do():
    table = seated()
    table.act(ANN, Form("corner"))
    assert GAME.view(table.state, ANN)["until"] == NEW_YEAR + 300
    table.wait(299)
    before = str(table.state)
    assert table.state.phase == "arranging"
    table.wait(1)
    assert (table.state.phase, str(table.state), table.state.until) == ("playing", before, None)


def test_arranging_can_take_as_long_as_it_takes():
    table = seated({"arrange_seconds": 0})
    assert table.wait(DAY) == []
    assert GAME.view(table.state, ANN)["until"] is None


def test_who_draws_up_so_that_nothing_can_move_has_lost():
    bombs_at_every_way_out = "BB22BB22BB / 2222334455 / 3334455666 / 6777889MSF"
    table = seated()
    table.act(ANN, Arrange(bombs_at_every_way_out))
    table.act(ANN, Ready())
    table.act(BOB, Ready())
    assert table.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="no piece is left that can move")


def test_who_resigns_while_arranging_has_lost():
    table = seated()
    table.act(BOB, Resign())
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="the other side resigned")
    assert table.wait(300) == []


# Secrets.


def test_everybody_sees_where_pieces_stand_but_ranks_only_of_their_own():
    table = started()
    assert {word[1] for row in board(table, ANN)[:4] for word in row.split()} == set(RANKS[1:])
    assert set(" ".join(board(table, ANN)[6:]).split()) == {"b?"}
    assert set(" ".join(board(table, BOB)[:4]).split()) == {"r?"}
    assert set(" ".join(board(table, None)).split()) == {"r?", "b?", ".", "~"}


def test_who_survives_a_fight_is_known_to_everybody_for_good():
    table = seated().lay_out(Position.parse("r7 b4 . / . b9 b5"))
    table.act(ANN, Move(0, 1))
    table.act(BOB, Move(12, 2))
    for viewer in (BOB, None):
        assert board(table, viewer)[0].startswith(". R7 b")
    table.act(ANN, Move(1, 11))
    assert board(table, None)[1].startswith(". B9 .")


def in_arranging(table: Table) -> None:
    table.act(ANN, Resign())


def in_play(table: Table) -> None:
    for player, event in ((ANN, Ready()), (BOB, Ready()), (BOB, OfferDraw()), (ANN, OfferDraw())):
        table.act(player, event)


def by_the_flag(table: Table) -> None:
    table.lay_out(Position.parse("r7 bF . bB / . b9 rM rS"))
    table.act(ANN, Move(0, 1))


@pytest.mark.parametrize("end", [in_arranging, in_play, by_the_flag])
@pytest.mark.parametrize("viewer", [ANN, BOB, None])
def test_when_it_is_over_everybody_sees_every_rank_and_nobody_before(end, viewer):
    table = seated()
    assert "?" in str(board(table, viewer))
    end(table)
    assert table.room.outcome is not None
    assert board(table, viewer) == [" ".join(row.split()) for row in str(table.state).splitlines()]
    assert "?" not in str(board(table, viewer))
    assert not [piece for piece in GAME.scene(table.state, viewer).pieces if piece.look == "back"]
    assert GAME.resample(table.state, viewer, Chance(bytes(32), 1)) == table.state


def test_the_next_game_is_a_secret_again():
    table = seated({"preset": "ogetarts"})
    table.act(ANN, Resign())
    table.act(BOB, Reset())
    assert set(" ".join(board(table, ANN)[6:]).split()) == {"b?"}


def test_a_piece_is_followed_by_an_id_that_is_the_square_where_it_began():
    table = started()
    (first, *_) = legal(GAME, table.state, ANN)
    table.act(ANN, first)
    ids: list[int] = GAME.view(table.state, None)["ids"]  # type: ignore[assignment]
    assert ids[first.end] == first.start + 1
    assert ids[first.start] == 0


def test_what_an_opponent_arranges_is_not_seen():
    table = seated()
    before = [GAME.view(table.state, viewer) for viewer in (BOB, None)]
    for event in (Swap(0, 1), Form("storm"), Arrange(ARMY)):
        table.act(ANN, event)
        assert [GAME.view(table.state, viewer) for viewer in (BOB, None)] == before


def test_who_got_up_and_sat_down_again_on_the_other_side_has_seen_nothing():
    table = Table(GAME, {"preset": "ogetarts"}).sit(ANN)
    assert set(" ".join(board(table, ANN)).split()) == {"."}
    table.leave(ANN)
    table.sit(BOB, ANN)
    assert set(" ".join(board(table, ANN)[:4]).split()) == {"r?"}


def test_other_worlds_have_the_same_pieces_and_let_nothing_move_that_cannot():
    drawn = "r9' r5' rB rF R8 r2^ r2 rS rM' . / b5 b6' bB . . . . . . ."
    for luck in range(50):
        state = Position.parse(drawn)
        for viewer, sides in ((None, (RED, BLUE)), (RED, (BLUE,)), (BLUE, (RED,))):
            other = state.reimagined(viewer, Chance(bytes(32), luck))
            assert other.rows(viewer) == state.rows(viewer)
            for side in (RED, BLUE):
                ranks, others = (
                    [piece.rank for piece in position.cells if piece and piece.side == side]
                    for position in (state, other)
                )
                assert sorted(ranks) == sorted(others)
                assert ranks == others or side in sides
            moved = [other.cells[square] for square in (0, 1, 8, 11)]
            assert all(piece and piece.rank <= MARSHAL for piece in moved)


def test_in_other_worlds_everything_may_be_otherwise_that_is_not_known():
    state = Position.parse("r9' r5' rB rF R8 r2^ r2 rS rM' . / b5 b6' bB . . . . . . .")
    worlds = [state.reimagined(BLUE, Chance(bytes(32), luck)) for luck in range(300)]
    seen = [{RANKS[world.cells[square].rank] for world in worlds} for square in range(9)]  # type: ignore[union-attr]
    agile, anything = set("952SM"), set("95BF2SM")
    assert seen == [agile, agile, anything, anything, {"8"}, {"2"}, anything, anything, agile]


def test_stratego_has_no_leak():
    report = check(GAME, {"preset": "ogetarts"}, games=1, steps=80, seed=5)
    assert report.ok, str(report)
    assert report.reveals > 20
    assert report.resampled["cells"]


class RankInTheId(Stratego):
    """The seed's own leak: a piece's id tells its rank when pieces are numbered before they are shuffled."""

    def view(self, state: Position, viewer: str | None) -> dict[str, object]:
        ids = [0 if piece is None else 100 * piece.side + piece.rank for piece in state.cells]
        return {**super().view(state, viewer), "ids": ids}


class RanksForSpectators(Stratego):
    """Everybody without a seat sees what blue sees."""

    def view(self, state: Position, viewer: str | None) -> dict[str, object]:
        seen = super().view(state, viewer)
        return {**seen, "board": state.rows(BLUE)} if viewer is None else seen


class RankInTheNews(Stratego):
    """The news of a move tells what moved."""

    def handle_event(self, state: Position, sender: str, event: Any, moment: Moment) -> Update[Position]:
        update = super().handle_event(state, sender, event, moment)
        if not isinstance(event, Move):
            return update
        piece = state.cells[event.start]
        assert piece is not None
        return replace(update, effects=(*update.effects, Send("all", {"rank": piece.rank})))


class RankInARefusal(Stratego):
    """Who tries the opponent's piece hears what it is."""

    def handle_event(self, state: Position, sender: str, event: Any, moment: Moment) -> Update[Position]:
        try:
            return super().handle_event(state, sender, event, moment)
        except Refused as why:
            if isinstance(event, Move) and (piece := state.cells[event.start]) is not None:
                raise Refused(why.code, f"{why.message} ({RANKS[piece.rank]})") from None
            raise


class BombsInLegalMoves(Stratego):
    """Only attacks that can be won are called legal."""

    def legal_events(self, state: Position, player: str) -> list[Any]:
        def promising(event: Any) -> bool:
            met = state.cells[event.end] if isinstance(event, Move) else None
            return met is None or met.rank <= MARSHAL

        return [event for event in super().legal_events(state, player) if promising(event)]


@pytest.mark.parametrize(
    ("game", "part"),
    [
        (RankInTheId(), "view"),
        (RanksForSpectators(), "view"),
        (RankInTheNews(), "messages"),
        (RankInARefusal(), "reply"),
        (BombsInLegalMoves(), "legal events"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Game) else "",
)
def test_a_rank_that_slips_out_of_a_copy_is_found(game, part):
    report = check(game, {"preset": "ogetarts"}, games=10, steps=80)
    assert report.leak is not None, str(report)
    assert report.leak.what.part == part


# Again.


def test_both_play_again_with_swapped_sides():
    table = started()
    table.act(BOB, Resign())
    refused_reset = table.refusal(BOB, Reset())
    assert refused_reset.message == "here a new game begins when both ask for a rematch"
    table.do(Rematch(ANN))
    table.do(Rematch(BOB))
    assert table.room.players == table.state.players == (BOB, ANN)
    assert (table.state.phase, table.room.outcome) == ("arranging", None)
    assert table.wait(30) == []
    table.wait(7 * DAY)
    assert table.why_ended() is None


@pytest.mark.parametrize("player", [ANN, BOB])
def test_in_ogetarts_a_player_begins_a_new_game_with_the_same_sides_when_it_is_over(player):
    table = seated({"preset": "ogetarts"})
    assert table.refusal(player, Reset()).code == Code.NOT_OVER
    table.act(ANN, Resign())
    assert legal(GAME, table.state, player) == [Reset()]
    step = table.act(player, Reset())
    assert (table.state.phase, table.room.outcome, table.state.players) == ("playing", None, (ANN, BOB))
    assert {"type": "send", "to": "all", "payload": None, "kind": "sync"} in effects(step)
    assert table.wait(7 * DAY) == []


def test_in_ogetarts_a_new_game_begins_by_itself_ten_seconds_after_the_end():
    table = seated({"preset": "ogetarts"})
    before = home(table, RED)
    table.act(ANN, Resign())
    table.wait(9.9)
    assert table.state.phase == "over"
    table.wait(0.1)
    assert (table.state.phase, table.state.lost) == ("playing", ["", ""])
    assert home(table, RED) != before
    assert table.wait(7 * DAY) == []
