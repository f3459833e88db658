"""How long players have to wait: for answers, for a way back, and for rooms whose owner died."""

import asyncio
from collections.abc import Sequence
from statistics import quantiles

from tests.torture.diary import Answered, Asked, Cut, Diary, Entry, Heard

ADOPTED_WITHIN = 10.0
"""Seconds after which nobody waits for a room to go on; the checker does not forgive it."""
IN_FLIGHT = 0.1
"""Seconds in which an answer of a worker that was killed may still arrive."""


class Waits:
    """What all diaries say about time."""

    def __init__(self) -> None:
        self.waiting: dict[str, float] = {}
        """The rooms whose owner was killed and in which nothing was done since, and since when."""
        self.took: list[float] = []
        """Seconds until something was done in each of them."""
        self.answers: list[float] = []
        """Seconds from the first time that a command was sent until it was answered."""
        self.absences: list[float] = []
        """Seconds from the loss of a connection until the room was there again."""
        self._asked: dict[tuple[str, str], float] = {}
        self._lost: dict[tuple[str, str], float] = {}

    def begin(self, rooms: Sequence[str]) -> None:
        """The owner of these rooms has just been killed."""
        now = asyncio.get_running_loop().time()
        self.waiting = dict.fromkeys(rooms, now)

    async def all_adopted(self) -> int:
        """Wait until all these rooms go on; returns how many did not for very long."""
        clock = asyncio.get_running_loop().time
        late = clock() + ADOPTED_WITHIN
        while self.waiting and clock() < late:  # noqa: ASYNC110 - one of many rooms, or the time
            await asyncio.sleep(0.02)
        left, self.waiting = len(self.waiting), {}
        return left

    def forget(self) -> None:
        """Measure from here on."""
        self.answers.clear()
        self.absences.clear()

    def note(self, room: str, player: str, entry: Entry) -> None:
        """Take the time of an entry of a diary."""
        now = asyncio.get_running_loop().time()
        match entry:
            case Asked(id):
                self._asked.setdefault((player, id), now)
            case Answered(id, seq):
                asked = self._asked.pop((player, id), None)
                if asked is not None:
                    self.answers.append(now - asked)
                    self._look_at(room, asked, now, done=seq is not None)
            case Cut():
                self._lost.setdefault((player, room), now)
            case Heard("sync"):
                lost = self._lost.pop((player, room), None)
                if lost is not None:
                    self.absences.append(now - lost)
            case _:
                pass

    def _look_at(self, room: str, asked: float, now: float, *, done: bool) -> None:
        killed = self.waiting.get(room)
        if done and killed is not None and (asked > killed or now > killed + IN_FLIGHT):
            self.took.append(now - killed)
            del self.waiting[room]


class TimedDiary(Diary):
    """A diary whose entries are timed."""

    def __init__(self, player: str, room: str, waits: Waits) -> None:
        super().__init__(player, room)
        self._waits = waits

    def note(self, entry: Entry) -> None:
        super().note(entry)
        self._waits.note(self.room, self.player, entry)


def spread(seconds: Sequence[float], limit: float) -> str:
    """How long it took, in words.

    >>> spread([0.1, 0.2, 0.3, 2.5], limit=2)
    '4: median 0.25 s, 99 % within 2.43 s, longest 2.50 s, 3 of 4 within 2 s'
    """
    if len(seconds) < 2:
        return f"{len(seconds)}"
    shares = quantiles(seconds, n=100, method="inclusive")
    soon = sum(one < limit for one in seconds)
    return (
        f"{len(seconds)}: median {shares[49]:.2f} s, 99 % within {shares[98]:.2f} s, "
        f"longest {max(seconds):.2f} s, {soon} of {len(seconds)} within {limit:g} s"
    )
