"""Whole games between real clients over real sockets, on the SQLite journal."""

import hashlib
import json

import pytest

from parlour.game import Chance
from parlour.games.minesweeper import Field

pytestmark = pytest.mark.e2e

X_WINS = (0, 3, 1, 4, 2)
"""The cells that X and O mark in turn until X has the upper row."""


def sha256(seed):
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def play_out(x, o):
    """Play until X has won; returns when both have been told."""
    seqs = [(x, o)[number % 2].mark(cell) for number, cell in enumerate(X_WINS)]
    for player in (x, o):
        player.see(seqs[-1])


def test_two_phoenix_clients_play_noughts_and_crosses_to_the_end(server, seat):
    room = server.open_room()
    ann, bob = seat(server, room["id"], "Ann", "Bob")
    play_out(ann, bob)
    assert ann.view["cells"] == bob.view["cells"] == "XXXOO...."
    assert (ann.view["you"], bob.view["you"]) == ("X", "O")
    assert ann.result == bob.result
    assert ann.result["outcome"] == {"won": [ann.id], "lost": [bob.id], "why": "three in a row"}
    assert server.room(room["id"])["outcome"] == ann.result["outcome"]


def test_everybody_gets_every_update_once_and_in_order(server, seat):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    play_out(ann, bob)
    assert ann.seqs == [3, 4, 5, 6, 7, 8, 9]
    assert bob.seqs == [5, 6, 7, 8, 9]
    assert server.room(room)["seq"] == 9


def test_the_seed_shown_at_the_end_is_the_one_promised_at_the_start(server, seat):
    room = server.open_room()
    ann, bob = seat(server, room["id"], "Ann", "Bob")
    play_out(ann, bob)
    assert sha256(ann.result["seed"]) == room["seed_hash"]
    assert ann.result["seed_hash"] == server.room(room["id"])["seed_hash"] != room["seed_hash"]


def test_a_rematch_goes_on_in_the_same_room_with_the_other_player_beginning(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    play_out(ann, bob)
    assert ann.push("rematch", {}).response == {"seq": 10}
    assert bob.push("rematch", {}).response == {"seq": 11}
    assert bob.mark(4) == 12
    ann.see(12)
    assert (ann.view["cells"], ann.view["you"], bob.view["you"]) == ("....X....", "O", "X")
    assert ann.seqs == list(range(3, 13))


def test_a_move_that_is_refused_says_why_and_is_told_to_nobody(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    early = bob.play("mark", cell=0)
    assert early.code == early.response["reason"] == "not_your_turn"
    ann.mark(0)
    taken = bob.play("mark", cell=0)
    assert (taken.code, len(taken.response["legal"])) == ("illegal_move", 8)
    assert bob.play("mark", cell="middle").response["path"] == "$.cell"
    bob.mark(1)
    ann.see(6)
    assert ann.seqs == [3, 4, 5, 6]


# Minesweeper: one plays, others watch, and the mines are secret.


SMALL = {"width": 6, "height": 5, "mines": 12}


def lay(seed):
    """The field as this seed lays it when step 3 opens the first cell."""
    return Field(SMALL["width"], SMALL["mines"], "#" * 30).lay(0, Chance(seed, step=3))


def mines(laid):
    """Where they are, as it is told in the end."""
    return {"type": "show_mines", "cells": [laid.place(cell) for cell in sorted(laid.mined)]}


@pytest.fixture
def field(server, enter):
    """Somebody at a field whose first cell is open, somebody who watches, and where the mines are."""
    room = server.open_room("minesweeper", config=SMALL)
    ann, eve = enter(server, "Ann"), enter(server, "Eve")
    assert ann.join(room["id"]).response["seat"] == 0
    assert eve.join(room["id"], spectate=True).response["seat"] is None
    laid = lay(server.secret_seed(room["id"]))
    assert ann.play("open", x=1, y=1).response == {"seq": 3}
    return room, ann, eve, laid


def closed(player, laid, *, mined):
    """The closed cells that have a mine, or have none."""
    drawn = enumerate("".join(player.view["rows"]))
    return [laid.place(cell) for cell, look in drawn if look == "#" and (cell in laid.mined) is mined]


def before_the_end(player):
    """Everything a client was told until the game was over."""
    heard = player.heard("sync", "update", "game_event", "presence_state", "presence_diff")
    ends = [load["seq"] for name, load in heard if load.get("payload", {}).get("type") == "game_over"]
    return [load for _, load in heard if load.get("seq", 0) < ends[0]]


def finish(ann, eve, laid, *, win):
    """Open every safe cell, or one that is not."""
    ann.play("flag", **closed(ann, laid, mined=True)[0])
    while ann.result is None:
        seq = ann.play("open", **closed(ann, laid, mined=not win)[-1]).response["seq"]
        for player in (ann, eve):
            player.see(seq)


def test_minesweeper_is_played_to_the_end_and_a_spectator_sees_all_of_it(field):
    _, ann, eve, laid = field
    finish(ann, eve, laid, win=True)
    assert ann.view["status"] == "win"
    assert ann.result["outcome"]["won"] == [ann.id]
    assert (eve.view, eve.result, eve.seqs) == (ann.view, ann.result, ann.seqs)


@pytest.mark.parametrize("win", [True, False], ids=["won", "lost"])
def test_nobody_sees_a_mine_before_the_end(field, server, win):
    room, ann, eve, laid = field
    seed = server.secret_seed(room["id"]).hex()
    finish(ann, eve, laid, win=win)
    for player in (ann, eve):
        told = before_the_end(player)
        rows = [row for load in told for row in load.get("view", {}).get("rows", [])]
        assert set("".join(rows)) <= set("#F.12345678")
        assert not [word for word in ('mine"', "show_mines", "seed", seed) if word in json.dumps(told)]
        assert player.heard("game_event")[-1][1]["payload"] == mines(laid)
        assert player.result["seed"] == seed


def test_anybody_can_check_afterwards_that_the_mines_were_not_moved(field):
    room, ann, eve, laid = field
    finish(ann, eve, laid, win=False)
    assert sha256(eve.result["seed"]) == room["seed_hash"]
    checked = lay(bytes.fromhex(eve.result["seed"]))
    assert eve.heard("game_event")[-1][1]["payload"] == mines(checked)


def test_a_second_player_of_minesweeper_is_refused(field, server, enter):
    room, ann, eve, _ = field
    bob = enter(server, "Bob")
    refused = bob.join(room["id"])
    assert (refused.status, refused.code, refused.response["reason"]) == ("error", "game_full", "game_full")
    assert eve.play("open", x=6, y=5).code == "not_seated"
