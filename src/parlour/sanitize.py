"""What a client may send at all: strict JSON, names and texts that can be shown, ids that are short."""

import re
import unicodedata

from parlour.errors import Code, Refused

# Strict JSON, checked before anything is parsed or passed on.

MAX_DEPTH = 32
MAX_INTEGER = 2**53

_DIGITS = bytes(48 if 48 <= byte < 58 else 69 if byte == 101 else byte for byte in range(256))
"""Every digit as a 0, every e as an E: then a long number or one with an exponent is found at a glance."""
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.DOTALL)  # never looks back: strings may be hostile
_NUMBER = re.compile(rb"-?\d[\d.eE+-]*")


def strict(frame: bytes) -> bytes:
    """*frame* unless it nests deeper than 32 or holds a number that JavaScript cannot hold exactly.

    >>> strict(b'{"cell": 4}')
    b'{"cell": 4}'
    >>> strict(b"9007199254740993")
    Traceback (most recent call last):
    parlour.errors.Refused: ('malformed', 'expected integers within 2^53, got 9007199254740993')
    """
    nests = frame.count(b"[") + frame.count(b"{") > MAX_DEPTH
    numbers = frame.translate(_DIGITS)
    if nests or b"0E" in numbers or b"0" * 16 in numbers:
        bare = _STRINGS.sub(b'""', frame)
        _check_depth(bare)
        _check_numbers(bare)
    return frame


def shallow(frame: bytes) -> bytes:
    """*frame* unless it nests deeper than 32; for envelopes whose contents are checked on their own."""
    if frame.count(b"[") + frame.count(b"{") > MAX_DEPTH:
        _check_depth(_STRINGS.sub(b'""', frame))
    return frame


def _check_depth(bare: bytes) -> None:
    depth = 0
    for byte in bare:
        depth += (byte in b"[{") - (byte in b"]}")
        if depth > MAX_DEPTH:
            raise Refused(Code.MALFORMED, f"expected at most {MAX_DEPTH} levels of nesting, got more")


def _check_numbers(bare: bytes) -> None:
    for match in _NUMBER.finditer(bare):
        number = match.group().decode("ascii")
        if number.lstrip("-").isdigit():
            if len(number) > 20 or abs(int(number)) > MAX_INTEGER:
                raise Refused(Code.MALFORMED, f"expected integers within 2^53, got {number[:40]}")
        elif not _finite(number):
            raise Refused(Code.MALFORMED, f"expected finite numbers, got {number[:40]}")


def _finite(number: str) -> bool:
    try:
        return abs(float(number)) < float("inf")
    except ValueError:
        return True  # not a number at all: the JSON parser says so better


# Names and words of people.

MAX_NAME = 40
MAX_TEXT = 500
MAX_ID = 64
ROOM_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}")
"""An id that somebody chose for a room; `.` and `..` mean something else in an address."""

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}  # letters and signs that look like nothing


def clean(text: str, limit: int, code: Code) -> str:
    """*text* in NFC without spaces around it; refused when empty, too long, or with invisible characters.

    >>> clean("  Zoe\u0308 ", 40, Code.INVALID_NAME)
    'Zoë'
    """
    if len(text) > 4 * limit:
        raise Refused(code, f"expected at most {limit} characters, got {len(text)}")
    text = unicodedata.normalize("NFC", text).strip()
    if not 0 < len(text) <= limit:
        raise Refused(code, f"expected 1 to {limit} characters, got {len(text)}")
    if unicodedata.category(text[0]).startswith("M"):
        raise Refused(code, f"expected something for U+{ord(text[0]):04X} to stand on, got nothing before it")
    for character in text:
        if unicodedata.category(character) in _INVISIBLE or character in _BLANK:
            raise Refused(code, f"expected visible characters only, got U+{ord(character):04X}")
    return text


def clean_name(name: str) -> str:
    """A player's name, fit to be shown to others."""
    return clean(name, MAX_NAME, Code.INVALID_NAME)


def clean_text(text: str) -> str:
    """A line of chat, fit to be shown to others."""
    return clean(text, MAX_TEXT, Code.INVALID_TEXT)


def check_id(id: str | None) -> str | None:
    """A command's id: short, and otherwise the client's own affair."""
    if id is not None and not 0 < len(id) <= MAX_ID:
        raise Refused(Code.MALFORMED, f"$.id: expected 1 to {MAX_ID} characters, got {len(id)}", path="$.id")
    return id
