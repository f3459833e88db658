"""The numbers, names and ids of this protocol, and what they are called here."""

import re
import uuid
from typing import NamedTuple

from parlour.clocks import Absence, ClockSettings
from parlour.errors import Code, Refused
from parlour.lobby import Mode
from parlour.pseudonyms import GUID
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

RATE_LIMIT_ERROR = "RATE_LIMIT_ERROR"
"""The code of errors that say only that too much is asked."""

CLOCK = ClockSettings("turn", 60.0, away=Absence(30.0))
"""A minute for each turn, and half a minute to be away in the whole match."""

WAITING_FOR_ROLL, ROLLED, MOVING, WAITING_FOR_OPPONENT = range(4)
WAITING_FOR_END_TURN, GAME_OVER, NOT_STARTED = 5, 6, 98
"""The phases of a game."""

_GUID = re.compile(GUID, re.IGNORECASE)


class Kind(NamedTuple):
    """What two players must have asked for alike."""

    variant: int
    modus: int
    type: int

    @property
    def wish(self) -> Queue:
        """The same wish at the lobby, where nobody has to ask for this protocol's clock to be paired."""
        config = {"variant": VARIANTS[self.variant], "match": TYPES[self.type]}
        return Queue("backgammon", config, MODES[self.modus])


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


def new_match_id(random: bytes) -> str:
    """An id that nobody guesses, made of 16 random bytes."""
    return str(uuid.UUID(bytes=random, version=4))


def game_id(match: str, number: int) -> str:
    """The id of a game of a match, by its number from 0."""
    return str(uuid.uuid5(uuid.UUID(match), str(number)))
