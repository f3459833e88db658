"""Names of accounts: one script each, and none that looks like another's."""

import re
import unicodedata

from parlour.errors import Code, Refused
from parlour.server.parts.accounts.look_alikes import LOOK_ALIKES

RULES = 2.0
"""Raised whenever `key_of_name` makes other keys: then all that are kept are made anew."""
_TOGETHER = ({"HIRAGANA", "KATAKANA", "CJK"}, {"HANGUL", "CJK"}, {"BOPOMOFO", "CJK"})
"""Scripts that one language writes side by side."""
_ANY_SCRIPT = {"COMBINING", "VARIATION", "VEDIC", "IDEOGRAPHIC"}
"""How marks are called that stand on letters of more than one script."""
_SAME = str.maketrans({"\u0342": "\u0303", "\u0640": None})
"""A mark that looks like another one, which is part of letters; and what only stretches Arabic words."""
_GUEST = re.compile(r"guest ?\d+")
_IGNORED = re.compile("[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Marks that are seen by nobody; other characters of that kind no name has."""
_KEYCAP = re.compile("[0-9#*]\ufe0f\u20e3")
_SIGNS = "‼⁉〰〽ℹ"  # noqa: RUF001
"""Emojis that are not symbols in Unicode's words."""


def key_of_name(name: str) -> str:
    """The same for all names that people take for one another.

    Letter forms, capitals, spaces, punctuation, invisible marks and those that belong to no letter are left
    out, and look-alikes are one letter.

    >>> key_of_name("Ann") == key_of_name(" \uff41NN.") == key_of_name("\u0410nn") == key_of_name("Ann\u0338")
    True
    >>> key_of_name("Bill") == key_of_name("Bl||"), key_of_name("Zoë") == key_of_name("Zoe")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    text = unicodedata.normalize("NFC", _IGNORED.sub("", folded).translate(_SAME))
    kept = _without_stray_marks(text)
    seen = "".join(one for one in kept if not _is_between_words(one)) or kept
    looks = unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen).translate(LOOK_ALIKES))
    return looks.replace("rn", "m").replace("vv", "w")


def _without_stray_marks(text: str) -> str:
    """The text without marks that are no part of a letter, nor of its script, or are there twice."""
    kept, script = "", None
    for one in text:
        if unicodedata.category(one) in ("Mn", "Me"):
            if script is None or _script(one) != script or kept.endswith(one):
                continue
        else:
            script = _script(one)
        kept += one
    return kept


def _is_between_words(character: str) -> bool:
    """Whether it is a space, punctuation, or an accent by itself."""
    category = unicodedata.category(character)
    return category[0] in "PZ" or category == "Sk"


def check_account_name(name: str) -> str:
    """Check that an account may have this name, unless another account has it."""
    hidden = next((at for at in _IGNORED.finditer(name) if not _varies(name, at.start())), None)
    if hidden is not None:
        why = f"expected visible characters only, got U+{ord(hidden[0]):04X}"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    scripts = {script for one in unicodedata.normalize("NFKC", name) if (script := _script(one))}
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        found = " and ".join(sorted(script.capitalize() for script in scripts))
        why = f"expected letters of one script, got {found}: an account's name must not look like another's"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    if _GUEST.fullmatch(unicodedata.normalize("NFKC", name).casefold()):
        why = f"expected a name of your own, got one that guests are given: {name!r}"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    return name


def _varies(name: str, at: int) -> bool:
    """Whether the mark there chooses a form of the character before it: of emojis, ideographs, Mongolian."""
    mark, before = name[at], name[at - 1 : at]
    if mark in "\ufe0e\ufe0f":
        is_emoji = before in _SIGNS or unicodedata.category(before) in ("So", "Sm", "Sk")
        return is_emoji or _KEYCAP.match(name, at - 1) is not None
    if mark >= "\U000e0100":
        return _script(before) == "CJK"
    return "\u180b" <= mark <= "\u180f" and _script(before) == "MONGOLIAN"


def _script(character: str) -> str | None:
    """The script of a letter or its mark, by the first word of its name in Unicode; None if it is of none."""
    if unicodedata.category(character)[0] not in "LM":
        return None
    script = re.split("[ -]", unicodedata.name(character, "UNNAMED"))[0]
    return None if script in _ANY_SCRIPT else script
