"""Numbered links: in order, once, without a hole; or both ends are told."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.cluster.frames import LONGEST_FRAME, Data, Hello, Progress, decode, encode
from parlour.cluster.links import MOST_WAITING, PATIENCE, Heard, Links, Lost, batches

ANN, BOB = 1, 2


class Pair:
    """Two ends, the frames between them, and all that they were told in order."""

    def __init__(self):
        self.ends = {ANN: Links(ANN), BOB: Links(BOB)}
        self.under_way: dict[int, list[bytes]] = {ANN: [], BOB: []}
        """By the worker that they are for."""
        self.told: dict[int, list[Heard | Lost]] = {ANN: [], BOB: []}

    def send(self, worker, *messages):
        for message in messages:
            self.ends[worker].send(other(worker), message)
        self.take(worker)

    def take(self, worker):
        for peer, frame in self.ends[worker].take():
            assert peer == other(worker)
            self.under_way[peer].append(frame)

    def deliver(self, worker, which=0):
        """One frame of those that are for this worker."""
        self.receive(worker, self.under_way[worker].pop(which))

    def receive(self, worker, frame):
        event = self.ends[worker].receive(frame)
        if event is not None:
            self.told[worker].append(event)
        self.take(worker)

    def drop(self, worker):
        """All that is under way to this worker."""
        self.under_way[worker].clear()

    def settle(self):
        """Deliver everything, in order."""
        while any(self.under_way.values()):
            for worker in self.ends:
                if self.under_way[worker]:
                    self.deliver(worker)

    def tick(self, worker):
        self.told[worker] += self.ends[worker].tick()
        self.take(worker)

    def pass_time(self, ticks):
        for _ in range(ticks):
            self.tick(ANN)
            self.tick(BOB)
            self.settle()

    def messages(self, worker):
        return [
            message for event in self.told[worker] if isinstance(event, Heard) for message in event.messages
        ]

    def losses(self, worker):
        return sum(isinstance(event, Lost) for event in self.told[worker])


def other(worker):
    return BOB if worker == ANN else ANN


def opened():
    """A pair whose link is open, with nothing told yet but one message heard."""
    pair = Pair()
    pair.send(ANN, b"first")
    pair.settle()
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"first"], 0, 0)
    return pair


def kinds(frames):
    return [type(decode(frame)).__name__ for frame in frames]


# Opening.


def test_what_is_sent_before_the_hello_was_answered_waits_and_then_goes_in_order():
    pair = Pair()
    pair.send(ANN, b"a")
    pair.send(ANN, b"b")
    assert kinds(pair.under_way[BOB]) == ["Hello"]
    pair.settle()
    assert pair.messages(BOB) == [b"a", b"b"]


def test_two_that_say_hello_at_once_share_one_link():
    pair = Pair()
    pair.send(ANN, b"to bob")
    pair.send(BOB, b"to ann")
    pair.settle()
    assert pair.told == {ANN: [Heard(BOB, [b"to ann"])], BOB: [Heard(ANN, [b"to bob"])]}


def test_a_hello_is_repeated_until_it_is_answered():
    pair = Pair()
    pair.send(ANN, b"a")
    pair.drop(BOB)
    pair.tick(ANN)
    assert kinds(pair.under_way[BOB]) == ["Hello"]
    pair.settle()
    assert pair.messages(BOB) == [b"a"]
    pair.pass_time(3)
    assert kinds(pair.ends[ANN].take()) == []


def test_a_lost_answer_to_a_hello_is_given_again():
    pair = Pair()
    pair.send(ANN, b"a")
    pair.deliver(BOB)
    pair.drop(ANN)
    pair.tick(ANN)
    pair.settle()
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"a"], 0, 0)


def test_what_waits_too_long_for_a_hello_is_lost():
    pair = Pair()
    pair.send(ANN, b"a")
    for _ in range(PATIENCE + 1):
        pair.drop(BOB)
        pair.tick(ANN)
    assert pair.told[ANN] == [Lost(BOB)]
    pair.settle()
    assert pair.told[BOB] == [Lost(ANN)], "who never heard of the first link hears that something is missing"


def test_more_than_can_wait_is_lost_as_a_whole():
    pair = Pair()
    piece = bytes(MOST_WAITING // 4 + 1)
    for _ in range(6):
        pair.send(ANN, piece)
    pair.tick(ANN)
    assert pair.told[ANN] == [Lost(BOB)]
    pair.send(ANN, b"afterwards")
    pair.settle()
    assert pair.messages(BOB) == [b"afterwards"]


def test_an_open_link_takes_more_in_one_turn_than_can_wait():
    pair = opened()
    pair.send(ANN, *[bytes(MOST_WAITING // 4 + 1)] * 6)
    pair.settle()
    assert len(pair.messages(BOB)) == 7


# Frames.


def test_messages_of_one_turn_go_in_one_frame():
    pair = opened()
    pair.send(ANN, b"a", b"b", b"c")
    assert len(pair.under_way[BOB]) == 1
    pair.settle()
    assert pair.told[BOB][-1] == Heard(ANN, [b"a", b"b", b"c"])


def test_a_long_message_goes_in_pieces_and_is_joined_again():
    pair = opened()
    long = bytes(range(256)) * (LONGEST_FRAME * 3 // 256)
    pair.send(ANN, b"before", long, b"after")
    assert len(pair.under_way[BOB]) == 6
    pair.settle()
    assert pair.messages(BOB) == [b"first", b"before", long, b"after"]


@given(st.lists(st.integers(min_value=0, max_value=2 * LONGEST_FRAME), max_size=8))
def test_no_frame_is_longer_than_it_may_be(sizes):
    messages = [bytes(size) for size in sizes]
    joined = [b""]
    for batch, unfinished in batches(messages):
        assert len(encode(Data(1 << 53, 1 << 53, 1 << 53, 1 << 53, batch, unfinished))) <= LONGEST_FRAME
        joined[-1] += b"".join(batch)
    assert joined[-1] == b"".join(messages)


# Losing.


def test_a_gap_is_told_to_both_ends_and_the_link_begins_anew():
    pair = opened()
    pair.send(ANN, b"lost")
    pair.drop(BOB)
    pair.send(ANN, b"with a hole before it")
    pair.settle()
    assert (pair.losses(ANN), pair.losses(BOB)) == (1, 1)
    pair.send(ANN, b"afterwards")
    pair.settle()
    assert pair.messages(BOB) == [b"first", b"afterwards"]


def test_the_last_frame_of_a_burst_is_missed_too():
    pair = opened()
    pair.pass_time(3)
    pair.send(ANN, b"last")
    pair.drop(BOB)
    pair.pass_time(2)
    assert (pair.losses(ANN), pair.losses(BOB)) == (1, 1)


def test_what_was_acknowledged_is_not_asked_for():
    pair = opened()
    pair.send(BOB, b"answer")  # it carries the highest number that has arrived
    pair.settle()
    pair.tick(ANN)
    pair.tick(ANN)
    assert kinds(pair.under_way[BOB]) == []


def test_an_idle_link_needs_no_frames():
    pair = opened()
    pair.pass_time(3)
    for _ in range(100):
        pair.tick(ANN)
        pair.tick(BOB)
    assert not any(pair.under_way.values())


def test_a_peer_that_does_not_acknowledge_for_too_long_is_lost():
    pair = opened()
    pair.send(ANN, b"a")
    for _ in range(PATIENCE + 2):
        assert pair.told[ANN] == []
        pair.drop(BOB)
        pair.tick(ANN)
    assert pair.told[ANN] == [Lost(BOB)]


def test_a_peer_that_acknowledges_slowly_is_not_lost():
    pair = opened()
    for n in range(PATIENCE * 3):
        pair.send(ANN, b"%d" % n)
        pair.tick(ANN)
        if n % (PATIENCE - 2) == 0:
            pair.settle()
    pair.settle()
    assert pair.losses(ANN) == 0


def test_a_frame_that_comes_twice_is_heard_once():
    pair = opened()
    pair.send(ANN, b"a")
    pair.under_way[BOB] *= 2
    pair.settle()
    assert (pair.messages(BOB), pair.losses(BOB)) == ([b"first", b"a"], 0)


def test_a_frame_that_was_overtaken_is_not_heard():
    pair = opened()
    pair.send(ANN, b"a")
    pair.send(ANN, b"b")
    pair.deliver(BOB, 1)
    pair.settle()
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"first"], 1, 1)


def test_a_frame_of_a_link_that_is_over_is_not_heard():
    pair = opened()
    pair.send(ANN, b"late")
    (late,) = pair.under_way[BOB]
    pair.drop(BOB)
    pair.told[BOB] += pair.ends[BOB].begin_anew()
    pair.take(BOB)
    pair.settle()
    pair.receive(BOB, late)
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"first"], 1, 1)


def test_a_frame_that_cannot_be_read_counts_as_a_gap():
    pair = opened()
    pair.send(ANN, b"a")
    pair.under_way[BOB] = [pair.under_way[BOB][0][:-1]]
    pair.settle()
    pair.pass_time(2)
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"first"], 1, 1)


def test_a_frame_of_a_link_that_nobody_has_begun_counts_as_a_gap():
    pair = opened()
    pair.receive(BOB, encode(Data(ANN, link=7, n=1, received=0, messages=[b"from nowhere"])))
    pair.settle()
    assert (pair.messages(BOB), pair.losses(ANN), pair.losses(BOB)) == ([b"first"], 1, 1)


@given(st.binary())
def test_whatever_comes_raises_nothing(frame):
    Links(ANN).receive(frame)


def test_what_was_sent_before_a_loss_is_not_heard_after_it():
    pair = opened()
    pair.ends[ANN].send(BOB, b"not yet gone")
    pair.told[BOB] += pair.ends[BOB].begin_anew()
    pair.take(BOB)
    pair.deliver(ANN)
    pair.send(ANN, b"afterwards")
    pair.settle()
    assert pair.told[BOB] == [Heard(ANN, [b"first"]), Lost(ANN), Heard(ANN, [b"afterwards"])]


def test_two_that_begin_anew_at_once_are_told_once():
    pair = opened()
    for worker in (ANN, BOB):
        pair.told[worker] += pair.ends[worker].begin_anew()
        pair.take(worker)
    pair.pass_time(2)
    assert (pair.losses(ANN), pair.losses(BOB)) == (1, 1)


def test_a_piece_of_a_long_message_is_forgotten_with_its_link():
    pair = opened()
    pair.send(ANN, bytes(LONGEST_FRAME * 2))
    pair.deliver(BOB)
    pair.drop(BOB)
    pair.pass_time(2)
    pair.send(ANN, b"afterwards")
    pair.settle()
    assert pair.messages(BOB) == [b"first", b"afterwards"]


# Peers.


def test_a_worker_does_not_send_to_itself():
    with pytest.raises(ValueError, match="worker 1 sends to itself"):
        Links(ANN).send(ANN, b"a")


def test_a_forgotten_peer_is_neither_heard_nor_written_to():
    pair = opened()
    pair.ends[BOB].forget(ANN)
    pair.send(ANN, b"a")
    pair.send(BOB, b"b")
    pair.settle()
    pair.pass_time(2)
    assert (pair.messages(ANN), pair.messages(BOB)) == ([], [b"first"])


def test_links_to_different_peers_have_nothing_to_do_with_each_other():
    ann = Links(ANN)
    ann.send(2, b"a")
    ann.send(3, b"b")
    assert [peer for peer, _ in ann.take()] == [2, 3]
    ann.receive(encode(Hello(3, 1, Progress.HEARD)))
    assert kinds(frame for _, frame in ann.take()) == ["Hello", "Data"]


# Whatever happens.

someone = st.sampled_from([ANN, BOB])
faults = st.sampled_from(["overtake", "repeat", "drop", "garble"])
actions = st.one_of(
    st.tuples(st.just("send"), someone),
    st.tuples(st.just("deliver"), someone),
    st.tuples(st.just("settle"), someone),
    st.tuples(faults, someone, st.integers(0, 3)),
    st.tuples(st.sampled_from(["tick", "wait", "cut"]), someone),
)
stories = st.lists(actions, min_size=20, max_size=80)


class Story:
    """A pair in which each message is the next number, with what was sent and lost in one order."""

    def __init__(self):
        self.pair = Pair()
        self.sent: dict[int, list[bytes | None]] = {ANN: [], BOB: []}
        """By sender; None where the sender was told of a loss."""
        self.links: dict[bytes, int] = {}
        """By message: the number of the link in which it was sent."""
        self._numbers = count()

    def number(self, worker):
        """Of the link in which this worker is now."""
        link = self.pair.ends[worker]._links.get(other(worker))
        return link.number if link else 1

    def do(self, what, worker, which=0):
        before, number = len(self.pair.told[worker]), self.number(worker)
        frames = self.pair.under_way[worker]
        index = which % len(frames) if frames else None
        match what:
            case "settle":
                self.settle()
                return
            case "send":
                message = b"%d" % next(self._numbers)
                self.sent[worker].append(message)
                self.links[message] = number
                self.pair.send(worker, message)
            case "tick":
                self.pair.tick(worker)
            case "wait":
                for _ in range(PATIENCE + 2):
                    self.pair.tick(worker)
            case "cut":
                self.pair.told[worker] += self.pair.ends[worker].begin_anew()
                self.pair.take(worker)
            case "deliver" | "overtake" if index is not None:
                self.pair.deliver(worker, index)
            case "repeat" if index is not None:
                frames.append(frames[index])
            case "drop" if index is not None:
                del frames[index]
            case "garble" if index is not None:
                frames[index] = frames[index][:-1]
        losses = [None for event in self.pair.told[worker][before:] if isinstance(event, Lost)]
        self.sent[worker] += losses
        assert bool(losses) == (self.number(worker) > number), (
            "whoever leaves a link is told, and nobody else"
        )

    def settle(self):
        while any(self.pair.under_way.values()):
            for worker in (ANN, BOB):
                self.do("deliver", worker)

    def end(self):
        """The faults stop: what is under way arrives, and time passes."""
        for _ in range(5):
            self.settle()
            self.do("tick", ANN)
            self.do("tick", BOB)
        self.settle()


def spans(told):
    """What was heard between two losses, or sent between two."""
    parts: list[list[bytes]] = [[]]
    for event in told:
        if event is None or isinstance(event, Lost):
            parts.append([])
        elif isinstance(event, Heard):
            parts[-1] += event.messages
        else:
            parts[-1].append(event)
    return parts


def follows(heard, sent):
    """True if each span that was heard is the beginning of one that was sent, in order, none used twice."""
    rest = iter(sent)
    return all(any(part == span[: len(part)] for span in rest) for part in heard if part)


@given(stories)
def test_over_any_network_what_is_heard_is_in_order_without_repeats_and_without_holes(story):
    told = Story()
    for action in story:
        told.do(*action)
    told.end()
    for worker in (ANN, BOB):
        assert follows(spans(told.pair.told[worker]), spans(told.sent[other(worker)]))


@given(stories)
def test_over_any_network_both_ends_are_told_of_what_is_never_heard(story):
    told = Story()
    for action in story:
        told.do(*action)
    told.end()
    for worker in (ANN, BOB):
        heard = set(told.pair.messages(other(worker)))
        for message in told.sent[worker]:
            if message is not None and message not in heard:
                assert min(told.number(ANN), told.number(BOB)) > told.links[message]


@given(stories)
def test_a_loss_is_told_after_what_was_lost_and_before_what_is_heard_next(story):
    told = Story()
    for action in story:
        told.do(*action)
    told.end()
    for worker in (ANN, BOB):
        # Who hears of two spans that were sent was told of a loss between them.
        by_message = {
            message: n for n, span in enumerate(spans(told.sent[other(worker)])) for message in span
        }
        for span in spans(told.pair.told[worker]):
            assert len({by_message[message] for message in span}) <= 1


@given(stories)
def test_once_the_network_is_well_again_everything_arrives(story):
    told = Story()
    for action in story:
        told.do(*action)
    told.end()
    losses = told.pair.losses(ANN), told.pair.losses(BOB)
    for worker in (ANN, BOB):
        told.do("send", worker)
    told.end()
    for worker in (ANN, BOB):
        assert told.pair.messages(other(worker))[-1:] == told.sent[worker][-1:]
    assert (told.pair.losses(ANN), told.pair.losses(BOB)) == losses
