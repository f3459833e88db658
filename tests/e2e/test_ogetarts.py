"""The unmodified phoenix client at ``games:<name>``, against somebody at the native socket."""

import random

import pytest

pytestmark = pytest.mark.e2e

STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0))


def come_in(player, name, user):
    """Join by the door; the answer."""
    player.topic = f"games:{name}"
    return player.ask("join", topic=player.topic, payload={"user": user}, resume=False)


def click(player, place):
    return player.push("click", {"i": place[0], "j": place[1]})


def chances(board, me):
    """Steps that a player sees on the board; attacks first, for games that end."""
    found = []
    for i, row in enumerate(board):
        for j, piece in enumerate(row):
            if piece and piece[2] == me and 0 < piece[1] <= 10:
                for down, right in STEPS:
                    y, x = i + down, j + right
                    if 0 <= y < 10 and 0 <= x < 10 and (not board[y][x] or board[y][x][2] != me):
                        found.append((not board[y][x], (i, j), (y, x)))
    attacks = [(start, end) for quiet, start, end in found if not quiet]
    return attacks or [(start, end) for _, start, end in found]


def last_game(player, updates):
    return player.wait_for("update", count=updates)["game"]


def test_a_whole_game_by_clicks_against_the_native_socket(patient, enter):
    ann, bob, thief, eve = (enter(patient, name) for name in ("Ann", "Bob", "Thief", "Eve"))
    joined = come_in(ann, "den", "Ann")
    assert (joined.status, joined.response["join"]) == ("ok", "den")
    assert bob.join("den").response["seat"] == 1

    # Nobody else comes in under Bob's name; who watches under her own sees no rank.
    assert come_in(thief, "den", "Bob").code == "name_taken"
    watching = come_in(eve, "den", "Eve").response["game"]
    assert {piece[1] for row in watching["board"] for piece in row if piece} == {0}

    rng = random.Random(11)
    game = ann.wait_for("update", count=2)["game"]
    while game["reason"] is None:
        start, end = rng.choice(chances(game["board"], 1))
        assert click(ann, start).response["game"]["last_click"][0] == game["board"][start[0]][start[1]][0]
        moved = click(ann, end)
        assert moved.status == "ok", moved
        game = moved.response["game"]
        if game["reason"] is None:
            heard = len(ann.heard("update"))
            board = game["board"]
            # An answer comes after everything that happened before it, so that Bob's view then is the latest.
            assert bob.play("decline_draw").code == "illegal_move"
            start, end = rng.choice(reply(bob.view))
            assert bob.play("move", **{"from": start, "to": end}).status == "ok"
            game = last_game(ann, heard + 1)
            assert game["board"] != board
    assert game["players"] == ["Ann", "Bob"]
    assert bob.play("decline_draw").code == "illegal_move"  # and by now he has heard of the end, too
    assert bob.result["outcome"]["why"]
    assert game["winner"] in (None, "Ann", "Bob")
    ann.push("chat", {"message": "Well played"})
    eve.wait_for("new message")
    eve_sees = eve.heard("update")[-1][1]["game"]
    assert (eve_sees["winner"], eve_sees["reason"]) == (game["winner"], game["reason"])

    assert thief.heard("update") == []

    # And again, with the same players.
    again = ann.push("reset", {})
    assert (again.status, again.response["game"]["reason"]) == ("ok", None)


def reply(view):
    """Blue's steps, as the native view shows them."""
    words = " ".join(view["board"]).split()
    board = [
        [
            [1, "?S23456789MBF".index(word[1]), 1 + (word[0] in "bB")] if len(word) > 1 else []
            for word in words[row : row + 10]
        ]
        for row in range(0, 100, 10)
    ]
    return [(10 * start[0] + start[1], 10 * end[0] + end[1]) for start, end in chances(board, 2)]


def test_who_is_cut_off_comes_back_to_the_same_seat(server, enter):
    ann, bob = enter(server, "Ann"), enter(server, "Bob")
    come_in(ann, "hut", "Ann")
    come_in(bob, "hut", "Bob")
    before = bob.wait_for("update")["game"]
    bob.cut(back=True)
    bob.wait_for("joined", count=2)
    after = bob.wait_for("update", count=2)["game"]
    assert after["board"] == before["board"]
    assert {piece[2] for row in after["board"] for piece in row if piece and piece[1]} == {2}
    assert ann.push("chat", {"message": "Welcome back"}).status == "ok"
    assert bob.wait_for("new message") == {"message": "Welcome back", "user": "Ann"}
