"""Coming in, going, coming back, sitting down again: who is in a room, and what they hear."""

from pathlib import Path

import pytest

from parlour.game import Joined, Send, Update
from parlour.games import GAMES
from parlour.journal.memory import MemoryJournal
from tests.probe import Probe
from tests.server.world import World, seqs

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


class Counting(Probe):
    """A game that counts how often it is asked whether somebody may join."""

    name = "counting"
    asked = 0

    def join_game(self, state, player, spectate, moment):
        Counting.asked += 1
        return super().join_game(state, player, spectate, moment)


class Noting(MemoryJournal):
    """A journal that notes the steps of each write."""

    def __init__(self) -> None:
        super().__init__(Path(), "process")
        self.writes: list[list[str]] = []

    def append(self, room, steps, writes, kept):
        self.writes.append([type(step.command).__name__ for step in steps])
        super().append(room, steps, writes, kept)


async def test_a_join_asks_the_game_once_and_keeps_both_its_steps_in_one_write():
    journal = Noting()
    async with World(games={"counting": Counting()}, journal=journal) as world:
        await world.open("counting")
        Counting.asked, journal.writes = 0, []
        ann, bob = await world.seated("ABCD", "ann", "bob")
        assert Counting.asked == 2
        assert journal.writes == [["Join", "Connect"]] * 2
        assert seqs(ann) == [2, 3, 4]


async def test_another_window_of_somebody_who_watches_gets_the_seat_too_when_they_sit_down(world):
    await world.open("probe")
    first, second = await world.person("ann"), await world.person("ann")
    await first.join("ABCD", spectate=True)
    assert first.heard("sync")[-1][1]["view"] == {"calls": 0, "you": None}
    await second.join("ABCD")
    assert first.heard("sync")[-1][1]["view"]["you"] == "ann"
    first.forget()
    await second.play("ABCD", {"type": "draw"})
    assert [payload["view"]["you"] for _, payload in first.heard("update")] == ["ann"]


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
    assert not world.server.rooms._rooms


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
    async with world.at_once():
        zoe.send_soon('["1","1","game:ABCD","phx_join",{}]')
        zoe.send_soon('["2","2","game:ABCD","phx_join",{"spectate":true}]')
    room = world.server.rooms.peek("ABCD")
    assert "zoe" in room._roster.spectators
    await zoe.drop()
    assert "zoe" not in room._roster.spectators


async def test_whoever_is_gone_before_their_join_is_done_is_not_left_behind(world):
    await world.open("probe")
    ann = await world.person("ann")
    async with world.at_once():
        ann.send_soon('["1","1","game:ABCD","phx_join",{}]')
        world.server.gateway.lose(ann.client)
    assert world.room().connected == []
    assert len(world.server.rooms.peek("ABCD")._roster) == 0


async def test_between_two_joins_of_one_topic_nothing_is_told_that_the_second_tells_again(world):
    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    since = seqs(bob)[-1]
    bob.forget()
    async with world.at_once():
        ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"tell"}}]')
        bob.send_soon(f'["2","2","game:ABCD","phx_join",{{"since":{since}}}]')
    names = [frame[3] for frame in bob.frames]
    assert names == ["phx_close", "phx_reply", "game_event", "sync", "presence_state"]


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


# Readers that do not read.


async def test_a_spectator_who_does_not_read_skips_to_the_newest(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    zoe.forget()
    zoe.stop_reading()
    for _ in range(5):
        await ann.play("ABCD", {"type": "tell"})
    assert zoe.frames == []
    await zoe.read_again()
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


async def test_everybody_sees_who_has_asked_for_a_rematch(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        await (ann, bob)[turn % 2].play("ABCD", {"type": "mark", "cell": cell})
    bob.forget()
    await ann.push("ABCD", "rematch", {})
    ((_, diff),) = bob.heard("presence_diff")
    assert [meta.get("again") for meta in diff["joins"]["ann"]["metas"]] == [True]
    bob.forget()
    await bob.push("ABCD", "rematch", {})
    ((_, diff),) = bob.heard("presence_diff")
    metas = [meta for key in ("ann", "bob") for meta in diff["joins"][key]["metas"]]
    assert [(meta["seat"], meta.get("again")) for meta in metas] == [(1, None), (0, None)]


# What the game says to whoever connects.


class Polite(Probe):
    """Greets everybody who connects, and tells the others."""

    name = "polite"

    def player_connected(self, state, player, moment):
        sends = (
            Send(f"player:{player}", "welcome"),
            Send("all", f"{player} is here"),
            Send("audience", "psst"),
        )
        return Update(state.note(f"connected {player}"), sends)


@pytest.fixture
async def polite():
    async with World({"polite": Polite()}) as world:
        await world.open("polite")
        yield world


def said(person):
    """What the game told somebody, and when they saw everything."""
    return [name if name == "sync" else told["payload"] for name, told in person.heard("game_event", "sync")]


async def test_what_a_game_says_to_whoever_connects_is_heard_by_them_after_the_sync(polite):
    ann, bob = await polite.seated("ABCD", "ann", "bob")
    assert said(bob) == ["sync", "welcome", "bob is here"]
    assert said(ann) == ["sync", "welcome", "ann is here", {"joined": "bob"}, "bob is here"]
    tab = await polite.person("ann")
    await tab.join("ABCD")
    assert said(tab) == ["sync"], "she is connected already"


async def test_who_comes_back_hears_it_once_whether_or_not_they_say_what_they_saw_last(polite):
    ann, bob = await polite.seated("ABCD", "ann", "bob")
    seq = polite.room().seq
    for since, expected in (
        (None, ["sync", "welcome", "ann is here"]),
        (seq, ["welcome", "ann is here", "sync"]),
    ):
        await ann.drop()
        ann = await polite.person("ann")
        await ann.join("ABCD", **({} if since is None else {"since": polite.room().seq}))
        assert said(ann) == expected
    await ann.drop()
    ann = await polite.person("ann")
    await ann.join("ABCD", since=999)
    assert said(ann) == ["sync", "welcome", "ann is here"], "that was no number of ours: all anew"


async def test_whoever_takes_a_seat_brings_random_bytes_before_the_game_deals():
    ones, twos = "01" * 16, "02" * 16
    async with World(GAMES) as world:
        await world.open("stratego")
        for player, luck in (("ann", ones), ("bob", twos)):
            assert (await (await world.person(player)).join("ABCD", luck=luck))[0] == "ok"
        assert [one.luck for one in world.room().added] == [ones, twos]
        assert not world.room().fresh
        eve = await world.person("eve")
        assert (await eve.join("ABCD", luck="nonsense"))[1]["code"] == "malformed"
