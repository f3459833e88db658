"""Golden conversations with the GammonX hub, through real sockets.

``ann > record`` is what Ann's client sends and ``ann < record`` what it gets, without the 0x1E at their ends.
``MATCH`` stands for the id of the match, ``ANN`` for Ann's own id, ``ANN'`` for the one by which others know
her in this match. Besides:

    -- want ann 0 0 2     Ann asks for a match of this variant, modus and type; the answer is told
    -- connect ann        Ann opens a socket for her match, and hands are shaken
    -- connect eve as ann  the same with Ann's id by somebody else, or by herself once more
    -- open ann           the same without a handshake, and without saying who she is
    -- drop ann           the line breaks
    -- deafen ann         her line is dead, and the server does not know
    -- wait 30            so many seconds pass
    -- restart            the server dies without a word, and another one takes over
    -- post ann /api/...  Ann calls this over HTTP, with the JSON that follows; the answer is told
    -- link cid           Cid comes by the link of the match, in a browser; what he hears there is not told
    -- do cid {...}       and he does this
"""

import re

import msgspec

from tests.doors.hall import Hall, Visitor, guid
from tests.server.world import Person

LONG = re.compile(r'("moveSequences":\[)(\{.{200,}?\})(\],"boardState")')
"""The list of all ways to play is left out of a story."""
GAME = re.compile(r'"id":"[0-9a-f-]{36}","phase"')


async def tell(story: str) -> str:
    """The story with what the server says today."""
    async with Hall() as hall:
        return await Story(hall).tell(story)


class Story:
    """A story that is being told."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._people: dict[str, Visitor] = {}
        self._match = ""
        self._names: set[str] = set()
        self._browsers: dict[str, Person] = {}

    async def tell(self, story: str) -> str:
        told: list[str] = []
        for line in story.splitlines():
            if " < " in line and not line.startswith(("#", "--")):
                continue
            told.append(line)
            if line.startswith("-- "):
                told += await self._direct(line.split())
            elif " > " in line and not line.startswith("#"):
                who, _, record = line.partition(" > ")
                await self._people[who].send(self._real(record))
            for who, visitor in self._people.items():
                told += [f"{who} < {self._named(record)}" for record in visitor.raw]
                visitor.raw.clear()
        return "\n".join(told) + "\n"

    async def _direct(self, words: list[str]) -> list[str]:
        match words:
            case ["--", "want", who, variant, modus, type]:
                self._names.add(who)
                wish = {"PlayerId": guid(who), "MatchVariant": int(variant), "MatchModus": int(modus)}
                answer = await self._hall.call("/api/matches/join", {**wish, "MatchType": int(type)})
                self._match = answer.json()["payload"].get("matchId", self._match)
                return [f"{who} < {answer.status_code} {self._named(answer.text)}"]
            case ["--", "connect", who, *claimed]:
                name = claimed[1] if claimed else who
                self._names.add(name)
                self._people[who] = await self._hall.come(name, self._match, shake=False)
                await self._people[who].send({"protocol": "json", "version": 1})
            case ["--", "open", who]:
                self._people[who] = await self._hall.come(who, shake=False)
            case ["--", "drop", who] if who in self._browsers:
                await self._browsers[who].drop()
                await self._hall.quiet()
            case ["--", "drop", who]:
                await self._people.pop(who).drop()
            case ["--", "deafen", who]:
                self._people.pop(who).wire.reads = False
            case ["--", "wait", seconds]:
                await self._hall.alive(float(seconds), *self._people.values())
            case ["--", "restart"]:
                self._people.clear()
                await self._hall.restart()
            case ["--", "post", who, path, body]:
                self._names.add(who)
                wish = msgspec.json.decode(self._real(body))
                answer = await self._hall.call(self._real(path), wish)
                return [f"{who} < {answer.status_code} {self._named(answer.text)}"]
            case ["--", "link", who]:
                self._browsers[who] = await self._hall.world.person(who)
                await self._browsers[who].join(self._match)
                await self._hall.quiet()
            case ["--", "do", who, event]:
                await self._browsers[who].play(self._match, msgspec.json.decode(event))
                await self._hall.quiet()
            case _:
                raise ValueError(f"expected a direction, got {' '.join(words)}")
        return []

    def _real(self, record: str) -> str:
        for name in self._names:
            record = record.replace(name.upper(), guid(name))
        return record.replace("MATCH", self._match)

    def _named(self, record: str) -> str:
        for name in self._names:
            record = record.replace(guid(name), name.upper())
            record = record.replace(self._hall.seen(name, self._match), f"{name.upper()}'")
        for player in (*self._browsers, "bot:hard"):
            name = player.split(":")[0].upper()
            record = record.replace(self._hall.seen(player, self._match, player), f"{name}'")
        record = GAME.sub('"id":"GAME","phase"', record)
        return LONG.sub(r"\1...\3", record.replace(self._match, "MATCH") if self._match else record)
