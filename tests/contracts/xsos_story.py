"""Golden conversations at the XsOs door: a story is played through Socket.IO, and the answers are kept.

``ann > frame`` is what Ann's client sends, ``ann < frame`` what it gets; besides:

    -- referee       this server has one
    -- drop ann      Ann's line breaks; the next thing she sends is on a new one
    -- silence ann   her line is dead, and the server does not know; what she sends next is on a new one
    -- wait 120      so many seconds pass

Whoever does not begin with ``40`` is connected already.
"""

from tests.doors.visitors import House, Visitor


async def tell(story: str) -> str:
    """The story with what the server says today."""
    people: dict[str, Visitor] = {}
    told: list[str] = []
    async with House(xsos_referee="-- referee" in story) as house:
        for line in story.splitlines():
            if " < " in line and not line.startswith(("#", "--")):
                continue
            told.append(line)
            if line.startswith("-- "):
                await _direct(house, people, line.split())
            elif " > " in line and not line.startswith("#"):
                who, _, frame = line.partition(" > ")
                if who not in people:
                    people[who] = await (house.come if frame == "40" else house.enter)(who)
                await people[who].send(frame)
            told.extend(f"{who} < {frame}" for who, frame in house.log)
            house.log.clear()
    return "\n".join(told) + "\n"


async def _direct(house: House, people: dict[str, Visitor], words: list[str]) -> None:
    match words:
        case ["--", "referee"]:
            pass
        case ["--", "drop", who]:
            await people.pop(who).drop()
        case ["--", "silence", who]:
            people.pop(who).fall_silent()
        case ["--", "wait", seconds]:
            await house.wait(float(seconds))
        case _:
            raise ValueError(f"expected referee, drop, silence or wait, got {' '.join(words)}")
