"""The bus within one process: what every bus promises, and faults that come back with their seed."""

from random import Random

import pytest
from structlog.testing import capture_logs

from parlour.cluster.bus import LONGEST_ANNOUNCEMENT, Bus, BusFailed
from parlour.cluster.links import PATIENCE, TICK
from parlour.cluster.memory_bus import NO_FAULTS, Faults, Hub, MemoryBus
from tests.server.world import HandClock

PATIENT = TICK * (PATIENCE + 4)
"""Seconds after which a link without answers is lost for certain."""


class Network:
    """A hub with some workers, and all that each was told in order."""

    def __init__(self, faults=NO_FAULTS, seed=7):
        self.clock = HandClock()
        self.hub = Hub(self.clock, Random(seed), faults)
        self.told: dict[int, list[tuple[object, ...]]] = {}

    async def join(self, *workers):
        return [await self._join(worker) for worker in workers]

    async def _join(self, worker) -> Bus:
        bus = MemoryBus(self.hub, worker)
        told = self.told[worker] = []
        bus.heard = lambda peer, messages: told.append(("heard", peer, *messages))
        bus.lost = lambda peer: told.append(("lost", peer))
        bus.cut = lambda: told.append(("cut",))
        bus.joined_again = lambda: told.append(("joined again",))
        await bus.start()
        return bus

    def run(self, seconds):
        until = self.clock.now() + seconds
        while self.clock.turn_to_next(until):
            pass

    def messages(self, worker):
        return [message for event in self.told[worker] if event[0] == "heard" for message in event[2:]]

    def losses(self, worker):
        return sum(event[0] == "lost" for event in self.told[worker])


async def test_messages_are_heard_in_the_order_sent():
    network = Network(Faults(delay=0.1))
    ann, bob = await network.join(1, 2)
    for n in range(50):
        ann.send(2, b"%d" % n)
        network.run(0.01)
    network.run(1)
    assert network.messages(2) == [b"%d" % n for n in range(50)]
    assert network.losses(1) == network.losses(2) == 0


async def test_messages_of_one_turn_are_heard_together():
    network = Network()
    ann, bob = await network.join(1, 2)
    for message in (b"a", b"b", b"c"):
        ann.send(2, message)
    network.run(1)
    assert network.told[2] == [("heard", 1, b"a", b"b", b"c")]


async def test_a_message_to_all_is_heard_by_all_others():
    network = Network()
    ann, bob, eve = await network.join(1, 2, 3)
    ann.broadcast(b"news")
    network.run(1)
    assert network.told == {1: [], 2: [("heard", 1, b"news")], 3: [("heard", 1, b"news")]}


async def test_a_message_to_all_has_to_fit_into_a_frame():
    (ann,) = await Network().join(1)
    ann.broadcast(bytes(LONGEST_ANNOUNCEMENT))
    with pytest.raises(ValueError, match="expected at most 524,224 bytes for all, got 524,225"):
        ann.broadcast(bytes(LONGEST_ANNOUNCEMENT + 1))


async def test_an_error_in_a_callback_is_logged_and_the_bus_goes_on():
    network = Network()
    ann, bob = await network.join(1, 2)
    listen, bob.heard = bob.heard, lambda peer, messages: 1 / 0
    with capture_logs() as logs:
        ann.send(2, b"a")
        network.run(1)
    assert [line["event"] for line in logs] == ["bus_callback_failed"]
    bob.heard = listen
    ann.send(2, b"b")
    network.run(1)
    assert network.told[2] == [("heard", 1, b"b")]


async def test_what_is_sent_to_a_separated_worker_is_lost_at_both_ends():
    network = Network()
    ann, bob = await network.join(1, 2)
    ann.send(2, b"a")
    network.run(1)
    network.hub.separate(1, 2)
    ann.send(2, b"b")
    network.run(PATIENT)
    assert network.told[1] == [("lost", 2)]
    network.hub.reunite(1, 2)
    ann.send(2, b"c")
    network.run(1)
    assert network.told[2] == [("heard", 1, b"a"), ("lost", 1), ("heard", 1, b"c")]


async def test_what_comes_for_a_paused_worker_waits_for_it():
    network = Network()
    ann, bob = await network.join(1, 2)
    ann.send(2, b"a")
    network.run(1)
    network.hub.pause(2)
    ann.send(2, b"b")
    network.run(2)
    assert network.messages(2) == [b"a"]
    network.hub.resume(2)
    network.run(1)
    assert (network.messages(2), network.losses(1), network.losses(2)) == ([b"a", b"b"], 0, 0)


async def test_a_worker_that_was_paused_for_long_does_not_take_the_others_for_silent():
    network = Network()
    ann, bob = await network.join(1, 2)
    ann.send(2, b"a")
    network.run(1)
    ann.send(2, b"b")
    network.hub.pause(1)
    network.run(60)
    network.hub.resume(1)
    network.run(1)
    assert (network.messages(2), network.losses(1), network.losses(2)) == ([b"a", b"b"], 0, 0)


async def test_a_worker_whose_peer_was_killed_is_told_that_its_messages_are_lost():
    network = Network()
    ann, bob = await network.join(1, 2)
    bob.send(1, b"a")
    network.run(1)
    network.hub.kill(2)
    ann.send(2, b"b")
    network.run(PATIENT)
    assert network.told[1] == [("heard", 2, b"a"), ("lost", 2)]


async def test_a_killed_worker_does_nothing_any_more():
    network = Network()
    ann, bob = await network.join(1, 2)
    bob.send(1, b"never")
    network.hub.kill(2)
    network.run(PATIENT)
    assert network.told == {1: [], 2: []}


async def test_when_the_bus_is_away_every_worker_is_told_and_every_link_is_lost():
    network = Network()
    ann, bob = await network.join(1, 2)
    ann.send(2, b"a")
    network.run(1)
    network.hub.fail()
    assert network.told[1] == [("cut",), ("lost", 2)]
    assert not ann.is_connected


async def test_what_is_sent_while_the_bus_is_away_waits_for_its_return():
    network = Network()
    ann, bob = await network.join(1, 2)
    network.hub.fail()
    ann.send(2, b"a")
    network.run(2)
    network.hub.recover()
    network.run(1)
    assert network.told[1] == [("cut",), ("joined again",)]
    assert network.told[2] == [("cut",), ("joined again",), ("heard", 1, b"a")]
    assert ann.is_connected


async def test_what_is_sent_while_the_bus_is_away_for_long_is_lost():
    network = Network()
    ann, bob = await network.join(1, 2)
    network.hub.fail()
    ann.send(2, b"a")
    network.run(PATIENT)
    network.hub.recover()
    network.run(1)
    assert network.told[1] == [("cut",), ("lost", 2), ("joined again",)]
    assert network.told[2] == [("cut",), ("joined again",), ("lost", 1)]


async def test_nobody_can_join_a_bus_that_is_away():
    network = Network()
    network.hub.fail()
    with pytest.raises(BusFailed, match="the hub is not running"):
        await network.join(1)


async def test_whoever_stops_has_sent_everything_and_hears_nothing_more():
    network = Network()
    ann, bob = await network.join(1, 2)
    ann.send(2, b"a")
    network.run(1)
    ann.send(2, b"b")
    await ann.stop()
    bob.send(1, b"c")
    network.run(1)
    assert (network.messages(1), network.messages(2)) == ([], [b"a", b"b"])


async def test_a_forgotten_worker_is_not_heard():
    network = Network()
    ann, bob = await network.join(1, 2)
    bob.forget(1)
    ann.send(2, b"a")
    ann.broadcast(b"b")
    network.run(PATIENT)
    assert network.told[2] == []


async def chatter(seed):
    """Three workers that talk for a minute over a bad network: what was told and sent."""
    network = Network(Faults(drop=0.02, duplicate=0.05, garble=0.01, delay=0.05, reorder=True), seed)
    buses = await network.join(1, 2, 3)
    chance = Random(seed)
    for n in range(1000):
        sender, receiver = chance.sample(buses, 2)
        sender.send(receiver.me, b"%d" % n)
        network.run(0.06 * chance.random())
    network.hub.faults = NO_FAULTS
    network.run(PATIENT)
    return network, buses


async def test_a_story_comes_back_with_its_seed():
    (one, _), (same, _), (other, _) = await chatter(1), await chatter(1), await chatter(2)
    assert one.told == same.told != other.told


@pytest.mark.parametrize("seed", range(5))
async def test_over_a_bad_network_numbers_only_rise_and_all_are_well_in_the_end(seed):
    network, buses = await chatter(seed)
    for worker, told in network.told.items():
        for peer in {1, 2, 3} - {worker}:
            numbers = [
                int(message) for event in told if event[:2] == ("heard", peer) for message in event[2:]
            ]
            assert numbers == sorted(set(numbers))
            assert numbers
        assert network.losses(worker), "the network was not bad"
    for sender in buses:
        for receiver in buses:
            if sender is not receiver:
                sender.send(receiver.me, b"last")
    network.run(1)
    assert all(network.messages(worker)[-2:] == [b"last"] * 2 for worker in network.told)
