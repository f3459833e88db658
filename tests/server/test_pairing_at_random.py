"""Whatever people do at the lobby, in whatever order: nobody is forgotten, and nobody is in the way."""

import random
from contextlib import suppress

import pytest

from parlour.errors import Refused
from parlour.lobby import Ticket
from parlour.server.ticket_records import kept_tickets
from parlour.wire import Queue
from tests.server.world import World

PEOPLE = [f"p{number}" for number in range(8)]
WISHES = [Queue("tictactoe"), Queue("tictactoe", mode="ranked"), Queue("backgammon", {"variant": "tavla"})]


class Crowd:
    """People who take tickets, come, stay away, and change their minds."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)
        self.rooms: list[str] = []
        """That somebody waited in."""
        self.refusals = self.restarts = 0

    async def act(self) -> None:
        deeds = (
            self.queue,
            self.meet,
            self.meet,
            self.come,
            self.come,
            self.give_back,
            self.wait,
            self.restart,
        )
        weights = (4, 3, 3, 4, 4, 2, 2, 1)
        (deed,) = self.chance.choices(deeds, weights)
        try:
            await deed(self.chance.choice(PEOPLE))
        except Refused:
            self.refusals += 1
        await self.world.quiet()

    async def queue(self, player: str) -> None:
        await self.world.server.pairing.queue(player, self.chance.choice(WISHES))

    async def meet(self, player: str) -> None:
        wanted = self.chance.choice(WISHES)
        room = f"room-{len(self.rooms)}"
        ticket = await self.world.server.pairing.meet(player, wanted, room)
        assert (ticket.room is None) != (ticket.at is None)
        if ticket.at is not None:
            self.rooms.append(ticket.at)

    async def come(self, player: str) -> None:
        """To where a ticket leads, or by a link."""
        tickets = self.world.server.pairing.tickets(player)
        led = [ticket.room or ticket.at for ticket in tickets if ticket.room or ticket.at]
        room = self.chance.choice(led or self.rooms or ["NONE"])
        await (await self.world.person(player)).join(room or "")

    async def give_back(self, player: str) -> None:
        for ticket in self.world.server.pairing.tickets(player):
            await self.world.server.pairing.unqueue(player, ticket.id)

    async def wait(self, _: str) -> None:
        await self.world.wait(self.chance.choice((1, 5, 20, 40)))

    async def restart(self, _: str) -> None:
        self.world = await self.world.restart()
        self.restarts += 1

    async def check(self) -> None:
        """Everything that must always be so."""
        pairing = self.world.server.pairing
        if fitting := pairing.index.parties(self.world.clock.now()):  # somebody left a seat, say
            await self.world.wait(1.1)
            assert not any(party in pairing.index.parties(self.world.clock.now()) for party in fitting), (
                "some who fit wait for ever"
            )
        kept = {ticket.id: ticket for ticket in await kept_tickets(self.world.journal)}
        assert kept == {
            **pairing.index.open,
            **{ticket.id: ticket for ticket, _ in pairing.index.matched.values()},
        }
        queues = [(ticket.player, ticket.queue) for ticket in kept.values() if ticket.room is None]
        assert len(set(queues)) == len(queues), "one ticket per player and queue"
        for ticket in kept.values():
            await self._check(ticket)
        for room in self.rooms:
            found = await self.world.server.rooms.look(room)
            if found.ended is None and None in found.seats:
                assert kept[room].at == room, "nobody knows that it waits"

    async def _check(self, ticket: Ticket) -> None:
        if ticket.at is not None and ticket.room is None:
            found = await self.world.server.rooms.look(ticket.at)
            assert (found.ended, None in found.seats) == (None, True)
        if ticket.room is not None and ticket.room not in self.rooms:
            assert (await self.world.server.rooms.look(ticket.room)).seq >= 2, "both have sat there"


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_people_do_everybody_waits_plays_or_has_gone(seed):
    crowd = Crowd(await World().__aenter__(), seed)
    for _ in range(250):
        await crowd.act()
        await crowd.check()
    assert crowd.restarts > 3
    assert len(crowd.rooms) > 10
    with suppress(Refused):
        await crowd.world.wait(100)
    await crowd.check()
    await crowd.world.server.stop()
