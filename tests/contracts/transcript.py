"""Golden conversations: a story is played against a real server, and everything said back is written down.

A story is a text file in the folder of its protocol; those of doors have tellers of their own. In the others
``ann > frame`` is what Ann's client sends, ``ann < frame`` what it gets; besides:

    -- open tictactoe ABCD {}    a room is opened
    -- drop ann                  Ann's connection is lost; the next thing she sends is on a new one
    -- wait 60                   so many seconds pass
    -- restart                   the server dies and another one takes over

Ids that the lobby draws are told as TICKET1, ROOM1 and so on, in the order in which they come up.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable
from pathlib import Path

import msgspec

from parlour.errors import Refused
from tests.contracts import gammonx_story, relay_story, xsos_story
from tests.server.world import PLAYABLE, Person, World

DRAWN = re.compile(r'"(ticket|room)":"([a-z]{16}|[A-Z]{4})"|"tickets":\[\{"id":"([a-z]{16})"')
FOLDER = Path(__file__).parent.parent / "transcripts"


def stories() -> list[Path]:
    """All stories of all protocols."""
    return sorted(FOLDER.glob("*/*.txt"))


def tell_again(path: Path) -> Awaitable[str]:
    """A kept story with what the server says today."""
    tellers = {"relay": relay_story.tell, "xsos": xsos_story.tell, "gammonx": gammonx_story.tell}
    return tellers.get(path.parent.name, tell)(path.read_text())


async def tell(story: str) -> str:
    """The story with what the server says today."""
    world = await World(PLAYABLE).__aenter__()
    people: dict[str, Person] = {}
    told: list[str] = []
    names: dict[str, str] = {}
    for line in story.splitlines():
        if " < " in line and not line.startswith(("#", "--")):
            continue
        told.append(line)
        if line.startswith("-- restart"):
            world = await world.restart()
            people.clear()
        elif line.startswith("-- "):
            await _direct(world, people, *line.removeprefix("-- ").split(" ", 1))
        elif " > " in line and not line.startswith("#"):
            who, frame = line.split(" > ", 1)
            await _send(world, people, who, renamed(frame, {name: id for id, name in names.items()}))
        for who, _, frame in world.log:
            learn(frame, names)
            told.append(f"{who} < {renamed(frame, names)}")
        world.log.clear()
    await world.server.stop()
    return "\n".join(told) + "\n"


def learn(frame: str, names: dict[str, str]) -> None:
    """Give names to the ids that the lobby drew."""
    for what, id, again in DRAWN.findall(frame):
        kind = what.upper() or "TICKET"
        count = sum(name.startswith(kind) for name in names.values())
        names.setdefault(id or again, f"{kind}{count + 1}")


def renamed(frame: str, names: dict[str, str]) -> str:
    """A frame with these words in place of others."""
    return re.sub("|".join(names) or "$^", lambda found: names[found[0]], frame)


async def _direct(world: World, people: dict[str, Person], verb: str, rest: str) -> None:
    match verb:
        case "open":
            game, id, config = rest.split(" ", 2)
            await world.open(game, id, msgspec.json.decode(config))
        case "drop":
            await people.pop(rest).drop()
        case "wait":
            await world.wait(float(rest))
        case _:
            raise ValueError(f"expected open, drop or wait, got {verb}")


async def _send(world: World, people: dict[str, Person], who: str, frame: str) -> None:
    if who not in people:
        people[who] = await world.person(who)
    try:
        await people[who].send(frame)
    except Refused as why:  # the connection ends
        world.log.append((who, "<", f"closed 1003 {why.message}"))
        await people.pop(who).drop()


async def _written(path: Path) -> str:
    return await tell_again(path)


def main() -> None:
    """Write all stories anew."""
    for path in stories():
        path.write_text(asyncio.run(_written(path)))
        sys.stdout.write(f"{path.relative_to(FOLDER)}\n")


if __name__ == "__main__":
    main()
