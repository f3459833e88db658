"""Think, write, speak: what clients see of a room's steps, and in which order."""

import msgspec
import pytest

from parlour.errors import Refused
from parlour.game import Joined, Later, Outcome, Send, State, Update
from parlour.games import GAMES
from parlour.journal.base import NotKept
from parlour.journal.memory import MemoryJournal
from tests.probe import Ping, Probe
from tests.server.world import World

PLAYABLE = {**GAMES, "probe": Probe()}


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        yield world


def seqs(person):
    return [payload["seq"] for name, payload in person.heard("update", "sync")]


# Coming in.


async def test_a_join_is_answered_then_synced_before_anything_else(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    assert [frame[3] for frame in ann.frames] == ["phx_reply", "sync", "presence_state"]
    assert ann.frames[0][4]["response"] == {"player": "ann", "game": "probe", "seq": 2, "seat": 0}
    assert ann.frames[1][4] == {"seq": 2, "view": {"calls": 1, "you": "ann"}}


async def test_somebody_who_came_without_a_token_is_given_one_with_the_first_join(world):
    await world.open("probe")
    ann = await world.person("ann")
    ann.client.token = "new-token"
    assert (await ann.join("ABCD"))[1]["token"] == "new-token"
    assert "token" not in (await ann.join("ABCD"))[1]


async def test_joining_again_changes_nothing(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    before = world.room()
    assert (await ann.join("ABCD"))[0] == "ok"
    assert world.room() is before


async def test_a_spectator_who_joins_again_for_a_seat_hears_the_answer_first(world):
    await world.open("probe")
    ann = await world.person("ann")
    await ann.join("ABCD", spectate=True)
    ann.forget()
    await ann.join("ABCD")
    assert [frame[3] for frame in ann.frames] == ["phx_close", "phx_reply", "sync", "presence_state"]


async def test_a_refused_join_says_why_and_leaves_no_trace(world):
    await world.open("probe")
    banned = await world.person("banned")
    status, why = await banned.join("ABCD")
    assert (status, why["code"]) == ("error", "banned")
    assert world.room().seq == 0


@pytest.mark.parametrize("room", ["NONE", "no such room", "x" * 10_000])
async def test_an_unknown_room_is_refused(world, room):
    ann = await world.person("ann")
    status, why = await ann.join(room)
    assert (status, why["code"]) == ("error", "unknown_room")
    assert not world.host.keeper._rooms


async def test_spectators_see_without_a_seat_and_do_not_count_as_steps(world):
    await world.open("probe")
    await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    status, answer = await zoe.join("ABCD", spectate=True)
    assert (status, answer["seat"], answer["seq"]) == ("ok", None, 4)
    assert zoe.heard("sync")[0][1]["view"]["you"] is None
    assert world.room().seq == 4


async def test_no_more_people_watch_than_the_game_allows(world):
    await world.open("probe")
    people = [await world.person(name) for name in ("zoe", "yan", "xia")]
    answers = [await person.join("ABCD", spectate=True) for person in people]
    assert [status for status, _ in answers] == ["ok", "ok", "error"]
    assert answers[2][1]["code"] == "game_full"
    assert (await people[0].join("ABCD", spectate=True))[0] == "ok"


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
            assert len(await again.journal.open_rooms(10)) == 1


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
    status, why = await bob.push("ABCD", "leave", {})
    assert (status, why["code"]) == ("error", "game_error")
    assert world.room().seat("bob") is None


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


# Coming and going.


async def test_a_player_is_connected_while_any_of_their_tabs_is(world):
    await world.open("probe")
    (first,) = await world.seated("ABCD", "ann")
    second = await world.person("ann")
    await second.join("ABCD")
    assert world.room().seq == 2
    await first.drop()
    assert world.room().connected == ["ann"]
    assert (await second.play("ABCD", {"type": "tell"}))[0] == "ok"
    await second.drop()
    assert world.room().connected == []


async def test_both_tabs_hear_everything(world):
    await world.open("probe")
    (first,) = await world.seated("ABCD", "ann")
    second = await world.person("ann")
    await second.join("ABCD")
    await first.play("ABCD", {"type": "tell", "to": "player:ann", "words": ["x"]})
    assert first.heard("game_event")[-1] == second.heard("game_event")[-1]


async def test_phx_leave_closes_only_the_subscription(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await bob.push("ABCD", "phx_leave", {})
    assert bob.frames[-1][3] == "phx_close"
    assert world.room().connected == ["ann"]
    assert world.room().seat("bob") is not None


async def test_whoever_gives_their_seat_up_goes_on_watching(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    bob.forget()
    assert (await bob.push("ABCD", "leave", {}))[0] == "ok"
    name, payload = bob.heard("sync")[-1]
    assert payload["view"]["you"] is None
    assert payload["reset"]
    await ann.play("ABCD", {"type": "tell", "to": "players", "words": ["secret"]})
    assert "secret" not in [payload["payload"] for _, payload in bob.heard("game_event")]
    assert (await bob.play("ABCD", {"type": "tell"}))[1]["code"] == "not_seated"


async def test_a_spectator_who_takes_a_seat_sees_with_the_seats_eyes_in_every_tab(world):
    await world.open("probe")
    watching = await world.person("ann")
    await watching.join("ABCD", spectate=True)
    await world.seated("ABCD", "ann")
    assert watching.heard("sync")[-1][1]["view"]["you"] == "ann"


async def test_the_end_of_a_room_is_told_and_closes_the_channel(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "finish", "after": 1})
    await world.wait(1)
    assert ("shutdown", {"reason": "game_ended"}) in bob.heard("shutdown")
    assert bob.frames[-1][3] == "phx_close"
    assert (await bob.join("ABCD"))[1]["code"] == "room_ended"
    await world.open("probe")  # the id is free again
    assert (await bob.join("ABCD"))[0] == "ok"


async def test_events_before_joining_are_refused(world):
    await world.open("probe")
    ann = await world.person("ann")
    assert (await ann.play("ABCD", {"type": "tell"}))[1]["code"] == "not_joined"


# Coming back.


async def test_whoever_returns_hears_what_they_missed_once_and_then_the_whole(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "tell", "words": ["before"]})
    since = seqs(bob)[-1]
    await bob.drop()
    await ann.play("ABCD", {"type": "tell", "words": ["one"]})
    await ann.play("ABCD", {"type": "tell", "to": "player:ann", "words": ["not for bob"]})
    await ann.play("ABCD", {"type": "tell", "to": "player:bob", "words": ["for bob"]})
    await ann.push("ABCD", "chat", {"text": "hello?"})
    back = await world.person("bob")
    await back.join("ABCD", since=since)
    told = [(name, p.get("payload", p.get("text"))) for name, p in back.heard("game_event", "chat")]
    assert told == [("game_event", "one"), ("game_event", "for bob"), ("chat", "hello?")]
    names = [frame[3] for frame in back.frames]
    assert names == ["phx_reply", "game_event", "game_event", "chat", "sync", "presence_state"]
    assert "reset" not in back.heard("sync")[0][1]
    assert back.heard("sync")[0][1]["seq"] == world.room().seq


async def test_whoever_missed_nothing_gets_only_the_sync(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    again = await world.person("bob")
    await again.join("ABCD", since=seqs(bob)[-1])
    assert [frame[3] for frame in again.frames] == ["phx_reply", "sync", "presence_state"]


@pytest.mark.parametrize("since", [-1, 99, 10**9])
async def test_an_unknown_since_gets_only_the_whole_marked_reset(world, since):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    again = await world.person("ann")
    await again.join("ABCD", since=since)
    assert again.heard("game_event") == []
    assert again.heard("sync")[0][1]["reset"] is True


async def test_after_more_than_a_hundred_steps_only_the_whole_is_told(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    since = seqs(bob)[-1]
    for _ in range(99):
        await ann.play("ABCD", {"type": "tell"})
    await bob.drop()  # the hundredth step
    back = await world.person("bob")
    await back.join("ABCD", since=since)  # connecting is one more
    assert back.heard("game_event") == []
    assert back.heard("sync")[0][1]["reset"] is True
    again = await world.person("bob")
    await again.join("ABCD", since=since + 1)
    assert len(again.heard("game_event")) == 98


async def test_whoever_had_other_eyes_in_between_gets_only_the_whole(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    since = seqs(bob)[-1]
    await bob.push("ABCD", "leave", {})
    await bob.drop()
    back = await world.person("bob")
    await back.join("ABCD", since=since)
    assert back.heard("game_event") == []
    assert back.heard("sync")[0][1]["reset"] is True


# Asking for several things at once.


async def test_a_join_that_was_refused_does_not_hide_the_next_one(world):
    await world.open("tictactoe")
    await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    zoe.send_soon('["1","1","game:ABCD","phx_join",{}]')
    zoe.send_soon('["2","2","game:ABCD","phx_join",{"spectate":true}]')
    await world.quiet()
    live = world.host.keeper.peek("ABCD")
    assert "zoe" in live.audience.spectators
    await zoe.drop()
    assert "zoe" not in live.audience.spectators


async def test_whoever_is_gone_before_their_join_is_done_is_not_left_behind(world):
    await world.open("probe")
    ann = await world.person("ann")
    ann.send_soon('["1","1","game:ABCD","phx_join",{}]')
    world.host.gone(ann.client)
    await world.quiet()
    assert world.room().connected == []
    assert len(world.host.keeper.peek("ABCD").audience) == 0


async def test_between_two_joins_of_one_topic_nothing_is_told_that_the_second_tells_again(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    since = seqs(bob)[-1]
    bob.forget()
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"tell"}}]')
    bob.send_soon(f'["2","2","game:ABCD","phx_join",{{"since":{since}}}]')
    await world.quiet()
    names = [frame[3] for frame in bob.frames]
    assert names == ["phx_close", "phx_reply", "game_event", "sync", "presence_state"]


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
    ann.client.name = "Anna"
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

    async def append(self, room, step, aside):
        if self.mode == "lost":
            raise NotKept("disk full")
        await super().append(room, step, aside)
        if self.mode == "kept":
            raise NotKept("connection lost during the commit")


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
        assert (await ann.play("ABCD", {"type": "tell"}, id="a"))[0] == "error"
        assert bob.closed == (1012, "come again")
        journal.mode = ""
        ann = await world.person("ann")
        await ann.join("ABCD")
        assert await ann.play("ABCD", {"type": "tell"}, id="a") == ("ok", {"seq": 5})


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


# Rematch.


class Teams(Probe):
    """Each seat has a topic of its own, and a secret is told to it when the game begins."""

    name = "teams"

    def join_game(self, state, player, spectate, moment):
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None:
            return joined
        secret = Send(f"team:{joined.seat}", f"for seat {joined.seat}")
        return Joined((f"team:{joined.seat}",), joined.seat, Update(joined.update.state, (secret,)))


async def test_after_a_rematch_everybody_hears_the_topics_of_their_new_seat_and_no_others(tmp_path):
    async with World({"teams": Teams()}) as world:
        await world.open("teams")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        since = seqs(bob)[-1]
        await ann.play("ABCD", {"type": "win"})
        await ann.push("ABCD", "rematch", {})
        ann.forget()
        bob.forget()
        await bob.push("ABCD", "rematch", {})
        await ann.play("ABCD", {"type": "tell", "to": "team:0", "words": ["for bob's new seat"]})

        def heard(person):
            return [payload["payload"] for _, payload in person.heard("game_event")]

        assert heard(ann) == ["for seat 1"]
        assert heard(bob) == ["for seat 0", "for bob's new seat"]
        back = await world.person("bob")
        await back.join("ABCD", since=since)
        assert heard(back) == []
        assert back.heard("sync")[0][1]["reset"] is True


async def test_an_outcome_that_is_taken_back_is_told(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "win"})
    await ann.play("ABCD", {"type": "win"})
    assert ann.heard("update")[-1][1]["result"] is None


# Restarts and rests.


async def test_after_a_restart_the_game_goes_on_and_nobody_was_thrown_out_by_it(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "mark", "cell": 4}, id="m1")
    since = seqs(bob)[-1]
    async with await world.restart() as again:
        assert again.room().connected == []
        ann, bob = await again.person("ann"), await again.person("bob")
        await bob.join("ABCD", since=since)
        assert bob.heard("sync")[0][1]["view"]["cells"] == "....X...."
        await ann.join("ABCD")
        assert (await ann.play("ABCD", {"type": "mark", "cell": 4}, id="m1"))[1] == {"seq": 5}
        assert (await bob.play("ABCD", {"type": "mark", "cell": 0}))[0] == "ok"


async def test_the_rooms_clock_stands_still_while_the_server_is_down(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 50})
    await world.wait(20)
    async with await world.restart() as again:
        assert again.clock.now() == world.clock.now()
        await again.wait(29)
        assert "later:bell" in again.room().alarms
        await again.wait(1)
        assert "rang bell" in again.room().state.calls


async def test_a_room_that_nobody_hears_leaves_memory_and_comes_back_when_somebody_knocks(world):
    await world.open("tictactoe")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await zoe.drop()
    await world.wait(60)
    assert world.host.keeper.peek("ABCD") is None
    await world.seated("ABCD", "ann")
    assert world.room().seq == 2


async def test_a_resting_room_is_woken_when_its_timer_is_due(world):
    await world.open("probe")
    await world.wait(0)
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await zoe.drop()
    await world.wait(100)
    assert world.host.keeper.peek("ABCD") is None
    await world.wait(199)
    await world.wait(2)
    found = await world.journal.find("ABCD")
    assert found.card.ended == "game_timeout"


async def test_a_room_whose_game_is_gone_refuses_but_stays(world):
    await world.open("probe")
    await world.seated("ABCD", "ann")
    async with await world.restart(GAMES) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "unknown_game"
        async with await again.restart(PLAYABLE) as back:
            ann = await back.person("ann")
            assert (await ann.join("ABCD"))[0] == "ok"


async def test_a_room_that_new_rules_would_play_differently_is_closed_and_stays_readable(world):
    class Louder(Probe):
        version = 2

        def leave_game(self, state, player, why, moment):
            return super().player_disconnected(state, player, moment)

    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await bob.push("ABCD", "leave", {})
    async with await world.restart({"probe": Louder()}) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] in {"rules_changed", "room_ended"}
        found = await again.journal.find("ABCD")
        assert found.card.ended == "rules_changed"
        assert len([step async for step in again.journal.replay(found.number)]) == 5


async def test_a_game_with_a_bug_closes_no_room_for_good(world):
    class Buggy(Probe):
        def player_connected(self, state, player, moment):
            raise RuntimeError("a typo")

    await world.open("probe")
    await world.seated("ABCD", "ann")
    async with await world.restart({"probe": Buggy()}) as buggy:
        ann = await buggy.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "game_error"
        async with await buggy.restart(PLAYABLE) as mended:
            await mended.seated("ABCD", "ann")


async def test_new_rules_that_play_the_same_go_on(world):
    class Newer(Probe):
        version = 2

    await world.open("probe")
    await world.seated("ABCD", "ann", "bob")
    async with await world.restart({"probe": Newer()}) as again:
        await again.seated("ABCD", "ann")


async def test_knocking_on_a_room_that_is_not_there_yet_does_not_stop_its_timers_later(world):
    ann = await world.person("ann")
    await ann.join("LATE")
    await world.open("probe", "LATE")
    await world.wait(300)
    assert (await world.journal.find("LATE")).card.ended == "game_timeout"


async def test_a_stored_state_that_the_game_cannot_read_closes_the_room(world):
    class Other(State, frozen=True):
        colour: str

    class Painted(Probe):
        State = Other  # type: ignore[assignment]

    await world.open("probe")
    async with await world.restart({"probe": Painted()}) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "rules_changed"


async def test_whoever_waits_comes_before_the_next_tick(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    for n in range(5):
        await ann.play("ABCD", {"type": "plan", "key": f"bell {n}", "seconds": 1})
    ann.forget()
    world.clock.time += 10  # all five are late
    while world.clock.turn_to_next(world.clock.time):
        pass
    ann.send_soon('["1","99","game:ABCD","chat",{"text":"hello"}]')
    await world.quiet()
    assert [name for name, _ in ann.heard("game_event", "chat")] == ["game_event", "chat"]
    await world.wait(0)
    assert [name for name, _ in ann.heard("game_event")] == ["game_event"] * 5


async def test_what_is_here_after_a_restart_is_told_under_new_refs(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await world.wait(1)
    async with await world.restart() as again:
        (back,) = await again.seated("ABCD", "ann")

        def refs(person):
            state = person.heard("presence_state")[0][1]
            return {meta["phx_ref"] for entry in state.values() for meta in entry["metas"]}

        assert not refs(ann) & refs(back)


# Presence and the lobby.


async def test_presence_lists_seats_one_by_one_and_spectators_as_a_number(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await world.wait(1)
    late = await world.person("ann")
    await late.join("ABCD")
    state = late.heard("presence_state")[0][1]
    assert set(state) == {"ann", "bob", "spectators"}
    assert [meta["seat"] for meta in state["ann"]["metas"]] == [0, 0]
    assert len({meta["phx_ref"] for meta in state["ann"]["metas"]}) == 2
    assert state["spectators"]["metas"][0]["count"] == 1


async def test_a_difference_of_presence_names_only_what_changed(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    ann.forget()
    await bob.drop()
    (diff,) = [payload for _, payload in ann.heard("presence_diff")]
    assert list(diff["leaves"]) == ["bob"]
    assert diff["joins"] == {}


async def test_the_number_of_spectators_is_told_at_most_once_a_second(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await world.wait(2)
    ann.forget()
    for name in ("a", "b", "c", "d", "e"):
        await (await world.person(name)).join("ABCD", spectate=True)
    counts = [d["joins"]["spectators"]["metas"][0]["count"] for _, d in ann.heard("presence_diff")]
    assert counts == [1]
    await world.wait(1)
    counts = [d["joins"]["spectators"]["metas"][0]["count"] for _, d in ann.heard("presence_diff")]
    assert counts == [1, 5]


async def test_the_lobby_hears_of_open_rooms_but_not_of_private_ones(world):
    ann = await world.person("ann")
    await ann.send(["1", "1", "lobby", "phx_join", {}])
    assert ann.heard("rooms") == [("rooms", {"rooms": []})]
    await world.open("probe", "SECR", private=True)
    await world.wait(1)
    assert len(ann.heard("rooms")) == 1
    await world.open("probe", "OPEN")
    await world.open("probe", "SOME")
    await world.wait(1)
    assert [room["id"] for room in ann.heard("rooms")[-1][1]["rooms"]] == ["SOME", "OPEN"]
    assert len(ann.heard("rooms")) == 2


# Readers that do not read.


async def test_a_spectator_who_does_not_read_skips_to_the_newest(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    zoe.forget()
    zoe.clogged = True
    for _ in range(5):
        await ann.play("ABCD", {"type": "tell"})
    assert zoe.frames == []
    zoe.clogged = False
    world.host.catch_up(zoe.client)
    await world.quiet()
    assert [(name, p["seq"], p.get("reset")) for name, p in zoe.heard("sync", "update")] == [
        ("sync", 7, True)
    ]
    await ann.play("ABCD", {"type": "tell"})
    assert seqs(zoe) == [7, 8]


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "a\u202eb", "zero\u200bwidth", "x" * 501])
async def test_chat_that_nobody_could_read_is_refused(world, text):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    assert (await ann.push("ABCD", "chat", {"text": text}))[1]["code"] == "invalid_text"
