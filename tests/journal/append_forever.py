"""A process to be killed: it appends to a few rooms at once and says which steps were acknowledged."""

import asyncio
import sys
from pathlib import Path

from parlour.journal.base import StepWrites
from parlour.journal.sqlite import SqliteJournal
from tests.journal.made import STATE, append, step, summary


async def append_forever(folder: Path) -> None:
    journal = SqliteJournal(folder, "disk")
    await journal.open()
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(5)]
    await asyncio.gather(*(play(journal, room) for room in rooms))


async def play(journal: SqliteJournal, room: int) -> None:
    seq, head = 0, b""
    while True:
        seq += 1
        made = step(seq, head, now=float(seq))
        head = made.digest
        await append(journal, room, made, StepWrites())
        sys.stdout.write(f"{room} {seq}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(append_forever(Path(sys.argv[1])))
