"""Tokens: who somebody is, signed; and the keys that sign them."""

import os
import re
import secrets
import string
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from itsdangerous import BadSignature, TimestampSigner

from parlour.errors import Code, Refused
from parlour.journal.base import Damaged
from parlour.server.clock import SystemClock

TOKEN_DAYS = 400
COOKIE = "parlour_token"
SEPARATOR = "~"
"""Separates the signed parts of a token: player, session, an account's device, the number of the key."""
FIRST_KEY = 1
KEY_BYTES = 32
KEY_FILE = re.compile(r"signing(?:-([1-9]\d{0,8}))?\.key")
"""`signing.key` is the first, followed by `signing-2.key` and so on."""


def new_player_id() -> str:
    """A new id of twenty random letters: impossible to guess, and never typed."""
    return random_letters(20).lower()


def random_letters(length: int) -> str:
    """Capital letters that nobody can predict."""
    return "".join(secrets.choice(string.ascii_uppercase) for _ in range(length))


def guest_name(player: str) -> str:
    """The name of a player who gave none, always the same."""
    return f"Guest {1000 + zlib.crc32(player.encode()) % 9000}"


def brought(token: str | None) -> str | None:
    """The token that a client sent, if any: scripts write an unset variable as a word.

    >>> [brought(token) for token in ("p.x.y", "undefined", "null", " ", None)]
    ['p.x.y', None, None, None, None]
    """
    token = (token or "").strip()
    return None if token in ("", "undefined", "null") else token


def bearer_token(authorization: str | None) -> str | None:
    """The token of an Authorization header, if that is what it holds.

    >>> bearer_token("Bearer p.x.y"), bearer_token("Basic abc"), bearer_token(None)
    ('p.x.y', None, None)
    """
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


class Bearer(NamedTuple):
    """The content of a token."""

    player: str
    session: int
    """How often this player had ended all sessions when it was signed."""
    device: int = 0
    """The number of the device that an account is signed in on; 0 for guests."""


class _Signer(TimestampSigner):
    """A signer that takes the time from our clock."""

    def __init__(self, key: bytes, salt: str, date: Callable[[], float]) -> None:
        super().__init__(key, salt=salt)
        self._date = date

    def get_timestamp(self) -> int:
        return int(self._date())


class SigningKeys(dict[int, bytes]):
    """Keys by number."""

    signing: int | None = None
    """The one that signs; None: the newest."""


class Tokens:
    """Signs ids and reads them back; a token of one kind is not valid as another.

    There may be several keys, by number: one signs, and a token names the one that signed it. Keys may come
    later, into the mapping that was given, but the first of them before the first token.
    """

    def __init__(
        self,
        keys: bytes | Mapping[int, bytes] | SigningKeys,
        kind: str = "player",
        *,
        date: Callable[[], float] | None = None,
        lasts: float = TOKEN_DAYS * 86400,
    ) -> None:
        if not isinstance(keys, SigningKeys):
            keys = SigningKeys({FIRST_KEY: keys} if isinstance(keys, bytes) else keys)
        self._keys = keys
        self._kind = kind
        self._date = date or SystemClock().date
        self._lasts = lasts
        self._signers: dict[int, _Signer] = {}

    def of_kind(self, kind: str, *, lasts: float = TOKEN_DAYS * 86400) -> "Tokens":
        """Tokens of another kind, valid for so many seconds, with the same keys."""
        return Tokens(self._keys, kind, date=self._date, lasts=lasts)

    @classmethod
    def in_folder(cls, folder: Path, *, date: Callable[[], float] | None = None) -> "Tokens":
        """Load the keys from the data folder; the first key is made on first use."""
        keys = list_keys(folder)
        if not keys:
            make_key(folder)
            keys = list_keys(folder)
        return cls({number: read_key(path) for number, path in keys.items()}, date=date)

    def _signer(self, number: int) -> _Signer:
        """The signer with the key of that number; `KeyError` if there is none."""
        if number not in self._signers:
            self._signers[number] = _Signer(self._keys[number], f"parlour.{self._kind}", self._date)
        return self._signers[number]

    def issue(self, player: str, session: int = 0, device: int = 0) -> str:
        """A token that names this player."""
        key = self._keys.signing or max(self._keys)
        parts = [player, session, device, key] if device else [player, session, key]
        return self._signer(key).sign(SEPARATOR.join(map(str, parts))).decode()

    def bearer(self, token: str, *, expires: bool = True) -> Bearer:
        """The content of a token; a forged one and an expired one are refused alike.

        A token from the future is valid, because clocks are set back. Cookies do not expire here, since
        browsers delete them by themselves: a wrong clock would make strangers of known people.
        """
        try:
            value, signed = self._signer(_key_of(token)).unsign(token, return_timestamp=True)
            player, *rest = value.decode().split(SEPARATOR)
            session = int(rest[0]) if rest else 0
            device = int(rest[1]) if len(rest) > 2 else 0
        except (BadSignature, UnicodeError, ValueError, KeyError):
            raise bad_token() from None
        if expires and self._date() - signed.timestamp() >= self._lasts + 1:  # signed in whole seconds
            raise bad_token()
        return Bearer(player, session, device)

    def read(self, token: str, *, expires: bool = True) -> str:
        """The id that was signed, in whichever session."""
        return self.bearer(token, expires=expires).player


def _key_of(token: str) -> int:
    """The number of the key that signed a token, if the token says so; the first tokens did not."""
    value = token.rsplit(".", 2)[0]
    return int(value.rpartition(SEPARATOR)[2]) if SEPARATOR in value else FIRST_KEY


def bad_token() -> Refused:
    """The refusal of a token that is not valid."""
    return Refused(Code.BAD_TOKEN, "the token is not valid here (any more); ask for a new one")


# The keys in the data folder.


def key_number(file: str) -> int | None:
    """The number of a key by its file's name.

    >>> key_number("signing.key"), key_number("signing-2.key"), key_number("house.key")
    (1, 2, None)
    """
    match = KEY_FILE.fullmatch(file)
    return int(match[1] or FIRST_KEY) if match else None


def list_keys(folder: Path) -> dict[int, Path]:
    """The key files by their numbers, the oldest first."""
    found = ((key_number(path.name), path) for path in folder.glob("signing*.key"))
    return dict(sorted((number, path) for number, path in found if number is not None))


def key_name(number: int) -> str:
    """What a key is called: the stem of its file, or the name of the secret in a database."""
    return "signing" if number == FIRST_KEY else f"signing-{number}"


def make_key(folder: Path) -> Path:
    """Make a new key, which signs from the next start on."""
    number = max(list_keys(folder), default=FIRST_KEY - 1) + 1
    return write_key(folder, number, secrets.token_bytes(KEY_BYTES))


def write_key(folder: Path, number: int, key: bytes) -> Path:
    """Write a key to its file; only its owner can read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal holds seeds
    path = folder / f"{key_name(number)}.key"
    draft = folder / f"{path.name}.new"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    return path


def read_key(path: Path) -> bytes:
    """Read a whole key: an empty or truncated one could be guessed."""
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise Damaged(f"{path} is not a whole key: delete it, and whose token it signed will be a stranger")
    return key
