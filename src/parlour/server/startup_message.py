"""What an operator reads when the server has started: its address, and a QR code to scan with a phone."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import segno

from parlour.server.addresses import Reach
from parlour.server.settings import Settings

BLACK_ON_WHITE = "\x1b[38;5;16;48;5;231m"
"""Explicit colours: with the terminal's own, the code would be inverted on a dark background."""
PLAIN = "\x1b[0m"
MARGIN = 2
"""Light modules around the code, which cameras need to find it."""
HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


def greeting(
    reach: Reach, settings: Settings, games: Iterable[str], panel_key: str | None = None
) -> list[str]:
    """Sentences that give the server's addresses, and that of the panel for authors if there is one."""
    said = [f"Parlour is open at {reach.url} with {', '.join(games)}. Ctrl-C closes it."]
    if reach.is_known:
        said.append(f"On this computer: {reach.local}.")
    if reach.others:
        said.append(f"On other networks of this computer: {', '.join(reach.others)}.")
    if settings.lan and not reach.is_known:
        said.append("No network was found, so only a browser on this computer can come in.")
    if panel_key is not None:
        said.append(f"Panel with every seat, view and step, for you alone: {reach.local}/panel#{panel_key}")
    return said


def qr_code(url: str) -> str:
    """The address as a QR code of half-block characters, dark on light in any terminal."""
    code = segno.make(url, error="m", micro=False)
    rows = [list(row) for row in code.matrix_iter(border=MARGIN)]
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=[0] * len(rows[0]))
    return "".join(f"{BLACK_ON_WHITE}{_line(upper, lower)}{PLAIN}\n" for upper, lower in pairs)


def _line(upper: Sequence[int], lower: Sequence[int]) -> str:
    return "".join(HALVES[bool(top), bool(bottom)] for top, bottom in zip(upper, lower, strict=True))
