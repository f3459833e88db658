"""Stratego in the browser: what each viewer's board shows and lets them do."""

from typing import Any

import pytest
from msgspec.structs import replace

from parlour.game import Chance
from parlour.games.stratego import Stratego
from parlour.games.stratego.board import BLUE, RED
from parlour.games.stratego.picture import name_of
from parlour.games.stratego.position import Position
from parlour.games.stratego.rules import DeclineDraw, Form, Move, OfferDraw, Ready, Reset, Resign, Swap
from parlour.scene import Clock, Piece, Scene, Side, difference
from parlour.testing import Table

GAME = Stratego()
ANN, BOB = "ann", "bob"


def laid(drawn: str, turn: int = RED) -> Table:
    return Table(GAME, {"preset": "ogetarts"}).sit(ANN, BOB).lay_out(Position.parse(drawn, turn=turn))


def scene(table: Table, viewer: str | None) -> Scene:
    return GAME.scene(table.state, viewer)


def standing(table: Table, viewer: str | None) -> list[str]:
    """The board as it lies before this viewer: letters of the owners, faces, and ~ for lakes."""
    drawn = scene(table, viewer)
    tiles = {piece.spot: "rb"[piece.owner or 0] + (piece.text or "?") for piece in drawn.pieces}
    rows: dict[float, dict[float, str]] = {}
    for spot in drawn.spots:
        if spot.shape == "square":
            word = "~" if spot.fill == "water" else tiles.get(spot.id, ".")
            rows.setdefault(spot.y, {})[spot.x] = word
    return [" ".join(row[x] for x in sorted(row)) for _, row in sorted(rows.items())]


def piece(table: Table, viewer: str | None, id: str) -> Piece:
    (found,) = (piece for piece in scene(table, viewer).pieces if piece.id == id)
    return found


def controls(table: Table, viewer: str | None) -> list[str]:
    return [control.text for control in scene(table, viewer).controls]


# The board.


def test_each_player_sees_their_own_side_at_the_bottom_and_the_others_face_down():
    table = Table(GAME).sit(ANN, BOB)
    for player in (ANN, BOB):
        table.act(player, Form("corner"))
    below = ["6 2 8 2 5 7 2 6 2 9", "2 10 4 7 S 5 2 8 6 4", "B 5 3 7 3 B 4 3 2 B", "F B 3 2 5 B 6 3 4 B"]
    middle = 2 * [". . ~ ~ . . ~ ~ . ."]
    for player, mine, theirs in ((ANN, "r", "b"), (BOB, "b", "r")):
        own = [" ".join(mine + face for face in row.split()) for row in below]
        assert standing(table, player) == [*4 * [" ".join(10 * [f"{theirs}?"])], *middle, *own]


def test_who_watches_sits_with_red_and_sees_no_face():
    table = Table(GAME).sit(ANN, BOB)
    hidden = [4 * [" ".join(10 * [side])] for side in ("b?", "r?")]
    assert standing(table, None) == [*hidden[0], *2 * [". . ~ ~ . . ~ ~ . ."], *hidden[1]]
    assert {tile.look for tile in scene(table, None).pieces} == {"back"}


def test_a_screen_reader_is_told_the_square_and_whose_piece_it_is():
    table = laid("r6 b2^ B9")
    assert [spot.label for spot in scene(table, ANN).spots[:3]] == ["a1", "b1", "c1"]
    said = [tile.label for tile in scene(table, ANN).pieces]
    assert said == ["captain of {0}", "hidden piece of {1}, a scout by its way", "general of {1}"]
    assert (name_of(40), name_of(59)) == ("a5", "j6")


# Moving.


def test_a_piece_that_may_move_knows_where_to():
    table = laid("r2 . . b5 / r6 . . .")
    assert piece(table, ANN, "p1").drops == {f"c{end}": Move(0, end) for end in (1, 2, 3)}
    assert piece(table, ANN, "p4").drops == {}
    assert not any(tile.drops for tile in scene(table, BOB).pieces)


def test_the_last_move_is_traced_and_the_piece_keeps_its_id():
    table = laid("r6 . b5")
    before = scene(table, BOB)
    table.act(ANN, Move(0, 1))
    after = scene(table, BOB)
    assert [spot.id for spot in after.spots if spot.mark == "last"] == ["c0", "c1"]
    patch = difference(before, after)
    assert patch is not None
    assert {"id": "p1", "spot": "c1", "label": "hidden piece of {0}, has moved"} in patch.pieces


# Fights.


@pytest.mark.parametrize("viewer", [ANN, BOB, None])
def test_in_a_fight_everybody_sees_both_faces_and_the_loser_drops_into_its_tray(viewer):
    table = laid("r7 b4 . / . . b5")
    table.act(ANN, Move(0, 1))
    winner, loser = piece(table, viewer, "p1"), piece(table, viewer, "p2")
    assert (winner.look, winner.text, winner.spot) == ("tile", "7", "c1")
    assert (loser.look, loser.text, loser.spot, loser.via) == ("tile", "4", "lost1", "c1")
    assert scene(table, viewer).log == ("{0}: major a1-b1 takes a sergeant",)
    table.act(BOB, Move(12, 2))
    assert piece(table, viewer, "p2").via is None


def test_an_attacker_who_falls_is_seen_on_the_way_to_its_tray():
    table = laid("r4 b7 . / r5 . b5")
    table.act(ANN, Move(0, 1))
    assert (piece(table, BOB, "p1").spot, piece(table, BOB, "p1").via) == ("lost0", "c1")
    assert scene(table, BOB).log == ("{0}: sergeant a1-b1 falls to a major",)


def test_two_who_fall_together_are_both_seen():
    table = laid("r6 b6 . / r5 . b5")
    table.act(ANN, Move(0, 1))
    assert [(piece(table, None, id).spot, piece(table, None, id).via) for id in ("p1", "p2")] == [
        ("lost0", "c1"),
        ("lost1", "c1"),
    ]
    assert scene(table, None).log == ("{0}: captain a1-b1 and a captain both fall",)


def test_trays_lie_beside_the_board_each_on_its_owners_side():
    table = laid("r7 b4 b3 / . . b5")
    for player, own, other in ((ANN, "lost0", "lost1"), (BOB, "lost1", "lost0")):
        trays = {spot.id: spot.y for spot in scene(table, player).spots if spot.shape == "tray"}
        assert trays[own] > trays[other]
    table.act(ANN, Move(0, 1))
    table.act(BOB, Move(12, 11))
    table.act(ANN, Move(1, 2))
    fallen = [(tile.text, tile.at) for tile in scene(table, ANN).pieces if tile.spot == "lost1"]
    assert fallen == [("4", 0), ("3", 1)]
    assert scene(table, ANN).sides == (Side("tile", "40 pieces"), Side("tile", "38 pieces"))
    bare = replace(
        table.state,
        fallen=(table.state.fallen[RED], table.state.fallen[BLUE] * 19 + table.state.fallen[BLUE][:1]),
    )
    assert Stratego().scene(bare, ANN).sides[BLUE] == Side("tile", "1 piece")


# Arranging.


def test_while_arranging_a_piece_may_change_places_with_any_other_of_its_side():
    table = Table(GAME).sit(ANN, BOB)
    drops = piece(table, ANN, "p1").drops
    assert drops == {f"c{other}": Swap(0, other) for other in range(1, 40)}
    assert scene(table, ANN).turn == (RED, BLUE)
    table.act(ANN, Ready())
    assert piece(table, ANN, "p1").drops == {}
    assert scene(table, ANN).turn == (BLUE,)


def test_pieces_that_change_places_are_seen_to_move_by_their_owner_alone():
    table = Table(GAME).sit(ANN, BOB)
    before = {viewer: scene(table, viewer) for viewer in (ANN, BOB, None)}
    faces = [piece(table, ANN, id).text for id in ("p1", "p40")]
    table.act(ANN, Swap(0, 39))
    assert [piece(table, ANN, id).spot for id in ("p1", "p40")] == ["c39", "c0"]
    assert [piece(table, ANN, id).text for id in ("p1", "p40")] == faces
    for viewer in (BOB, None):
        assert scene(table, viewer) == before[viewer]


def test_when_play_begins_ids_do_not_tell_what_was_moved_about():
    table = Table(GAME).sit(ANN, BOB)
    table.act(ANN, Swap(0, 39))
    before = scene(table, BOB)
    for player in (ANN, BOB):
        table.act(player, Ready())
    places = {tile.id: tile.spot for tile in before.pieces}
    assert {tile.id: tile.spot for tile in scene(table, BOB).pieces} == places
    assert places == {f"p{square + 1}": f"c{square}" for square in (*range(40), *range(60, 100))}


def test_other_worlds_of_who_arranges_have_other_ids_too():
    table = Table(GAME).sit(ANN, BOB)
    other = table.state.reimagined(BLUE, Chance(bytes(32), 1))
    ids = [[piece.id for piece in state.cells[:40]] for state in (table.state, other)]
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1])
    assert other.cells[60:] == table.state.cells[60:]


# Controls, clocks, and what is said.


def over(*events: tuple[str, Any]) -> Table:
    table = laid("r6 . / . b5")
    for player, event in events:
        table.act(player, event)
    return table


def test_the_controls_are_what_can_be_done_besides_moving():
    table = Table(GAME).sit(ANN)
    assert controls(table, ANN) == []
    table.sit(BOB)
    assert controls(table, ANN) == ["Ready", "Formation"]
    for player in (ANN, BOB):
        table.act(player, Ready())
    assert controls(table, BOB) == []
    table.act(BOB, OfferDraw())
    assert (controls(table, BOB), controls(table, ANN)) == (
        [],
        ["Agree to a draw", "Decline"],
    )
    table.act(ANN, DeclineDraw())
    table.act(ANN, Resign())
    assert controls(table, ANN) == []
    again = Table(GAME, {"preset": "ogetarts"}).sit(ANN, BOB)
    again.act(ANN, Resign())
    assert (controls(again, BOB), scene(again, BOB).controls[0].event) == (["New game"], Reset())


def test_the_log_has_every_move_in_its_turn():
    table = laid("r7 . . / . . . / b4 b2 b3")
    for player, move in ((ANN, Move(0, 10)), (BOB, Move(22, 12)), (ANN, Move(10, 20)), (BOB, Move(12, 2))):
        table.act(player, move)
    told = ("{0}: a1-a2", "{1}: c3-c2", "{0}: major a2-a3 takes a sergeant", "{1}: c2-c1")
    assert [scene(table, viewer).log for viewer in (ANN, BOB, None)] == 3 * [told]


def test_the_status_says_what_to_do_or_how_it_ended():
    table = Table(GAME).sit(ANN)
    assert scene(table, ANN).status == "Waiting for an opponent"
    table.sit(BOB)
    table.act(BOB, Ready())
    assert [scene(table, viewer).status for viewer in (ANN, BOB, None)] == [
        "Arrange your pieces, then say ready",
        "Waiting for {0}",
        "Both arrange their pieces",
    ]
    table.act(ANN, Ready())
    assert [scene(table, viewer).status for viewer in (ANN, BOB)] == ["Your turn", "Waiting for {0}"]
    table.act(BOB, OfferDraw())
    assert scene(table, ANN).status == "{1} offers a draw"


@pytest.mark.parametrize(("answer", "told"), [(DeclineDraw(), ""), (Move(0, 1), ": your turn")])
def test_whoever_offered_a_draw_is_told_that_it_was_not_taken_by_a_word_or_a_move(answer, told):
    table = laid("r5 . . / . . . / . . . / b5 . .")
    table.act(BOB, OfferDraw())
    assert scene(table, BOB).status == "{0} may take the draw"
    table.act(ANN, answer)
    assert scene(table, BOB).status == f"{{0}} does not take the draw{told}"
    assert "draw" not in scene(table, ANN).status


def test_that_a_draw_was_not_taken_is_told_until_the_next_move():
    table = laid("r5 . . / . . . / . . . / b5 . .")
    for player, event in ((BOB, OfferDraw()), (ANN, Move(0, 1)), (BOB, Move(30, 31))):
        table.act(player, event)
    assert scene(table, BOB).status == "Waiting for {0}"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            over((BOB, Resign())),
            ["You win: {1} resigned", "{0} wins: {1} resigned", "{0} wins: {1} resigned"],
        ),
        (over((BOB, OfferDraw()), (ANN, OfferDraw())), 3 * ["A draw: both sides agreed"]),
    ],
)
def test_win_and_loss_are_told_to_each(table, said):
    assert [scene(table, viewer).status for viewer in (ANN, BOB, None)] == said


def test_a_clock_shows_the_time_to_draw_up():
    table = Table(GAME).sit(ANN, BOB)
    assert scene(table, None).clocks == (Clock(300, at=0.0, down=True),)
    for player in (ANN, BOB):
        table.act(player, Ready())
    assert scene(table, None).clocks == ()
