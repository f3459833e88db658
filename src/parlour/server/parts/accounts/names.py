"""Names of accounts: one script each, and none that looks like another's."""

import re
import unicodedata

from parlour.errors import Code, Refused

_TOGETHER = ({"HIRAGANA", "KATAKANA", "CJK"}, {"HANGUL", "CJK"}, {"BOPOMOFO", "CJK"})
"""Scripts that one language writes side by side."""
_CYRILLIC = dict(zip("авекмнорстухѕіјԁһԛԝӏѵ", "abekmhopctyxsijdhqwlv", strict=True))
_GREEK = dict(zip("αβεζηικμνορτυχγ", "abezhikmnoptyxy", strict=True))
_DIGITS = {"0": "o", "1": "l", "i": "l", "\u0131": "l"}
_LOOKS = str.maketrans({**_CYRILLIC, **_GREEK, **_DIGITS})
"""Small letters, each with the Latin one that it, or its capital, looks like."""
_GUEST = re.compile(r"guest ?\d+")


def key_of_name(name: str) -> str:
    """The same for all names that people take for one another.

    Letter forms, capitals, spaces and punctuation are left out, and look-alikes are one letter.

    >>> key_of_name("Ann") == key_of_name(" \uff41NN.") == key_of_name("\u0410nn")
    True
    >>> key_of_name("Bill") == key_of_name("BlII"), key_of_name("Zoë") == key_of_name("Zoe")
    (True, False)
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(one for one in text if unicodedata.category(one)[0] not in "PZ") or text
    looks = "".join(one.translate(_LOOKS) for one in kept).translate(_LOOKS)
    return looks.replace("rn", "m").replace("vv", "w")


def check_account_name(name: str) -> str:
    """Check that an account may have this name, unless another account has it."""
    scripts = {script for one in unicodedata.normalize("NFKC", name) if (script := _script(one))}
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        found = " and ".join(sorted(script.capitalize() for script in scripts))
        why = f"expected letters of one script, got {found}: an account's name must not look like another's"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    if _GUEST.fullmatch(unicodedata.normalize("NFKC", name).casefold()):
        why = f"expected a name of your own, got one that guests are given: {name!r}"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    return name


def _script(character: str) -> str | None:
    """The script of a letter, by the first word of its name in Unicode; None for all that is no letter."""
    if not unicodedata.category(character).startswith("L"):
        return None
    return re.split("[ -]", unicodedata.name(character, "UNNAMED"))[0]
