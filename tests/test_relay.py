"""A room without rules: who is told what, under which number; what is written down is what each line gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.relay import (
    ENVELOPE_MEMORY,
    IDS_BYTES,
    KEPT_BYTES,
    KEPT_SECONDS,
    MAX_PLACES,
    RETURN_TIMEOUT,
    Cut,
    Envelope,
    Intent,
    Missed,
    More,
    Relay,
    RelayInstant,
    Tell,
)

NEW_YEAR = 1735689600000


class House:
    """A relay whose clock goes when told to. A line is called by its member and a number: ann1, ann2."""

    def __init__(self, relay=None):
        self.relay = relay or Relay()
        self.now = 0.0
        self.heard = {}

    @property
    def at(self):
        return RelayInstant(self.now, NEW_YEAR + int(self.now * 1000))

    def told(self, effects):
        """Effects as text: a line and what it gets."""
        said: list[str] = []
        for effect in effects:
            if isinstance(effect, Cut):
                said.append(f"{effect.line} is cut")
                continue
            if isinstance(effect, More):
                said.append(f"{effect.line} has more to get")
                continue
            own = effect.own.lasting + effect.own.windows
            rest = effect.rest.lasting + effect.rest.windows
            said += [f"{line}: {shown(effect, own=True)}" for line in own]
            said += [f"{line}: {shown(effect, own=False)}" for line in rest]
            for line in own + rest:
                self.heard.setdefault(line, []).append(effect.envelope.num)
        return said

    def join(self, line, last=None, lasts=True):
        return self.told(self.relay.join(line, line[:3], self.at, lasts=lasts, last=last))

    def open_window(self, line):
        return self.join(line, lasts=False)

    def say(self, line, body):
        return self.told(self.relay.say(line, body.encode(), self.at))

    def lose(self, line):
        return self.told(self.relay.lose(line, self.at))

    def wait(self, seconds):
        """Time passes, and the relay is woken when it wants to be."""
        until, said = self.now + seconds, []
        while (due := self.relay.due) is not None and due <= until:
            self.now = due
            said += self.told(self.relay.wake(self.at))
        self.now = until
        return said


def shown(tell, *, own):
    """An envelope as one of its receivers gets it."""
    envelope = tell.envelope
    one, many = envelope.sender, ",".join(tell.crowd.others(envelope.sender))
    body = "" if envelope.body is None else f" {envelope.body.decode()}"
    if own and envelope.intent is Intent.JOINER:
        return f"{envelope.num} Welcome {many}>{one}"
    name = "Receipt" if own else str(envelope.intent)
    return f"{envelope.num} {name} {one}>{many}{body}"


def envelopes(effects):
    """What was posted."""
    return [effect.envelope for effect in effects if isinstance(effect, Tell)]


def house(*lines):
    """A relay with these, who came in this order."""
    made = House()
    for line in lines:
        made.join(line)
    return made


# Coming, saying, leaving.


def test_a_newcomer_is_welcomed_and_the_others_hear_of_it_under_the_same_number():
    empty = House()
    assert empty.join("ann1") == ["ann1: 0 Welcome >ann"]
    assert empty.join("bob1") == ["bob1: 1 Welcome ann>bob", "ann1: 1 Joiner bob>ann"]


def test_what_is_said_goes_to_all_others_and_its_receipt_to_who_said_it():
    three = house("ann1", "bob1", "cid1")
    assert three.say("bob1", "hello") == [
        "bob1: 3 Receipt bob>ann,cid hello",
        "ann1: 3 Peer bob>ann,cid hello",
        "cid1: 3 Peer bob>ann,cid hello",
    ]


def test_alone_in_a_relay_one_hears_oneself():
    assert house("ann1").say("ann1", "hello") == ["ann1: 1 Receipt ann> hello"]


def test_who_is_gone_for_five_seconds_has_left():
    two = house("ann1", "bob1")
    assert two.lose("bob1") == []
    assert two.wait(RETURN_TIMEOUT - 0.1) == []
    assert two.wait(0.1) == ["ann1: 2 Leaver bob>ann"]
    assert two.say("ann1", "?") == ["ann1: 3 Receipt ann> ?"]


def test_who_is_gone_for_less_is_still_listed():
    two = house("ann1", "bob1")
    two.lose("bob1")
    assert two.say("ann1", "?") == ["ann1: 2 Receipt ann>bob ?"]
    assert two.join("cid1") == ["cid1: 3 Welcome ann,bob>cid", "ann1: 3 Joiner cid>ann,bob"]


def test_who_was_never_here_cannot_be_lost_nor_say_anything():
    one = house("ann1")
    assert one.lose("bob1") == []
    assert one.say("bob1", "boo") == []
    assert one.say("ann1", "x") == ["ann1: 1 Receipt ann> x"]


def test_times_are_the_walls_in_milliseconds_and_the_same_in_every_copy():
    two = house("ann1")
    two.wait(1.5)
    (posted,) = envelopes(two.relay.join("bob1", "bob", two.at, lasts=True))
    assert posted.time == NEW_YEAR + 1500


# Coming back.


def test_who_returns_in_time_gets_what_was_missed_and_nobody_else_notices():
    two = house("ann1", "bob1")
    two.lose("bob1")
    two.say("ann1", "one")
    two.say("ann1", "two")
    assert two.join("bob2", last=1) == ["bob2: 2 Peer ann>bob one", "bob2: 3 Peer ann>bob two"]
    assert two.wait(60) == []
    assert two.say("ann1", "three")[1:] == ["bob2: 4 Peer ann>bob three"]


def test_who_missed_nothing_is_told_nothing():
    two = house("ann1", "bob1")
    two.lose("bob1")
    assert two.join("bob2", last=1) == []


def test_ones_own_envelopes_come_back_as_ones_own():
    two = house("ann1", "bob1")
    two.say("bob1", "did you get this?")
    assert two.join("bob2", last=0) == [
        "bob1 is cut",
        "bob2: 1 Welcome ann>bob",
        "bob2: 2 Receipt bob>ann did you get this?",
    ]


def test_a_line_that_was_not_known_to_be_lost_is_cut_by_the_next():
    two = house("ann1", "bob1")
    assert two.join("bob2", last=1) == ["bob1 is cut"]
    assert two.lose("bob1") == []
    assert two.say("bob1", "I am gone") == []
    assert two.say("ann1", "hello")[1:] == ["bob2: 2 Peer ann>bob hello"]


def test_who_returns_without_a_number_leaves_and_joins_anew():
    two = house("ann1", "bob1")
    assert two.join("bob2") == [
        "bob1 is cut",
        "ann1: 2 Leaver bob>ann",
        "bob2: 3 Welcome ann>bob",
        "ann1: 3 Joiner bob>ann",
    ]


def test_a_stranger_who_guesses_the_next_number_is_a_newcomer():
    assert house("ann1").join("bob1", last=0) == ["bob1: 1 Welcome ann>bob", "ann1: 1 Joiner bob>ann"]


@pytest.mark.parametrize("last", [0, 2, 3, 10**9])
def test_a_number_that_is_not_kept_for_this_member_is_refused_and_changes_nothing(last):
    two = house("ann1", "bob1")
    before = two.relay.first, two.relay.due, len(two.relay.members)
    with pytest.raises(Missed):
        two.join("cid1", last=last)
    assert (two.relay.first, two.relay.due, len(two.relay.members)) == before
    assert two.say("ann1", "all is well")[1:] == ["bob1: 2 Peer ann>bob all is well"]


def test_what_was_said_before_somebody_came_is_not_kept_for_them():
    two = house("ann1")
    two.say("ann1", "a secret")
    two.join("bob1")
    with pytest.raises(Missed):
        two.join("bob2", last=0)
    assert two.join("bob2", last=1) == ["bob1 is cut", "bob2: 2 Welcome ann>bob"]


def test_who_was_refused_may_try_again_without_a_number():
    two = house("ann1", "bob1")
    with pytest.raises(Missed):
        two.join("bob2", last=99)
    assert "bob2: 3 Welcome ann>bob" in two.join("bob2")


def test_who_returns_after_their_time_is_refused():
    two = house("ann1", "bob1")
    two.lose("bob1")
    two.wait(RETURN_TIMEOUT)
    with pytest.raises(Missed):
        two.join("bob2", last=1)


def test_the_timer_of_an_earlier_line_does_not_harm_a_later_one():
    two = house("ann1", "bob1")
    two.lose("bob1")
    two.wait(3)
    two.join("bob2", last=1)
    two.wait(1)
    two.lose("bob2")
    two.say("ann1", "still there?")
    assert two.wait(3) == []  # the first loss is more than five seconds ago
    assert two.join("bob3", last=1) == ["bob3: 2 Peer ann>bob still there?"]


# What is kept.


def test_envelopes_are_kept_for_a_minute_even_if_a_loss_was_not_noticed():
    two = house("ann1", "bob1")
    two.say("ann1", "early")
    two.wait(KEPT_SECONDS)
    two.say("ann1", "late")
    assert two.join("bob2", last=1)[1:] == ["bob2: 2 Peer ann>bob early", "bob2: 3 Peer ann>bob late"]
    two.wait(1)
    with pytest.raises(Missed):
        two.join("bob3", last=1)


def test_a_relay_keeps_so_much_and_no_more():
    two = house("ann1", "bob1")
    large = "x" * 61440
    for _ in range(4):
        two.say("ann1", large)
    assert two.relay.first <= 2
    for _ in range(100):
        two.say("ann1", large)
    assert 106 - KEPT_BYTES / 61440 <= two.relay.first <= 102
    for _ in range(10_000):
        two.say("ann1", "")
    assert len(two.relay._kept) < KEPT_BYTES / ENVELOPE_MEMORY


def test_the_ids_of_all_members_are_not_too_long_together():
    one = House()
    one.relay.join("long1", "x" * 300, one.at, lasts=True)
    count = 1
    while one.relay.can_list(f"{count:0300}"):
        one.relay.join(f"{count}", f"{count:0300}", one.at, lasts=True)
        count += 1
    assert count == IDS_BYTES // 303
    assert one.relay.can_list("x" * 300)  # who is here may return
    assert one.relay.can_list("short")


def test_an_envelope_is_kept_without_a_list_of_those_who_were_there():
    crowd = House()
    for number in range(MAX_PLACES):
        crowd.relay.join(number, f"{number:0150}", crowd.at, lasts=True)
    before = crowd.relay.held
    for _ in range(100):
        crowd.relay.say(7, b"x", crowd.at)
    assert crowd.relay.held - before < 100 * 500
    assert crowd.relay.first == 0


def test_who_missed_much_gets_it_in_portions_and_then_goes_on_like_the_others():
    two = house("ann1", "bob1")
    two.lose("bob1")
    for _ in range(4):
        two.say("ann1", "x" * 50_000)
    assert two.join("bob2", last=1)[-1] == "bob2 has more to get"
    assert two.heard["bob2"] == [2]
    assert two.say("ann1", "meanwhile") == ["ann1: 6 Receipt ann>bob meanwhile"]
    assert two.say("bob2", "I, too") == ["ann1: 7 Peer bob>ann I, too"]
    while two.relay.is_reading("bob2"):
        two.told(two.relay.read_on("bob2"))
    assert two.heard["bob2"] == [2, 3, 4, 5, 6, 7]
    assert two.say("ann1", "now")[1:] == ["bob2: 8 Peer ann>bob now"]


def test_who_is_too_slow_to_get_what_it_missed_is_refused():
    two = house("ann1", "bob1")
    two.lose("bob1")
    for _ in range(4):
        two.say("ann1", "x" * 50_000)
    two.join("bob2", last=1)
    for _ in range(10):
        two.say("ann1", "x" * 50_000)
    with pytest.raises(Missed):
        two.relay.read_on("bob2")


def test_what_is_let_go_of_still_says_who_was_there():
    three = house("ann1", "bob1", "cid1")
    three.lose("cid1")
    three.wait(RETURN_TIMEOUT)
    three.lose("bob1")
    three.say("ann1", "hello")
    three.relay.shrink(0)
    three.say("ann1", "again")
    assert three.relay.first == 5
    assert three.join("bob2", last=4) == ["bob2: 5 Peer ann>bob again"]


# Several windows.


def test_a_second_window_is_a_joiner_to_the_others_and_nothing_to_the_first():
    two = House()
    two.open_window("ann1")
    two.open_window("bob1")
    assert two.open_window("ann2") == ["ann2: 2 Welcome bob>ann", "bob1: 2 Joiner ann>bob"]


def test_an_id_with_two_windows_is_listed_once_and_both_hear_what_one_says():
    two = House()
    for line in ("ann1", "bob1", "ann2"):
        two.open_window(line)
    assert two.say("ann1", "hello") == ["bob1: 3 Peer ann>bob hello", "ann2: 3 Peer ann>bob hello"]
    assert two.say("bob1", "hi") == ["ann1: 4 Peer bob>ann hi", "ann2: 4 Peer bob>ann hi"]


def test_who_closes_their_last_window_has_left_at_once():
    two = House()
    for line in ("ann1", "bob1", "ann2"):
        two.open_window(line)
    assert two.lose("ann1") == []
    assert two.lose("ann2") == ["bob1: 3 Leaver ann>bob"]
    assert two.open_window("ann3") == ["ann3: 4 Welcome bob>ann", "bob1: 4 Joiner ann>bob"]


# Places.


def test_a_relay_has_fifty_places_and_the_lost_keep_theirs():
    full = House()
    for number in range(MAX_PLACES):
        assert full.relay.has_place(f"{number:03}", lasts=True)
        full.join(f"{number:03}a")
    assert not full.relay.has_place("new", lasts=True)
    assert not full.relay.has_place("new", lasts=False)
    full.lose("007a")
    assert not full.relay.has_place("new", lasts=True)
    full.wait(RETURN_TIMEOUT)
    assert full.relay.has_place("new", lasts=True)


def test_who_returns_to_a_full_relay_finds_their_place():
    full = House()
    for number in range(MAX_PLACES):
        full.join(f"{number:03}a")
    assert full.relay.has_place("007", lasts=True)
    full.lose("007a")
    assert full.relay.has_place("007", lasts=True)


def test_every_window_takes_a_place():
    full = House()
    for number in range(MAX_PLACES):
        full.open_window(f"ann{number}")
    assert not full.relay.has_place("ann", lasts=False)


def test_when_all_have_left_nobody_is_there():
    two = house("ann1", "bob1")
    two.lose("ann1")
    two.lose("bob1")
    assert two.relay.members
    two.wait(RETURN_TIMEOUT)
    assert not two.relay.members
    assert two.relay.due is None


# A relay that remembers.


def test_a_relay_that_remembers_goes_on_the_next_day():
    two = House(Relay(remembers=True))
    posted: list[Envelope] = []
    for effects in (
        two.relay.join("ann1", "ann", two.at, lasts=True),
        two.relay.join("bob1", "bob", two.at, lasts=True),
        two.relay.say("ann1", b"your move", two.at),
        two.relay.lose("ann1", two.at),
        two.relay.lose("bob1", two.at),
    ):
        posted += envelopes(effects)
    two.now = RETURN_TIMEOUT
    posted += envelopes(two.relay.wake(two.at))
    again = House(Relay.recalled((), posted, 86400.0))
    again.now = 86400.0
    assert again.relay.members == {}
    assert again.join("bob2", last=1) == [
        "bob2: 2 Peer ann>bob your move",
        "bob2: 3 Leaver ann>bob",
        "bob2: 4 Leaver bob>",
        "bob2: 5 Welcome >bob",
    ]


def test_after_an_outage_everybody_has_time_to_return():
    two = House(Relay(remembers=True))
    comings = (two.relay.join(f"{id}1", id, two.at, lasts=True) for id in ("ann", "bob"))
    posted = [envelope for coming in comings for envelope in envelopes(coming)]
    again = House(Relay.recalled((), posted, 0.0))
    assert again.join("ann2", last=1) == []
    assert again.say("ann2", "anybody?") == ["ann2: 2 Receipt ann>bob anybody?"]
    assert again.wait(RETURN_TIMEOUT) == ["ann2: 3 Leaver bob>ann"]


def test_a_window_that_returns_after_an_outage_joins_again():
    two = House(Relay(remembers=True))
    comings = (two.relay.join(f"{id}1", id, two.at, lasts=False) for id in ("ann", "bob"))
    posted = [envelope for coming in comings for envelope in envelopes(coming)]
    again = House(Relay.recalled((), posted, 0.0))
    assert again.open_window("ann2") == ["ann2: 2 Welcome bob>ann"]
    assert again.open_window("bob2") == ["bob2: 3 Welcome ann>bob", "ann2: 3 Joiner bob>ann"]
    assert again.wait(60) == []


# Whatever happens.

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["join", "return", "window", "say", "lose", "wait"]),
        st.sampled_from(["ann", "bob", "cid", "dee"]),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(MOVES)
def test_every_lasting_line_hears_each_number_once_and_in_order(moves):
    world, count = House(), 0
    here: dict[str, str] = {}
    heard: dict[str, list[int]] = {}
    for move, who, more in moves:
        line = here.get(who)
        count += 1
        if move == "window" and who in ("cid", "dee"):
            world.open_window(f"{who}{count}")
        elif move in ("join", "return") and who in ("ann", "bob"):
            new = f"{who}{count}"
            last = heard[who][-1] if move == "return" and heard.get(who) else None
            try:
                world.join(new, last=last)
            except Missed:
                assert who not in world.relay.members
                continue
            if last is None:
                heard[who] = []
            here[who] = new
        elif move == "say" and line is not None:
            world.say(line, "x")
        elif move == "lose" and line is not None:
            world.lose(line)
        elif move == "wait":
            world.wait(more * 2)
        for known, own in here.items():
            heard.setdefault(known, []).extend(world.heard.pop(own, []))
    for numbers in heard.values():
        assert numbers == [numbers[0] + place for place in range(len(numbers))]
