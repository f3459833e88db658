"""Recovery codes and sign-in links: made here, shown once, kept as a digest."""

import hashlib
import re
import secrets

from parlour.errors import Code, Refused

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and capitals, without those that are easily read as others."""
_MISREAD = str.maketrans("OIL", "011")
_GROUPS, _LETTERS = 5, 4
_LINK_BYTES = 24


def new_code() -> str:
    """A recovery code of 100 random bits, in groups that can be written down."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(_LETTERS)) for _ in range(_GROUPS))
    return "-".join(groups)


def new_link_secret() -> str:
    """The secret part of a link that signs somebody in."""
    return secrets.token_urlsafe(_LINK_BYTES)


def digest_of_code(code: str) -> str:
    """The digest of a code as somebody typed it: in any case, with or without its dashes.

    >>> digest_of_code("abcd-efgh-jkmn-pqrs-tv01") == digest_of_code(" ABCDEFGH JKMN PQRS TVOL")
    True
    """
    plain = re.sub(r"[\s\-–—]", "", code).upper().translate(_MISREAD)  # noqa: RUF001 - dashes that keyboards make
    if len(plain) != _GROUPS * _LETTERS or not set(plain) <= set(ALPHABET):
        why = f"$.code: expected {_GROUPS} groups of {_LETTERS} letters and digits, got something else"
        raise Refused(Code.BAD_CODE, why, path="$.code")
    return digest_of(plain)


def digest_of(secret: str) -> str:
    """The digest under which a secret is kept; it has enough random bits to need no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()
