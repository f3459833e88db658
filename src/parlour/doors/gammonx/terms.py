"""The numbers, names and ids of this protocol, and what they are called here."""

import re
import uuid
from typing import NamedTuple

from parlour.errors import Code, Refused
from parlour.lobby import Mode
from parlour.wire import Queue

VARIANTS = ("backgammon", "tavla", "tavli")
TYPES = ("five_points", "seven_points", "cash")
NORMAL, RANKED, BOT = MODI = range(3)
MODES: tuple[Mode, ...] = ("normal", "ranked", "bot")
"""What the modi are called at our lobby."""
LEVELS = ("easy", "medium", "hard")
"""The bots that one can ask for; who asks for none gets the best."""
UNKNOWN = 99
GAMES = {"backgammon": 0, "tavla": 1, "portes": 2, "plakoto": 3, "fevga": 4}
"""What is played, as `modus` of a game."""

TURN_SECONDS = 60
ABSENCE_SECONDS = 30

WAITING_FOR_ROLL, ROLLED, MOVING, WAITING_FOR_OPPONENT = range(4)
WAITING_FOR_END_TURN, GAME_OVER, NOT_STARTED = 5, 6, 98
"""The phases of a game."""

_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OURS = uuid.UUID("6e0b4dcb-2d39-4b0c-9a8e-6a1f4b3a7c55")
"""Under which players who have no id of this protocol get one."""
PREFIX = "gammonx:"
"""What players are called here whose id came from a client, so that it is never taken for one of ours."""


class Kind(NamedTuple):
    """What two players must have asked for alike."""

    variant: int
    modus: int
    type: int

    @property
    def wish(self) -> Queue:
        """The same wish at the lobby, where nobody has to ask for this protocol's clocks to be paired."""
        config = {"variant": VARIANTS[self.variant], "match": TYPES[self.type]}
        return Queue("backgammon", config, MODES[self.modus])

    @property
    def config(self) -> dict[str, object]:
        """The settings of the match itself."""
        clocks = {"turn_seconds": TURN_SECONDS, "absence_seconds": ABSENCE_SECONDS}
        return self.wish.config | clocks


def read_guid(text: object, what: str) -> str:
    """An id, always written alike.

    >>> read_guid("FDD907CA-794A-43F4-83E6-CADFABC57C45", "playerId")
    'fdd907ca-794a-43f4-83e6-cadfabc57c45'
    >>> read_guid("ann", "playerId")
    Traceback (most recent call last):
    parlour.errors.Refused: ('malformed', "playerId: expected a GUID, got 'ann'")
    """
    if not isinstance(text, str) or not _GUID.fullmatch(text):
        raise Refused(Code.MALFORMED, f"{what}: expected a GUID, got {str(text)[:60]!r}", path=what)
    if not text.strip("0-"):
        raise Refused(Code.MALFORMED, f"{what}: expected a GUID that is not empty, got {text}", path=what)
    return text.lower()


_ENDS = ((NORMAL, None), (RANKED, None), *((BOT, level) for level in reversed(LEVELS)))
"""What the last digit of a match's id says: its modus, and who plays against a lone player."""


def new_match_id(modus: int, random: bytes, level: str = LEVELS[-1]) -> str:
    """An id that nobody guesses, made of 16 random bytes; its last digit says what kind of match it is."""
    id = uuid.UUID(bytes=random, version=4)
    return f"{str(id)[:-1]}{_ENDS.index((modus, level if modus == BOT else None))}"


def modus_of(match: str) -> int:
    """How the players of a match were found.

    >>> modus_of(new_match_id(RANKED, bytes(16)))
    1
    """
    return _end(match)[0]


def bot_of(match: str) -> str | None:
    """Which bot plays in a match, if one does.

    >>> bot_of(new_match_id(BOT, bytes(16), "medium"))
    'medium'
    """
    return _end(match)[1]


def _end(match: str) -> tuple[int, str | None]:
    digit = match[-1:]
    return _ENDS[int(digit)] if digit in ("0", "1", "2", "3", "4") else _ENDS[NORMAL]


def game_id(match: str, number: int) -> str:
    """The id of a game of a match, by its number from 0."""
    return str(uuid.uuid5(uuid.UUID(match), str(number)))


def player_named(guid: str) -> str:
    """What the player with this id is called here."""
    return PREFIX + guid


def guid_of(player: str) -> str:
    """The id by which clients of this protocol know a player; whoever came another way has always the same.

    >>> guid_of("gammonx:fdd907ca-794a-43f4-83e6-cadfabc57c45")
    'fdd907ca-794a-43f4-83e6-cadfabc57c45'
    """
    return player.removeprefix(PREFIX) if player.startswith(PREFIX) else str(uuid.uuid5(_OURS, player))
