"""Think, write, speak: what clients see of a room's steps, in which order, and what is refused."""

import msgspec
import pytest
from structlog.testing import capture_logs

from parlour.errors import Refused
from parlour.game import Later, Outcome, Send, Update
from parlour.journal.base import NotKept, Player, RoomQuery
from parlour.journal.memory import MemoryJournal
from parlour.server import metrics
from parlour.server.sessions import player_record
from tests.probe import Ping, Probe
from tests.server.world import PLAYABLE, World, seqs

# Steps, as each viewer sees them.


async def test_every_viewer_gets_exactly_one_update_for_every_step(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await ann.play("ABCD", {"type": "tell", "to": "player:bob", "words": ["psst"]})
    await bob.push("ABCD", "chat", {"text": "what?"})
    assert seqs(ann) == [2, 3, 4, 5, 6]
    assert seqs(bob) == [4, 5, 6]
    assert seqs(zoe) == [4, 5, 6]


async def test_only_those_who_hear_a_topic_are_told(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    for to in ("player:bob", "players", "audience", "all", "team:red"):
        await ann.play("ABCD", {"type": "tell", "to": to, "words": [to]})

    def heard(person):
        return [payload["payload"] for _, payload in person.heard("game_event") if payload["seq"] > 4]

    assert heard(ann) == ["players", "all"]
    assert heard(bob) == ["player:bob", "players", "all"]
    assert heard(zoe) == ["audience", "all"]


async def test_the_pushes_of_a_step_go_out_before_the_answer_to_the_one_who_asked(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    ann.forget()
    await ann.play("ABCD", {"type": "tell", "words": ["a", "b"]})
    assert [frame[3] for frame in ann.frames] == ["game_event", "game_event", "update", "phx_reply"]


async def test_an_update_has_a_view_only_when_it_shows_something_new(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    ann.forget()
    await ann.push("ABCD", "chat", {"text": "hello"})
    await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 1})
    await ann.play("ABCD", {"type": "tell"})
    assert ["view" in payload for _, payload in ann.heard("update")] == [False, False, True]


async def test_a_game_can_send_everyone_their_whole_view(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    bob.forget()
    await ann.play("ABCD", {"type": "resync"})
    assert bob.heard("sync", "update") == [
        ("sync", {"seq": 5, "view": {"calls": 2, "you": "bob"}}),
        ("update", {"seq": 5}),
    ]


async def test_the_outcome_comes_with_the_seed_and_the_hash_of_the_next(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "win"})
    result = ann.heard("update")[-1][1]["result"]
    assert result["outcome"] == {"drew": ["ann"], "why": "enough"}
    assert result["seed"] == world.room().shown[0].seed.hex()
    assert result["seed_hash"] == world.room().seed_hash
    later = await world.person("zoe")
    await later.join("ABCD", spectate=True)
    assert later.heard("sync")[0][1]["result"] == result


# Refusals.


async def test_a_refusal_has_a_code_a_sentence_and_what_would_be_legal(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    status, why = await bob.play("ABCD", {"type": "mark", "cell": 4})
    assert (status, why["code"], why["message"]) == ("error", "illegal_move", "cell 4 is taken")
    assert {"type": "mark", "cell": 0} in why["legal"]
    assert len(why["legal"]) == 8


async def test_a_bug_in_a_game_costs_one_command_and_tells_no_secret(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    before = world.room()
    status, why = await ann.play("ABCD", {"type": "crash"})
    assert (status, why["code"]) == ("error", "game_error")
    assert why["message"] == "Probe failed on this; nothing changed"
    assert world.room() is before
    assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"


async def test_a_view_that_fails_costs_the_command_that_would_have_to_be_shown(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    before = world.room()
    assert (await ann.play("ABCD", {"type": "break", "callbacks": ["view"]}))[1]["code"] == "game_error"
    assert world.room() is before


class Untidy(Probe):
    """Returns what it must not, on demand."""

    name = "untidy"
    wrong = ""

    def handle_event(self, state, sender, event, moment):
        match self.wrong:
            case "topic":
                return Update(state, (Send(("player", sender), "hi"),))  # type: ignore[arg-type]
            case "timer":
                return Update(state, (Later("t", float("inf"), Ping("t")),))
            case "payload":
                return Update(state, (Send("all", object()),))
            case _:
                return super().handle_event(state, sender, event, moment)

    def outcome(self, state):
        return Outcome(won="ann") if state.over else None  # type: ignore[arg-type]

    def legal_events(self, state, player):
        yield object()


@pytest.mark.parametrize("wrong", ["topic", "timer", "payload", "outcome"])
async def test_what_a_game_returns_and_no_journal_could_read_costs_one_command(wrong):
    untidy = Untidy()
    async with World({"untidy": untidy}) as world:
        await world.open("untidy")
        (ann,) = await world.seated("ABCD", "ann")
        untidy.wrong = wrong
        assert (await ann.play("ABCD", {"type": "win"}))[1]["code"] == "game_error"
        untidy.wrong = ""
        assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"
        refused = {"code": "no_thanks", "message": "not like this", "reason": "no_thanks"}
        assert (await ann.play("ABCD", {"type": "refuse"}))[1] == refused
        async with await world.restart() as again:
            await again.seated("ABCD", "ann")
            assert len(await again.journal.rooms(RoomQuery())) == 1


async def test_a_state_that_cannot_be_stored_does_not_keep_others_from_being_stored():
    class Secretive(Probe):
        name = "secretive"

        def player_connected(self, state, player, moment):
            return Update(msgspec.structs.replace(state, calls=(object(),)))

    async with World({**PLAYABLE, "secretive": Secretive()}) as world:
        await world.open("secretive")
        await world.open("probe", "FINE")
        await world.seated("ABCD", "ann")
        await world.seated("FINE", "bob")
    await world.journal.open()
    found = await world.journal.find("FINE")
    assert found is not None
    assert (await world.journal.stored(found.number)).seq == 2


async def test_the_legal_events_of_one_player_are_not_told_to_another():
    shared = Refused("no", "never")

    class Sharing(Probe):
        name = "sharing"

        def handle_event(self, state, sender, event, moment):
            raise shared

        def legal_events(self, state, player):
            return [player] if player == "ann" else None

    async with World({"sharing": Sharing()}) as world:
        await world.open("sharing")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        assert (await ann.play("ABCD", {"type": "tell"}))[1]["legal"] == ["ann"]
        assert "legal" not in (await bob.play("ABCD", {"type": "tell"}))[1]


async def test_a_bug_on_leaving_does_not_keep_the_seat_but_is_told_to_whoever_left(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "break", "callbacks": ["leave_game"]})
    status, answer = await bob.push("ABCD", "leave", {"id": "bye"})
    assert (status, answer["seq"], answer["warning"]["code"]) == ("ok", world.room().seq, "game_error")
    assert answer["warning"]["message"] == "Probe failed on this; it was done without the game"
    assert world.room().seat("bob") is None
    assert await bob.push("ABCD", "leave", {"id": "bye"}) == ("ok", {"seq": answer["seq"]})


async def test_a_leave_that_a_game_refuses_happens_all_the_same_and_its_reason_is_told():
    class Sticky(Probe):
        name = "sticky"

        def leave_game(self, state, player, why, moment):
            raise Refused("stay", "one more game?")

    async with World({"sticky": Sticky()}) as world:
        await world.open("sticky")
        ann, _ = await world.seated("ABCD", "ann", "bob")
        status, answer = await ann.push("ABCD", "leave", {})
        assert (status, answer["warning"]["message"]) == ("ok", "one more game?")
        assert world.room().seat("ann") is None


async def test_a_spectators_leave_is_refused_like_any_other_wish_and_counted(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.push("ABCD", "leave", {})
    refused = metrics.refusals.labels("probe", "not_seated")._value
    before, seq = refused.get(), world.room().seq
    with capture_logs() as logs:
        status, why = await ann.push("ABCD", "leave", {})
    assert (status, why["code"]) == ("error", "not_seated")
    assert (refused.get(), world.room().seq) == (before + 1, seq)
    assert "done_without_the_game" not in [line["event"] for line in logs]


async def test_a_bug_on_disconnecting_still_disconnects_and_starts_the_clock(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "break", "callbacks": ["player_disconnected"]})
    await bob.drop()
    assert world.room().connected == ["ann"]
    await world.wait(120)
    assert world.room().seat("bob") is None


async def test_a_bug_on_a_timer_uses_the_timer_up(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 5})
    await ann.play("ABCD", {"type": "break", "callbacks": ["timer"]})
    await world.wait(5)
    assert "later:bell" not in world.room().alarms


async def test_a_bug_on_connecting_refuses_the_join_and_keeps_the_seat(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await bob.drop()
    await ann.play("ABCD", {"type": "break", "callbacks": ["player_connected"]})
    back = await world.person("bob")
    assert (await back.join("ABCD"))[1]["code"] == "game_error"
    assert world.room().connected == ["ann"]
    assert world.room().seat("bob") is not None


async def test_a_config_that_makes_init_crash_is_refused_and_hurts_nobody(world):
    await world.open("probe", "GOOD")
    with pytest.raises(Exception, match="game_error"):
        await world.open("probe", "EVIL", {"size": 2000})
    assert await world.journal.find("EVIL") is None
    await world.seated("GOOD", "ann")


# Positions that are not there any more.


async def test_of_two_tabs_that_play_the_same_turn_the_later_is_told_how_things_are(world):
    await world.open("tictactoe")
    ann, _ = await world.seated("ABCD", "ann", "bob")
    tab = await world.person("ann")
    await tab.join("ABCD", format="scene")
    seq = world.room().seq
    ann.forget()
    async with world.at_once():
        for who, cell in ((tab, 4), (ann, 0)):
            frame = [
                None,
                "x",
                "game:ABCD",
                "game_event",
                {"event": {"type": "mark", "cell": cell}, "seq": seq},
            ]
            who.send_soon(msgspec.json.encode(frame).decode())
    assert [frame[3] for frame in ann.frames] == ["game_event", "update", "sync", "phx_reply"]
    assert ann.frames[-1][4]["response"]["code"] == "stale"
    assert ann.heard("sync")[0][1]["view"]["cells"] == "....X...."
    assert world.room().seq == seq + 1


async def test_only_what_somebody_sees_makes_their_position_stale(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    seq = world.room().seq
    await bob.push("ABCD", "chat", {"text": "hello"})
    await bob.play("ABCD", {"type": "plan", "key": "bell", "seconds": 5})
    fresh = {"event": {"type": "tell"}, "seq": seq}
    assert (await ann.push("ABCD", "game_event", fresh))[0] == "ok"
    assert (await ann.push("ABCD", "game_event", fresh))[1]["code"] == "stale"
    assert (await bob.push("ABCD", "game_event", {**fresh, "seq": world.room().seq}))[0] == "ok"


async def test_a_position_from_before_a_restart_is_stale_unless_it_was_seen_again(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "tell"}, id="a")
    async with await world.restart() as again:
        (ann,) = await again.seated("ABCD", "ann")
        event = {"event": {"type": "tell"}}
        assert (await ann.push("ABCD", "game_event", {**event, "seq": 2}))[1]["code"] == "stale"
        assert await ann.push("ABCD", "game_event", {**event, "seq": 2, "id": "a"}) == ("ok", {"seq": 3})
        assert (await ann.push("ABCD", "game_event", {**event, "seq": again.room().seq}))[0] == "ok"


# Commands with an id.


async def test_an_accepted_command_sent_again_gets_the_same_answer_and_no_second_step(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    first = await ann.play("ABCD", {"type": "tell"}, id="a1")
    assert first == ("ok", {"seq": 3})
    assert await ann.play("ABCD", {"type": "tell"}, id="a1") == first
    assert world.room().seq == 3


async def test_the_same_id_is_another_command_for_another_player(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    assert (await ann.play("ABCD", {"type": "tell"}, id="x"))[1]["seq"] == 5
    assert (await bob.play("ABCD", {"type": "tell"}, id="x"))[1]["seq"] == 6


async def test_an_id_cannot_be_used_for_another_command(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "tell"}, id="a1")
    assert (await ann.play("ABCD", {"type": "draw"}, id="a1"))[1]["code"] == "id_reused"


async def test_a_chat_sent_again_under_a_new_name_is_the_same_chat(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    first = await ann.push("ABCD", "chat", {"text": "hi", "id": "c"})
    await world.journal.keep(player_record(Player("ann", "Anna"), world.clock.now()))
    await ann.join("ABCD")
    assert await ann.push("ABCD", "chat", {"text": "hi", "id": "c"}) == first


async def test_a_refusal_is_not_remembered(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    move = {"type": "mark", "cell": 0}
    assert (await bob.play("ABCD", move, id="m"))[1]["code"] == "not_your_turn"
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    assert (await bob.play("ABCD", move, id="m"))[0] == "ok"


async def test_an_id_of_a_kilobyte_is_refused(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    why = (await ann.play("ABCD", {"type": "tell"}, id="x" * 1000))[1]
    assert (why["code"], why["path"]) == ("malformed", "$.id")


# The journal is right.


class Unreliable(MemoryJournal):
    """A journal that fails when told to; afterwards the step is there or not."""

    mode = ""

    def append(self, room, steps, writes, kept):
        if self.mode == "lost":
            kept(NotKept("disk full"))
            return
        late = NotKept("connection lost during the commit")
        super().append(room, steps, writes, (lambda _: kept(late)) if self.mode == "kept" else kept)


async def test_a_step_that_could_not_be_kept_did_not_happen_and_nobody_saw_it(tmp_path):
    journal = Unreliable(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        bob.forget()
        journal.mode = "lost"
        status, why = await ann.play("ABCD", {"type": "tell"})
        assert (status, why["code"]) == ("error", "not_saved")
        assert bob.frames == []
        journal.mode = ""
        assert await ann.play("ABCD", {"type": "tell"}) == ("ok", {"seq": 5})
        assert seqs(bob) == [5]


async def test_a_step_that_was_kept_after_all_is_true_and_everybody_comes_again_to_see_it(tmp_path):
    journal = Unreliable(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        journal.mode = "kept"
        move = '{"event":{"type":"tell"},"id":"a"}'
        await ann.send(f'[null, "1", "game:ABCD", "game_event", {move}]')
        assert ann.closed == bob.closed == (1012, "come again")
        journal.mode = ""
        ann = await world.person("ann")
        await ann.join("ABCD")
        assert await ann.play("ABCD", {"type": "tell"}, id="a") == ("ok", {"seq": 5})


async def test_of_two_owners_of_a_room_the_one_who_writes_late_lets_go_and_everybody_comes_again(tmp_path):
    journal = MemoryJournal(tmp_path, "process")
    async with World(PLAYABLE, journal) as one, World(PLAYABLE, journal) as other:
        await one.open("tictactoe")
        ann, bob = await one.seated("ABCD", "ann", "bob")
        cid = await other.person("bob")
        await cid.join("ABCD")  # another owner loads the room, and writes who is there now
        bob.forget()
        await ann.send(["1", "9", "game:ABCD", "game_event", {"event": {"type": "mark", "cell": 4}}])
        assert (ann.closed, bob.closed, cid.closed) == ((1012, "come again"), (1012, "come again"), None)
        assert bob.frames == []
        steps = [step.seq async for step in journal.replay(1)]
        assert steps == list(range(1, len(steps) + 1))


async def test_a_disconnect_that_could_not_be_kept_is_tried_until_it_can(tmp_path):
    journal = Unreliable(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        journal.mode = "lost"
        await bob.drop()
        assert world.room().connected == ["ann", "bob"]
        journal.mode = ""
        await world.wait(1)
        assert world.room().connected == ["ann"]
