"""The judge must be fit to judge: an honest story passes, and every planted lie is found and named."""

import sqlite3
from contextlib import closing

import msgspec
import pytest

from parlour.games import GAMES
from parlour.room import Instant, apply, open_room
from parlour.server.rooms.stored_room import freeze
from parlour.wire import Act, Chat, Connect, Disconnect, Join, Rematch
from tests.torture.checker import check, check_room
from tests.torture.diary import Answered, Asked, Cut, Diary, Heard, Joined, ShutOut
from tests.torture.kept import Kept, Rows, rebuild

GAME = GAMES["tictactoe"]


def at(seq):
    return Instant(float(seq), 1_000_000.0 + seq, bytes([seq]) * 32)


def mark(player, cell):
    return Act(player, msgspec.Raw(msgspec.json.encode({"type": "mark", "cell": cell})))


STORY = [
    (Join("ann", "Ann"), None),
    (Connect("ann"), None),
    (Join("bob", "Bob"), None),
    (Connect("bob"), None),
    (mark("ann", 0), "a1"),
    (Chat("bob", "Bob", "hm"), "b1"),
    (mark("bob", 3), "b2"),
    (Disconnect("bob"), None),
    (mark("ann", 1), "a2"),
    (Chat("ann", "Ann", "your turn"), "a3"),
    (Connect("bob"), None),
    (mark("bob", 4), "b3"),
    (mark("ann", 2), "a4"),
    (Rematch("ann"), "a5"),
    (Rematch("bob"), "b4"),
    (Chat("bob", "Bob", "again"), "b5"),
]
ASKED = {
    "b1": Asked("b1", "chat", {"text": "hm"}),
    "b2": Asked("b2", "game_event", {"event": {"type": "mark", "cell": 3}}),
    "b3": Asked("b3", "game_event", {"event": {"type": "mark", "cell": 4}}),
    "b4": Asked("b4", "rematch", {}),
    "b5": Asked("b5", "chat", {"text": "again"}),
}


def told_history():
    rooms = [open_room(GAME, "ROOM", None, at(0))]
    steps = []
    for seq, (command, id) in enumerate(STORY, 1):
        room, step = apply(GAME, rooms[-1], command, at(seq), id=id)
        rooms.append(room)
        steps.append(step)
    return Kept("ROOM", GAME, steps, rooms)


KEPT = told_history()


def live(kept, first, last):
    return [Heard(name, payload) for seq in range(first, last + 1) for name, payload in kept.told(seq, "bob")]


def synced(kept, seq, **more):
    return Heard("sync", {**kept.sync(seq, "bob"), **more})


def missed(kept, after, until):
    return [Heard(*push) for seq in range(after + 1, until + 1) for push in kept.messages(seq, "bob")]


def honest(kept=KEPT):
    """Bob's diary: he comes, plays, is cut off before he is answered, comes back, asks again, goes on."""
    return [
        Joined(None, 4, 1),
        synced(kept, 4),
        ASKED["b1"],
        *live(kept, 5, 6),
        Answered("b1", 6),
        ASKED["b2"],
        *live(kept, 7, 7)[:1],  # cut in the middle of a step, which is therefore told again
        Cut(),
        Joined(6, 11, 1),
        *missed(kept, 6, 11),
        synced(kept, 11),
        ASKED["b2"],
        Answered("b2", 7),
        Asked("b0", "game_event", {"event": {"type": "mark", "cell": 0}}),
        Answered("b0", code="illegal_move"),
        ASKED["b3"],
        *live(kept, 12, 13),
        Answered("b3", 12),
        *live(kept, 14, 14),
        ASKED["b4"],
        *live(kept, 15, 15),
        Answered("b4", 15),
        ASKED["b5"],
        Cut(),
        Joined(15, 16, 0),
        *missed(kept, 15, 16),
        synced(kept, 16),
    ]


ANN = [
    Asked("a1", "game_event", {"event": {"type": "mark", "cell": 0}}),
    Asked("a2", "game_event", {"event": {"type": "mark", "cell": 1}}),
    Asked("a3", "chat", {"text": "your turn"}),
    Asked("a4", "game_event", {"event": {"type": "mark", "cell": 2}}),
    Asked("a5", "rematch", {}),
]


def kinds(entries, kept=KEPT):
    """The kinds of complaints about Bob's diary."""
    found = check_room(kept, [Diary("bob", "ROOM", entries), Diary("ann", "ROOM", ANN)])
    return {complaint.kind for complaint in found}


def index(entries, wanted):
    return next(number for number, entry in enumerate(entries) if wanted(entry))


def is_heard(name, seq):
    return lambda entry: isinstance(entry, Heard) and entry.name == name and entry.payload.get("seq") == seq


def replaced(entries, wanted, *others):
    """The diary with other entries in the place of one."""
    number = index(entries, wanted)
    return [*entries[:number], *others, *entries[number + 1 :]]


def changed(entries, wanted, **fields):
    heard = entries[index(entries, wanted)]
    return replaced(entries, wanted, Heard(heard.name, {**heard.payload, **fields}))


def truncated(last):
    """The journal after a crash that forgot the last steps."""
    return Kept("ROOM", GAME, KEPT.steps[:last], KEPT.rooms[: last + 1])


def test_an_honest_story_passes():
    assert kinds(honest()) == set()


def test_an_acknowledged_command_that_is_not_in_the_journal_is_found():
    assert "lost" in kinds([*honest(), Asked("b9", "chat", {"text": "x"}), Answered("b9", 17)])


def test_an_acknowledged_command_that_another_step_took_the_place_of_is_found():
    entries = replaced(honest(), lambda entry: entry == Answered("b2", 7), Answered("b2", 9))
    assert kinds(entries) == {"lost"}


def test_pushes_that_a_restart_forgot_are_found():
    assert "forgotten" in kinds(honest(), truncated(15))
    assert "forgotten" in kinds(honest()[:3] + live(KEPT, 5, 7), truncated(6))


def test_a_join_answered_with_a_step_that_is_not_there_is_found():
    assert "forgotten" in kinds([Joined(None, 17, 1)])


def test_two_different_answers_to_one_command_are_found():
    assert "two_answers" in kinds([*honest(), Answered("b2", 12)])


def test_a_refusal_after_an_acceptance_is_found():
    assert kinds([*honest(), Answered("b2", code="illegal_move")]) == {"two_answers"}


def test_a_refusal_before_an_acceptance_is_allowed():
    assert kinds([ASKED["b2"], Answered("b2", code="not_saved"), *honest()]) == set()


def test_a_command_that_was_refused_and_yet_done_is_found():
    entries = [entry for entry in honest() if entry != Answered("b3", 12)]
    assert kinds([*entries, Answered("b3", code="illegal_move")]) == {"refused"}


def test_a_command_that_was_done_twice_is_found():
    steps = list(KEPT.steps)
    steps[15] = msgspec.structs.replace(steps[15], id="b1")
    assert "doubled" in kinds(honest(), Kept("ROOM", GAME, steps, KEPT.rooms))


def test_a_command_that_was_done_otherwise_than_asked_is_found():
    entries = replaced(honest(), lambda entry: entry == ASKED["b3"], Asked("b3", "chat", {"text": "?"}))
    assert kinds(entries) == {"invented"}


def test_a_command_that_nobody_asked_is_found():
    entries = [entry for entry in honest() if entry != ASKED["b5"]]
    assert kinds(entries) == {"invented"}


@pytest.mark.parametrize(("name", "seq"), [("chat", 6), ("update", 5)])
def test_a_hole_in_what_is_told_live_is_found(name, seq):
    assert kinds(replaced(honest(), is_heard(name, seq))) == {"hole"}


def test_a_hole_on_coming_back_is_found():
    assert kinds(replaced(honest(), is_heard("chat", 10))) == {"hole"}


def test_a_push_that_is_told_twice_is_found():
    entries = honest()
    again = entries[index(entries, is_heard("update", 5))]
    assert kinds(replaced(entries, is_heard("update", 5), again, again)) == {"twice"}


def test_a_missed_push_that_is_told_twice_is_found():
    entries = honest()
    again = entries[index(entries, is_heard("chat", 10))]
    assert kinds(replaced(entries, is_heard("chat", 10), again, again)) == {"twice"}


def test_a_message_that_says_something_else_than_the_journal_is_found():
    assert kinds(changed(honest(), is_heard("chat", 6), text="hmm")) == {"content"}


def test_a_view_that_replaying_does_not_give_is_found():
    view = {**KEPT.view(12, "bob"), "cells": "XXOOO...."}
    assert kinds(changed(honest(), is_heard("update", 12), view=view)) == {"content"}
    assert kinds(changed(honest(), is_heard("sync", 11), view=view)) == {"content"}


def test_a_reset_without_need_is_found():
    assert kinds(changed(honest(), is_heard("sync", 11), reset=True)) == {"reset"}


def test_a_reset_after_a_new_seat_is_allowed():
    entries = [Joined(13, 15, 0), synced(KEPT, 15, reset=True)]
    assert kinds([*honest(), Cut(), *entries]) == set()


def test_an_answer_before_its_step_is_told_is_found():
    entries = honest()
    here = index(entries, is_heard("update", 12))
    assert kinds([*entries[:here], Answered("b3", 12), *entries[here:]]) == {"answer_first"}


def test_a_closed_door_is_found():
    assert kinds([*honest(), Cut(), ShutOut("room_damaged")]) == {"shut_out"}


# The journal itself.


def rows(**more):
    steps = [(step.seq, step.body, step.digest) for step in KEPT.steps]
    states = [(0, freeze(KEPT.rooms[0]), b""), (10, freeze(KEPT.rooms[10]), b"")]
    return Rows("ROOM", "tictactoe", **{"steps": steps, "states": states, **more})


def journal_kinds(rows):
    return {complaint.kind for complaint in rebuild(rows)[1]}


def test_a_whole_journal_passes():
    kept, complaints = rebuild(rows())
    assert kept is not None
    assert (kept.seq, complaints) == (16, [])


def test_a_gap_in_the_journal_is_found():
    assert journal_kinds(rows(steps=[row for row in rows().steps if row[0] != 9])) == {"journal"}


def test_a_changed_row_in_the_journal_is_found():
    steps = rows().steps
    steps[8] = (9, steps[8][1].replace(b"mark", b"mork"), steps[8][2])
    assert journal_kinds(rows(steps=steps)) == {"journal"}


def test_a_stored_state_that_replaying_does_not_give_is_found():
    states = [rows().states[0], (10, freeze(KEPT.rooms[9]), b"")]
    assert journal_kinds(rows(states=states)) == {"state"}


def test_a_room_that_is_gone_is_found(tmp_path):
    with closing(sqlite3.connect(tmp_path / "parlour.db")) as db:
        db.execute("CREATE TABLE rooms (number, id, card)")
    verdict = check(tmp_path / "parlour.db", [Diary("bob", "ROOM", honest())])
    assert {complaint.kind for complaint in verdict.complaints} == {"forgotten"}
