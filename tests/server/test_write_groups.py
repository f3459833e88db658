"""Connections of a write group get everything once and in order, whatever gets in the way of some of them."""

import asyncio
from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from parlour.server.gateway.fanout import WriteGroup, framed
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
        sockets = Sockets({"/ear": Ear()}, clock, Limits(settings, clock), settings)
        self.pipes = [Pipe() for _ in CONNECTIONS]
        state: Any = SimpleNamespace(connections=set())
        self.sockets = [sockets(server_state=state) for _ in CONNECTIONS]
        for socket, pipe in zip(self.sockets, self.pipes, strict=True):
            socket.connection_made(pipe)
            socket.data_received(HEAD)
            pipe.written.clear()
        self.expected = [b"" for _ in CONNECTIONS]
        self.singing = list(CONNECTIONS)
        self.group = WriteGroup(self.sockets)
        self.words = 0

    def word(self):
        self.words += 1
        return framed(b"%d" % self.words)

    def to_all(self, _):
        if not self.group.together:
            self.group = WriteGroup([self.sockets[line] for line in self.singing])
        word = self.word()
        if self.singing:
            self.group.write(word)
        for line in self.singing:
            self.expected[line] += word

    def to_one(self, line):
        if line in self.singing:
            word = self.word()
            self.sockets[line].write(word)
            self.expected[line] += word

    def pop(self, _):
        self.group.pop()

    def fall_behind(self, line):
        self.sockets[line].pause_writing()

    def catch_up(self, line):
        self.sockets[line].resume_writing()

    def close(self, line):
        if line in self.singing:
            self.singing.remove(line)
            self.sockets[line].close(1000, "")
            self.expected[line] += b"\x88\x02\x03\xe8"

    def cut(self, line):
        if line in self.singing:
            self.group.disband()
            self.singing.remove(line)
            self.sockets[line].pop()
            self.sockets[line].cut()


DEEDS = [
    Stage.to_all, Stage.to_all, Stage.to_one, Stage.pop,
    Stage.fall_behind, Stage.catch_up, Stage.close, Stage.cut,
]  # fmt: skip

ALL, ONE, POP = ((deed, 0, False) for deed in (Stage.to_all, Stage.to_one, Stage.pop))


@example([ALL, POP, ONE, ALL, POP])
@given(st.lists(st.tuples(st.sampled_from(DEEDS), st.sampled_from(CONNECTIONS), st.booleans())))
def test_a_line_hears_its_choir_and_its_own_words_in_the_order_in_which_they_were_said(deeds):
    async def play():
        stage = Stage()
        for deed, line, turn in deeds:
            deed(stage, line)
            if turn:
                await asyncio.sleep(0)
        stage.group.pop()
        await asyncio.sleep(0)
        assert [bytes(pipe.written) for pipe in stage.pipes] == stage.expected

    asyncio.run(play())


def test_a_line_that_went_without_a_word_gets_nothing_more_from_its_choir():
    async def play():
        stage = Stage()
        for _ in range(2):  # from the second time on nobody looks at each line
            stage.to_all(0)
            stage.group.pop()
        stage.sockets[1].cut()
        heard = bytes(stage.pipes[1].written)
        stage.group.write(stage.word())
        stage.group.pop()
        assert bytes(stage.pipes[1].written) == heard
        assert bytes(stage.pipes[0].written) == heard + framed(b"3")

    asyncio.run(play())


def test_a_line_that_does_not_read_is_noticed_by_its_choir():
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
