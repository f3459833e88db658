"""The rules of the XsOs door, each as a sentence."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.doors import xsos
from parlour.doors.xsos import AWAY_TIMEOUT, MAX_KEPT, SEAT
from tests.doors.chat import EMPTY, Chat, drawn

BASE = {"version": 3, "seq": 0, "from": "ann", "utouId": "chat"}

# Two come together.


def test_the_first_join_is_told_to_nobody_and_the_later_one_to_the_earlier():
    chat = Chat()
    assert chat.say("ann", "join", asked=True).ack == {"delivered": False}
    assert chat.say("bob", "join", asked=True).ack == {"delivered": True}
    assert chat.actions("ann") == ["join"]
    assert chat.actions("bob") == []


def test_when_two_joins_cross_exactly_one_side_starts():
    chat = Chat().sit("ann", "bob")
    for who in ("ann", "bob", "ann"):
        assert chat.say(who, "join", asked=True).ack == {"delivered": False}
    assert (chat.actions("ann"), chat.actions("bob")) == ([], [])


def test_what_one_says_reaches_the_other_as_it_was_said_and_never_oneself():
    chat = Chat().sit("ann", "bob")
    said = json.dumps(
        {**BASE, "seq": 1, "action": "start_game", "name": "Zoë 🎈", "imgURL": "", "more": [1.50]}
    )
    assert chat.door.receive("ann 1", said.encode(), 0, asked=False).told == [("bob 1", said.encode())]


def test_a_whole_game_is_passed_on_in_order():
    chat = Chat()
    for who in ("ann", "bob"):
        chat.say(who, "join")
    chat.say("ann", "start_game")
    chat.say("bob", "start_game_ack")
    chat.move("ann", "O . . / . . . / . . .")
    chat.move("bob", "O . . / . X . / . . .")
    chat.say("ann", "game_over")
    chat.say("bob", "leave_game")
    assert chat.actions("ann") == ["join", "start_game_ack", "update_game", "leave_game"]
    assert chat.actions("bob") == ["start_game", "update_game", "game_over"]


def test_pairs_do_not_hear_each_other():
    chat = Chat().sit("ann", "bob")
    chat.id = "another"
    chat.say("cid", "join")
    chat.say("dot", "join")
    chat.say("cid", "start_game")
    assert (chat.actions("ann"), chat.actions("bob")) == ([], [])
    assert (chat.actions("cid"), chat.actions("dot")) == (["join"], ["start_game"])


def test_a_third_player_is_told_and_not_let_in():
    chat = Chat().sit("ann", "bob")
    assert chat.say("eve", "join").code == "game_full"
    assert chat.heard["eve"] == [
        {
            **BASE,
            "from": "server",
            "action": "error",
            "code": "game_full",
            "message": "two players are in this chat's game already",
        }
    ]
    assert chat.say("eve", "update_game", game=drawn("X X X / X X X / X X X")).code == "not_joined"
    assert (chat.actions("ann"), chat.actions("bob")) == ([], [])


def test_nothing_is_played_before_both_are_there():
    chat = Chat().sit("ann")
    assert chat.move("ann", "O . . / . . . / . . .").code == "not_your_turn"
    assert chat.move("bob", "O . . / . . . / . . .").code == "not_joined"


# Refusals.


def test_a_refusal_is_the_acknowledgement_if_one_was_asked_for_and_a_message_if_not():
    chat = Chat()
    assert chat.say("ann", "dance", asked=True).ack == {
        "code": "unknown_event",
        "message": "$.action: expected join, ... leave_game, got 'dance'",
    }
    assert chat.actions("ann") == []
    chat.say("ann", "dance")
    chat.say("ann", "dance")
    assert [(said["from"], said["seq"], said["action"]) for said in chat.heard["ann"]] == [
        ("server", 0, "error"),
        ("server", 1, "error"),
    ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"version": 2}, "$.version: expected int >= 3, got 2"),
        ({"version": 4}, "$.version: expected int <= 3, got 4"),
        ({"seq": -1}, "$.seq: expected int >= 0, got -1"),
        ({"seq": "0"}, "$.seq: expected int, got str"),
        ({"from": ""}, "$.from: expected str of length >= 1, got ''"),
        ({"from": "server"}, "$.from: expected a player, got 'server'"),
        ({"from": "a\x00b"}, "$.from: expected no control characters, got 'a\\x00b'"),
        ({"utouId": "\n"}, "$.utouId: expected no control characters"),
        ({"utouId": "x" * 10_000}, "$.utouId: expected str of length <= 256"),
        ({"utouId": None}, "$.utouId: expected str, got null"),
        ({"name": 5}, "$.name: expected str, got int"),
        ({"imgURL": "h" * 3000}, "$.imgURL: expected str of length <= 2048"),
    ],
)
def test_a_message_with_a_wrong_field_is_refused_with_what_was_expected(wrong, told):
    chat = Chat()
    answer = chat.say("ann", "join", asked=True, **wrong)
    assert answer.code == "malformed"
    assert answer.ack["message"].startswith(told)
    assert len(chat.door) == 0


@pytest.mark.parametrize("field", [*BASE, "action", "name"])
def test_every_field_of_a_join_but_its_picture_is_needed(field):
    message = {**BASE, "action": "join", "name": "Ann"}
    del message[field]
    answer = Chat().send("ann", json.dumps(message), asked=True)
    assert answer.code == "malformed"
    assert field in answer.ack["message"]


@pytest.mark.parametrize("game", [None, [], [0] * 8, [0] * 10, [2] + [0] * 8, ["X"] * 9, [0.5] * 9, "X", {}])
def test_a_board_is_nine_of_minus_one_nought_and_one(game):
    chat = Chat().sit("ann", "bob")
    assert chat.say("ann", "update_game", game=game).code == "malformed"
    assert chat.actions("bob") == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{",
        '"join"',
        '{"a":1e999}',
        '{"a":"\\ud800"}',
        "[" * 100,
        b"\xff",
        '{"a":NaN}',
        "{}",
    ],
)
def test_what_is_no_strict_json_object_is_refused(body):
    assert Chat().send("ann", body, asked=True).code == "malformed"


def test_a_line_speaks_for_one_player_of_one_chat():
    chat = Chat().sit("ann", "bob")
    assert chat.send("ann", json.dumps({**BASE, "from": "bob", "action": "game_over"})).code == "not_joined"
    assert chat.say("ann", "start_game", utouId="other").code == "not_joined"
    assert chat.actions("bob") == []


def test_a_seq_that_jumps_is_delivered_and_counted():
    chat = Chat().sit("ann", "bob")
    chat.say("ann", "start_game")
    assert chat.door.jumps == 0
    for seq in (7, 8, 8):
        assert chat.say("ann", "start_game_ack", seq=seq, asked=True).ack == {"delivered": True}
    assert chat.door.jumps == 2


# A short break.


def test_what_was_said_during_a_break_is_told_on_return_in_order():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    assert chat.say("ann", "start_game", asked=True).ack == {"delivered": False}
    chat.move("ann", "O . . / . . . / . . .")
    chat.say("bob", "join")
    assert chat.actions("bob") == ["start_game", "update_game"]
    assert chat.actions("ann") == []
    chat.move("bob", "O . . / . X . / . . .")
    assert chat.actions("ann") == ["update_game"]


def test_any_message_is_a_return_and_is_delivered_unless_it_is_a_join():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    chat.move("ann", "O . . / . . . / . . .")
    assert chat.move("bob", "O . . / . X . / . . .", asked=True).ack == {"delivered": True}
    assert (chat.actions("ann"), chat.actions("bob")) == (["update_game"], ["update_game"])


def test_both_may_break_and_miss_nothing():
    chat = Chat().sit("ann", "bob")
    chat.break_off("ann")
    chat.break_off("bob")
    chat.say("bob", "start_game")
    chat.break_off("bob")
    chat.say("ann", "start_game_ack")
    chat.say("bob", "join")
    assert (chat.actions("ann"), chat.actions("bob")) == (["start_game"], ["start_game_ack"])


def test_somebody_who_waits_alone_may_break_and_hears_of_the_join_meanwhile():
    chat = Chat().sit("ann")
    chat.break_off("ann")
    chat.say("bob", "join")
    assert chat.actions("bob") == []
    chat.say("ann", "join")
    assert (chat.actions("ann"), chat.actions("bob")) == (["join"], [])


def test_what_went_into_a_dead_line_before_anybody_noticed_is_told_again():
    chat = Chat().sit("ann", "bob")
    chat.say("ann", "start_game")
    silent = chat.fall_silent("bob")
    assert chat.move("ann", "O . . / . . . / . . .", asked=True).ack == {"delivered": True}
    assert chat.actions("bob") == ["start_game"]
    chat.say("bob", "join")
    assert chat.actions("bob") == ["update_game"]
    chat.notice(silent)
    assert chat.say("ann", "game_over", asked=True).ack == {"delivered": True}
    assert chat.actions("bob") == ["game_over"]


def test_what_went_into_a_dead_line_comes_before_what_was_kept():
    chat = Chat().sit("ann", "bob")
    silent = chat.fall_silent("bob")
    chat.say("ann", "start_game")
    chat.notice(silent)
    chat.say("ann", "game_over")
    chat.say("bob", "join")
    assert chat.actions("bob") == ["start_game", "game_over"]


def test_a_refusal_that_was_missed_is_not_told_again():
    chat = Chat().sit("ann", "bob")
    silent = chat.fall_silent("bob")
    chat.door.receive(silent, b"{}", 0, asked=False)
    chat.say("ann", "start_game")
    chat.say("bob", "join")
    assert chat.actions("bob") == ["start_game"]


def test_the_later_of_two_lines_of_one_player_has_the_seat():
    chat = Chat().sit("ann", "bob")
    first = chat.line("bob")
    chat._renew("bob")
    chat.say("bob", "join")
    (told,) = chat.heard.pop("bob")
    assert (told["code"], told["message"]) == ("not_joined", "another connection has taken this seat")
    chat.notice(first)
    assert chat.say("ann", "start_game", asked=True).ack == {"delivered": True}


def test_only_so_much_is_kept_for_somebody_who_is_away():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    for _ in range(MAX_KEPT):
        assert chat.say("ann", "game_over").code is None
    assert chat.say("ann", "game_over").code == "too_many"
    chat.say("ann", "leave_game")
    chat.say("bob", "join")
    assert chat.actions("bob") == ["game_over"] * MAX_KEPT + ["leave_game"]


def test_a_seat_is_kept_for_two_minutes_and_then_the_other_is_told_that_it_is_over():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    chat.wait(AWAY_TIMEOUT - 1)
    assert chat.actions("ann") == []
    chat.wait(1)
    assert chat.heard.pop("ann") == [{**BASE, "from": "server", "action": "leave_game"}]
    chat.say("bob", "join")
    assert (chat.actions("ann"), chat.actions("bob")) == ([], [])
    assert chat.say("cid", "join", asked=True).ack == {"delivered": True}
    assert chat.actions("bob") == ["join"]


def test_coming_back_stops_the_clock():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    chat.wait(AWAY_TIMEOUT - 1)
    chat.say("bob", "join")
    chat.wait(AWAY_TIMEOUT)
    assert chat.actions("ann") == []


def test_pairs_of_which_nobody_comes_back_leave_nothing_behind():
    chat = Chat().sit("ann", "bob")
    chat.break_off("ann")
    chat.break_off("bob")
    chat.wait(AWAY_TIMEOUT)
    assert len(chat.door) == 0
    assert not chat.door._pairs
    assert not chat.door._ears
    assert not chat.door._absent


def test_when_too_many_are_away_the_longest_absent_lose_their_seats(monkeypatch):
    monkeypatch.setattr(xsos, "MAX_ABSENT", 3)
    chat = Chat()
    for number in range(5):
        chat.id = f"chat {number}"
        chat.say("ann", "join")
        chat.break_off("ann")
    assert {seat.chat for seat in chat.door._seats.values()} == {"chat 2", "chat 3", "chat 4"}


# What is held.


def test_an_address_that_holds_too_much_gets_no_more_seats_and_others_do():
    chat = Chat(limit=2 * SEAT)
    for number in range(2):
        chat.id = f"chat {number}"
        chat.say("ann", "join")
        chat.break_off("ann")
    chat.id = "another"
    assert chat.say("ann", "join", asked=True).ack == {
        "code": "too_many",
        "message": f"at most {2 * SEAT} bytes for one address at a time",
    }
    assert chat.say("bob", "join").code is None
    chat.wait(AWAY_TIMEOUT)
    assert chat.say("ann", "join").code is None


def test_what_waits_for_somebody_is_counted_for_their_address():
    chat = Chat(limit=SEAT + 2000).sit("ann", "bob")
    chat.break_off("bob")
    assert chat.say("ann", "start_game", imgURL="x" * 1000).code is None
    assert chat.say("ann", "start_game", imgURL="x" * 1000).code == "too_many"
    chat.say("bob", "join")
    assert chat.say("ann", "start_game", imgURL="x" * 1000).code is None


def test_complaints_that_have_arrived_are_not_remembered():
    chat = Chat().sit("ann", "bob")
    for _ in range(1000):
        chat.send("ann", "nonsense")
    (seat, _) = chat.door._seats.values()
    assert len(seat.handed) <= 1


def test_for_somebody_who_does_not_read_only_so_much_is_remembered():
    chat = Chat().sit("ann", "bob")
    chat.fall_silent("bob")
    codes = [chat.say("ann", "game_over", more="x" * 10_000).code for _ in range(60)]
    assert codes == [None] * 52 + ["too_many"] * 8


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["join", "start_game", "leave_game", "noise", "break", "silence", "wait"]),
            st.sampled_from(["ann", "bob", "cid"]),
            st.sampled_from(["one", "two"]),
            st.integers(0, 3),
        ),
        max_size=50,
    )
)
def test_what_is_counted_is_what_seats_hold_and_in_the_end_nothing(story):
    chat, silent = Chat(), []
    for move, who, chat.id, more in story:
        if move == "noise":
            chat.send(who, "noise")
        elif move == "break":
            chat.break_off(who)
        elif move == "silence":
            silent.append(chat.fall_silent(who))
        elif move == "wait":
            chat.wait(more * 60)
        else:
            chat.say(who, move, imgURL="x" * (more * 500))
        held: Counter[tuple[str, str]] = Counter()
        for seat in chat.door._seats.values():
            held["address", seat.address] += SEAT + sum(64 + len(b or b"") for b in seat.kept + seat.handed)
        assert chat.held._held == sum(held.values())
        assert chat.held._held_by == held
    for line in silent:
        chat.notice(line)
    for who in ("ann", "bob", "cid"):
        chat.break_off(who)
    chat.wait(AWAY_TIMEOUT)
    assert (chat.held._held, chat.held._held_by) == (0, {})


# Leaving.


def test_a_leave_is_told_and_acknowledged_and_ends_the_pair():
    chat = Chat().sit("ann", "bob")
    assert chat.say("ann", "leave_game", asked=True).ack == {"delivered": True}
    assert chat.actions("bob") == ["leave_game"]
    assert chat.move("bob", "O . . / . . . / . . .").code == "not_joined"


def test_a_leave_that_is_sent_again_is_acknowledged_again():
    chat = Chat().sit("ann", "bob")
    for delivered in (True, False, False):
        assert chat.say("ann", "leave_game", asked=True).ack == {"delivered": delivered}
    assert chat.actions("bob") == ["leave_game"]


def test_a_goodbye_or_game_over_that_crosses_the_others_goodbye_is_no_error():
    chat = Chat().sit("ann", "bob")
    chat.say("ann", "leave_game")
    assert chat.say("bob", "game_over", asked=True).ack == {"delivered": False}
    assert chat.say("bob", "leave_game", asked=True).ack == {"delivered": False}
    assert chat.actions("ann") == []
    assert len(chat.door) == 0


def test_a_leave_during_a_break_is_told_on_return():
    chat = Chat().sit("ann", "bob")
    chat.break_off("bob")
    assert chat.say("ann", "leave_game", asked=True).ack == {"delivered": False}
    chat.say("bob", "join")
    assert chat.actions("bob") == ["leave_game"]


def test_a_leave_into_a_dead_line_is_told_on_return():
    chat = Chat().sit("ann", "bob")
    chat.fall_silent("bob")
    chat.say("ann", "leave_game")
    chat.say("bob", "join")
    assert chat.actions("bob") == ["leave_game"]


def test_after_a_leave_the_same_two_may_play_again_on_the_same_lines():
    chat = Chat().sit("ann", "bob")
    chat.say("ann", "leave_game")
    chat.heard.clear()
    chat.say("bob", "join")
    chat.say("ann", "join")
    assert (chat.actions("ann"), chat.actions("bob")) == ([], ["join"])


def test_somebody_new_may_play_with_the_one_who_was_left():
    chat = Chat().sit("ann", "bob")
    chat.say("ann", "leave_game")
    chat.break_off("bob")
    chat.heard.clear()
    chat.say("cid", "join")
    chat.say("bob", "join")
    assert (chat.actions("cid"), chat.actions("bob")) == (["join"], [])


# The referee.


def refereed(*moves: str) -> Chat:
    chat = Chat(referee=True).sit("ann", "bob")
    for number, board in enumerate(moves):
        assert chat.move(("ann", "bob")[number % 2], board).code is None
    chat.heard.clear()
    return chat


@pytest.mark.parametrize("first", ["O . . / . . . / . . .", ". . . / . X . / . . ."])
def test_either_mark_may_begin(first):
    assert refereed(first).actions("bob") == []


@pytest.mark.parametrize(
    ("who", "board", "code"),
    [
        ("ann", "O O . / . X . / . . .", None),
        ("bob", "O . . / . X . / . . X", "not_your_turn"),
        ("ann", "O . . / . X . / . . X", "illegal_move"),
        ("ann", "O O O / . X . / . . .", "illegal_move"),
        ("ann", "O . . / . O . / . . .", "illegal_move"),
        ("ann", ". . . / . X . / . . .", "illegal_move"),
        ("ann", "O . . / . X . / . . .", "illegal_move"),
        ("ann", ". . . / . . . / . . .", "illegal_move"),
    ],
    ids=[
        "a move",
        "out of turn",
        "a foreign mark",
        "two marks",
        "over another",
        "one taken",
        "none",
        "blank",
    ],
)
def test_an_impossible_board_is_refused_to_its_sender_only(who, board, code):
    chat = refereed("O . . / . . . / . . .", "O . . / . X . / . . .")
    other = "bob" if who == "ann" else "ann"
    assert chat.move(who, board, asked=True).code == code
    assert chat.actions(other) == ([] if code else ["update_game"])


def test_the_first_move_is_one_mark_of_whoever_plays_it():
    assert refereed().move("bob", ". . . / . X . / . . .").code is None
    assert refereed().move("ann", "O X . / . . . / . . .").code == "illegal_move"


WON = ("O . . / . . . / . . .", "O X . / . . . / . . .", "O X . / O . . / . . .", "O X . / O X . / . . .",
       "O X . / O X . / O . .")  # fmt: skip


def test_after_three_in_a_row_nothing_more_is_played():
    assert refereed(*WON).move("bob", "O X . / O X . / O X .").code == "illegal_move"


def test_after_the_end_a_new_start_begins_with_an_empty_board():
    chat = refereed(*WON)
    chat.say("bob", "start_game")
    assert chat.move("bob", "X . . / . . . / . . .").code is None


def test_a_start_in_the_middle_changes_nothing_on_the_board():
    chat = refereed(*WON[:2])
    chat.say("ann", "start_game")
    assert chat.move("ann", "O . . / . . . / . . .").code == "illegal_move"


def test_without_a_referee_any_board_is_passed_on():
    chat = Chat().sit("ann", "bob")
    for _ in range(2):
        assert chat.move("bob", "X X X / X X X / X X X").code is None


def test_a_move_that_could_not_be_kept_has_not_happened():
    chat = refereed()
    chat.break_off("bob")
    for _ in range(MAX_KEPT):
        chat.say("ann", "game_over")
    assert chat.move("ann", "O . . / . . . / . . .").code == "too_many"
    chat.say("bob", "join")
    assert chat.move("ann", "O . . / . . . / . . .").code is None


# Whatever happens.

PEOPLE = st.sampled_from(["ann", "bob", "eve"])
DEEDS = st.one_of(
    st.tuples(st.just("say"), PEOPLE, st.sampled_from([*xsos.ACTIONS, "dance"])),
    st.tuples(st.sampled_from(["break", "silent", "send"]), PEOPLE, st.just("")),
    st.tuples(st.just("wait"), PEOPLE, st.sampled_from(["1", "60", "120"])),
)


@given(st.lists(DEEDS, max_size=40), st.booleans())
def test_whatever_people_do_nothing_is_doubled_or_out_of_order_and_nothing_stays_behind(deeds, referee):
    """Of each sender, a receiver hears a rising row of numbers, whatever breaks."""
    chat = Chat(referee=referee)
    silent = []
    for number, (kind, who, what) in enumerate(deeds):
        match kind:
            case "say":
                chat.say(who, what, seq=number, game=EMPTY)
            case "break":
                chat.break_off(who)
            case "silent":
                silent.append(chat.fall_silent(who))
            case "send":
                chat.send(who, "[]")
            case _:
                chat.wait(float(what))
    for who in ("ann", "bob", "eve"):
        for sender in {"ann", "bob", "eve"} - {who}:
            told = [message["seq"] for message in chat.heard[who] if message["from"] == sender]
            assert told == sorted(set(told))
    for line in silent:
        chat.notice(line)
    for who in ("ann", "bob", "eve"):
        chat.break_off(who)
    chat.wait(AWAY_TIMEOUT)
    chat.wait(AWAY_TIMEOUT)
    assert len(chat.door) == 0
    assert not chat.door._pairs
    assert not chat.door._ears
    assert not chat.door._absent
