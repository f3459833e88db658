"""Connections of a write group get everything once and in order, whatever gets in the way of some of them."""

import asyncio
from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from parlour.server.gateway.outboxes import WriteGroup, framed
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from tests.server.test_sockets import HEAD, Ear
from tests.server.wires import Pipe
from tests.server.world import HandClock

CONNECTIONS = range(3)


class Stage:
    """Three sockets and their write group; and for each what it should have got in the end."""

    def __init__(self):
        clock, settings = HandClock(), Settings()
        sockets = Sockets([Ear()], clock, Limits(settings, clock), settings)
        self.pipes = [Pipe() for _ in CONNECTIONS]
        state: Any = SimpleNamespace(connections=set())
        self.sockets = [sockets(server_state=state) for _ in CONNECTIONS]
        for socket, pipe in zip(self.sockets, self.pipes, strict=True):
            socket.connection_made(pipe)
            socket.data_received(HEAD)
            pipe.written.clear()
        self.expected = [b"" for _ in CONNECTIONS]
        self.members = list(CONNECTIONS)
        self.group = WriteGroup(self.sockets)
        self.words = 0

    def word(self):
        self.words += 1
        return framed(b"%d" % self.words)

    def to_all(self, _):
        if not self.group.together:
            self.group = WriteGroup([self.sockets[index] for index in self.members])
        word = self.word()
        if self.members:
            self.group.write(word)
        for index in self.members:
            self.expected[index] += word

    def to_one(self, index):
        if index in self.members:
            word = self.word()
            self.sockets[index].write(word)
            self.expected[index] += word

    def pop(self, _):
        self.group.pop()

    def fall_behind(self, index):
        self.sockets[index].pause_writing()

    def catch_up(self, index):
        self.sockets[index].resume_writing()

    def close(self, index):
        if index in self.members:
            self.members.remove(index)
            self.sockets[index].close(1000, "")
            self.expected[index] += b"\x88\x02\x03\xe8"

    def cut(self, index):
        if index in self.members:
            self.group.disband()
            self.members.remove(index)
            self.sockets[index].pop()
            self.sockets[index].cut()


DEEDS = [
    Stage.to_all, Stage.to_all, Stage.to_one, Stage.pop,
    Stage.fall_behind, Stage.catch_up, Stage.close, Stage.cut,
]  # fmt: skip

ALL, ONE, POP = ((deed, 0, False) for deed in (Stage.to_all, Stage.to_one, Stage.pop))


@example([ALL, POP, ONE, ALL, POP])
@given(st.lists(st.tuples(st.sampled_from(DEEDS), st.sampled_from(CONNECTIONS), st.booleans())))
def test_a_connection_gets_the_groups_frames_and_its_own_in_the_order_of_writing(deeds):
    async def play():
        stage = Stage()
        for deed, index, turn in deeds:
            deed(stage, index)
            if turn:
                await asyncio.sleep(0)
        stage.group.pop()
        await asyncio.sleep(0)
        assert [bytes(pipe.written) for pipe in stage.pipes] == stage.expected

    asyncio.run(play())


def test_a_connection_that_vanished_gets_nothing_more_from_its_write_group():
    async def play():
        stage = Stage()
        for _ in range(2):  # from the second time on nobody checks each connection
            stage.to_all(0)
            stage.group.pop()
        stage.sockets[1].cut()
        heard = bytes(stage.pipes[1].written)
        stage.group.write(stage.word())
        stage.group.pop()
        assert bytes(stage.pipes[1].written) == heard
        assert bytes(stage.pipes[0].written) == heard + framed(b"3")

    asyncio.run(play())


def test_a_write_group_notices_a_connection_that_does_not_read():
    async def play():
        stage = Stage()
        for _ in range(2):
            stage.to_all(0)
            stage.group.pop()
        stage.fall_behind(2)
        stage.group.write(framed(b"x" * stage.sockets[2].owner.settings.max_outbox))
        stage.group.pop()
        assert stage.pipes[2].aborted
        assert not stage.pipes[0].aborted

    asyncio.run(play())
