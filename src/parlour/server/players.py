"""Who somebody is: guests with a signed token that lasts."""

import os
import secrets
import string
import zlib
from pathlib import Path

from itsdangerous import BadSignature, TimestampSigner

from parlour.errors import Code, Refused
from parlour.journal.base import Damaged

TOKEN_DAYS = 400
COOKIE = "parlour_token"


def new_player_id() -> str:
    """Twenty random letters: nobody guesses one, and nobody need type one."""
    return random_letters(20).lower()


def random_letters(length: int) -> str:
    """Capital letters that nobody can foretell."""
    return "".join(secrets.choice(string.ascii_uppercase) for _ in range(length))


def guest_name(player: str) -> str:
    """A name for somebody who gave none, always the same."""
    return f"Guest {1000 + zlib.crc32(player.encode()) % 9000}"


class Tokens:
    """Signs ids, so that only we can say who somebody is; a token of one kind is none of another."""

    def __init__(self, key: bytes, kind: str = "player") -> None:
        self._key = key
        self._signer = TimestampSigner(key, salt=f"parlour.{kind}")

    def of_kind(self, kind: str) -> "Tokens":
        """Tokens of another kind, by the same key."""
        return Tokens(self._key, kind)

    @classmethod
    def in_folder(cls, folder: Path) -> "Tokens":
        """With the key that lives in the data folder, made on first use and readable by its owner only."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal holds seeds
        path = folder / "signing.key"
        if not path.exists():
            draft = folder / "signing.key.new"
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
        key = path.read_bytes()
        if len(key) != 32:  # half a key, or none, could be guessed
            raise Damaged(f"{path} is not a whole key: delete it, and everybody will be a stranger")
        return cls(key)

    def issue(self, player: str) -> str:
        """A token that says: the bearer is this player."""
        return self._signer.sign(player).decode()

    def read(self, token: str) -> str:
        """The player behind a token; forged and expired ones are refused alike."""
        try:
            return self._signer.unsign(token, max_age=TOKEN_DAYS * 86400).decode()
        except (BadSignature, UnicodeEncodeError):
            raise Refused(
                Code.BAD_TOKEN, "the token is not valid here (any more); ask for a new one"
            ) from None
