"""Saying no: every refusal has a code that programs switch on and a sentence that people read."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class Code(StrEnum):
    """The stable codes of Parlour's own refusals; a game may add codes of its own in the same style."""

    ACCOUNT_NEEDED = "account_needed"
    ALREADY_AN_ACCOUNT = "already_an_account"
    ALREADY_QUEUED = "already_queued"
    BAD_ADDRESS = "bad_address"
    BAD_CODE = "bad_code"
    BAD_PASSKEY = "bad_passkey"
    BAD_TOKEN = "bad_token"  # noqa: S105 - a code, not a secret
    CHALLENGE_EXPIRED = "challenge_expired"
    GAME_ERROR = "game_error"
    GAME_FULL = "game_full"
    GAME_OVER = "game_over"
    GAME_OVERRAN = "game_overran"
    GAME_PAUSED = "game_paused"
    ID_REUSED = "id_reused"
    ILLEGAL_MOVE = "illegal_move"
    INTERNAL_ERROR = "internal_error"
    INVALID_CONFIG = "invalid_config"
    INVALID_NAME = "invalid_name"
    INVALID_TEXT = "invalid_text"
    LINK_EXPIRED = "link_expired"
    MALFORMED = "malformed"
    NAME_TAKEN = "name_taken"
    NO_PASSKEYS = "no_passkeys"
    NO_PUSH = "no_push"
    NO_SPECTATORS = "no_spectators"
    NO_SUCH_OFFER = "no_such_offer"
    NOT_FOUND = "not_found"
    NOT_IN_THIS_GAME = "not_in_this_game"
    NOT_JOINED = "not_joined"
    NOT_OVER = "not_over"
    NOT_SAVED = "not_saved"
    NOT_SEATED = "not_seated"
    NOT_YOUR_TURN = "not_your_turn"
    OFFER_DECLINED = "offer_declined"
    OFFER_OPEN = "offer_open"
    OUTCOME_UNKNOWN = "outcome_unknown"
    ROOM_DAMAGED = "room_damaged"
    ROOM_ENDED = "room_ended"
    RULES_CHANGED = "rules_changed"
    SEAT_KEPT = "seat_kept"
    STALE = "stale"
    TOO_FAST = "too_fast"
    TOO_LARGE = "too_large"
    TOO_LATE = "too_late"
    TOO_MANY = "too_many"
    UNKNOWN_BOT = "unknown_bot"
    UNKNOWN_EVENT = "unknown_event"
    UNKNOWN_GAME = "unknown_game"
    UNKNOWN_ROOM = "unknown_room"
    UNKNOWN_TICKET = "unknown_ticket"
    WRONG_GAME = "wrong_game"


class Refused(Exception):
    """What was asked is not done, and nothing changed.

    >>> Refused(Code.ILLEGAL_MOVE, "cell 4 is taken")
    Refused('illegal_move', 'cell 4 is taken')
    """

    def __init__(self, code: str, message: str, *, path: str | None = None, legal: Any = None) -> None:
        super().__init__(str(code), message)
        self.code = str(code)
        self.message = message
        self.path = path
        self.legal = legal

    def told(self) -> dict[str, Any]:
        """What the asker is told, the same over every native way in.

        >>> Refused(Code.MALFORMED, "$.cell: expected int, got str", path="$.cell").told()["path"]
        '$.cell'
        """
        told: dict[str, Any] = {"code": self.code, "message": self.message, "reason": self.code}
        if self.path is not None:
            told["path"] = self.path
        if self.legal is not None:
            told["legal"] = self.legal
        return told


def parse(decode: Callable[[Any], T], value: Any, *, code: Code = Code.MALFORMED, under: str = "$") -> T:
    """*value* as *decode* reads it, or a refusal that says what was expected, what came, and where.

    >>> from typing import Annotated
    >>> parse(msgspec.json.Decoder(dict[str, int]).decode, b'{"cell": "four"}')
    Traceback (most recent call last):
    parlour.errors.Refused: ('malformed', '$[...]: expected int, got str')
    >>> parse(msgspec.json.Decoder(tuple[Annotated[int, msgspec.Meta(le=8)]]).decode, b"[9]")
    Traceback (most recent call last):
    parlour.errors.Refused: ('malformed', '$[0]: expected int <= 8, got 9')
    """
    try:
        return decode(value)
    except msgspec.ValidationError as error:
        raise _explained(str(error), value, code, under) from None
    except msgspec.DecodeError as error:
        raise Refused(code, f"expected JSON, got something else: {error}", path=under) from None
    except (UnicodeDecodeError, RecursionError):
        raise Refused(code, "expected flat JSON in UTF-8, got something else", path=under) from None


def _explained(error: str, value: Any, code: Code, under: str) -> Refused:
    """msgspec's ``Expected `int`, got `str` - at `$.cell` `` as ``$.cell: expected int, got str``."""
    what, _, where = error.partition(" - at ")
    where = where.strip("`") or "$"
    path = under + where.removeprefix("$")
    what = what.replace("`", "")
    if what.startswith("Expected") and ", got" not in what:
        what += f", got {_found(value, where)}"
    return Refused(code, f"{path}: {what[:1].lower()}{what[1:]}", path=path)


def _found(value: Any, where: str) -> str:
    """What stands at this place, shortened; if a name comes twice, it may not be found again."""
    try:
        if isinstance(value, bytes | str | msgspec.Raw):
            value = msgspec.json.decode(value)
        for name, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", where):
            value = value[name] if name else value[int(index)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return "something else"
    return repr(value)[:80]
