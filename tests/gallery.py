"""Every word of scenes with the line of Python that makes it, for docs/gallery.md and its pictures."""

import re
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

import parlour.scene
from parlour.scene import Piece, Scene, Spot

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "images" / "gallery"
DARK = "dark"
"""The picture of all of them in the dark."""
UNIT, LONGEST, MARGIN = 64, 150, 4
"""Pixels: a unit of the board, the longer side of a picture, and what is around it."""


class Example(NamedTuple):
    """A word, and a line that uses it."""

    word: str
    line: str

    def scene(self) -> Scene:
        """What is drawn of it: pieces stand on a plain square, spots lie on a board of their size."""
        made = eval(self.line, vars(parlour.scene).copy())
        if isinstance(made, Scene):
            return made
        things = made if isinstance(made, tuple) else (made,)
        if isinstance(things[0], Piece):
            return _standing(things)
        return _lying(things)


def _standing(pieces: tuple[Piece, ...]) -> Scene:
    high = 1.4 if pieces[0].look.startswith("card") else 1.0
    spot = Spot("a", 0, 0, 1, high, fill="none")
    return Scene(1, high, (spot,), tuple(replace(piece, spot="a", label="") for piece in pieces))


def _lying(spots: tuple[Spot, ...]) -> Scene:
    edge = 0.3 if spots[0].shape == "path" and len(spots) == 1 else 0  # its line is wider than its points
    width, height = max(spot.x + spot.w for spot in spots), max(spot.y + spot.h for spot in spots)
    return Scene(width + edge, height + edge, spots)


def _on(shape: str, count: int, look: str = "disc", *, w: float = 1, h: float = 1, text: str = "") -> str:
    """The line of a board of one spot, with some pieces on it."""
    piece = f'Piece(f"p{{at}}", "{look}", "a", at=at{text})'
    spot = f'Spot("a", 0, 0, {w}, {h}, shape="{shape}", fill="felt")'
    return f"Scene({w}, {h}, ({spot},), tuple({piece} for at in range({count})))"


ON_CARDS = ("clubs", "diamonds", "hearts", "spades")
OFFICERS = {
    "marshal": "10", "general": "9", "colonel": "8", "major": "7", "captain": "6", "lieutenant": "5",
    "sergeant": "4", "miner": "3", "scout": "2", "spy": "1", "bomb": "", "flag": "",
}  # fmt: skip
LOOKS = {
    "x": ", owner=0", "o": ", owner=1", "disc": ", owner=0", "counter": ", owner=2, count=5",
    "card": ', text="Q", glyph="hearts"', "card_back": ", owner=1",
    "tile": ', owner=0, text="8", glyph="colonel"', "back": ", owner=1",
    "die": ', text="5"', "cube": ', text="64"', "flag": "", "mine": "",
}  # fmt: skip
SHAPES = {
    "square": 'Spot("a", 0, 0, shape="square")',
    "round": 'Spot("a", 0, 0, shape="round", fill="dark")',
    "up": 'Spot("a", 0, 0, 1, 3, shape="up", fill="dark")',
    "down": 'Spot("a", 0, 0, 1, 3, shape="down", fill="light")',
    "tray": _on("tray", 5, w=4, h=2),
    "hex": 'Spot("a", 0, 0, 1, 1.15, shape="hex", fill="light")',
    "polygon": 'polygon("a", [(0, 1), (1, 0), (2, 0.4), (1.6, 1.5)], fill="water")',
    "path": 'path("a", [(0.2, 0.3), (1.2, 0.8), (2, 0.3)], owner=3)',
    "node": 'Spot("a", 0, 0, shape="node", fill="light")',
    "hand": _on("hand", 5, "card", w=4, h=1.6, text=', text="A23456"[at], glyph="spades"'),
    "pile": _on("pile", 3, "card_back", w=1.1, h=1.5, text=", owner=0"),
}
FILLS = ("none", "paper", "raised", "sunken", "felt", "wood", "light", "dark", "water", "red")
BOARDS = {
    "grid": "grid(4, 3)",
    "hex_grid": 'hex_grid(4, 3, fill="light")',
    "hex_grid, not slanted": 'hex_grid(4, 3, slanted=False, fill="light")',
    "graph": 'graph({"a": (0.5, 0.5), "b": (2.5, 0.7), "c": (1.5, 2)}, [("a", "b"), ("b", "c")])',
    "a point of backgammon": 'Scene(1, 5, (Spot("a", 0, 0, 1, 5, shape="up", fill="dark"),), '
    'tuple(Piece(f"p{at}", "disc", "a", at=at, owner=0) for at in range(4)))',
    "counters on one spot": 'Scene(2, 2, (Spot("a", 0, 0, 2, 2, fill="light"),), '
    'tuple(Piece(f"p{at}", "counter", "a", at=at, owner=at) for at in range(4)))',
    "a line through what won": "Scene(3, 1, grid(3, 1), "
    'tuple(Piece(f"p{at}", "x", f"c{at}", owner=0) for at in range(3)), '
    "lines=(Line(0.2, 0.5, 2.8, 0.5, owner=0),))",
}

GROUPS: dict[str, list[Example]] = {
    "Looks of pieces": [Example(look, f'Piece("p", "{look}", "a"{more})') for look, more in LOOKS.items()],
    "Owners": [
        Example(f"owner {owner}", f'Piece("p", "counter", "a", owner={owner})') for owner in (*range(8), None)
    ],
    "Glyphs": [
        *(
            Example(g, f'Piece("p", "tile", "a", owner=0, text="{t}", glyph="{g}")')
            for g, t in OFFICERS.items()
        ),
        *(Example(suit, f'card("p", "a", "A", "{suit}")') for suit in ON_CARDS),
    ],
    "Marks": [
        Example("last", 'Spot("a", 0, 0, fill="light", mark="last")'),
        Example("win", 'Spot("a", 0, 0, fill="light", mark="win")'),
        Example("wrong", 'Piece("p", "flag", "a", mark="wrong")'),
    ],
    "Shapes of spots": [Example(shape, line) for shape, line in SHAPES.items()],
    "Fills of spots": [Example(fill, f'Spot("a", 0, 0, fill="{fill}")') for fill in FILLS],
    "Tones of text": [
        Example(f"tone {tone}", f'Spot("a", 0, 0, fill="sunken", text="{tone}", tone={tone})')
        for tone in range(9)
    ],
    "Spots with an owner": [
        Example(f"spot of {owner}", f'Spot("a", 0, 0, shape="hex", owner={owner})') for owner in range(8)
    ],
    "Boards and layouts": [Example(name, line) for name, line in BOARDS.items()],
}

HEAD = """# Gallery

Every look, owner, glyph, mark, shape, fill and tone that a [scene](reference/scene.md) knows, as the page
draws it, with the line that makes it (after `from parlour.scene import *`). The colours are those of the
light theme; [below](#in-the-dark) is all of it in the dark. For anything else,
[use your own pictures](recipes.md#your-own-pictures).

<!-- Made by scripts/gallery from tests/gallery.py: change that and run it. -->
"""


def pictures() -> dict[str, Example]:
    """All examples by the files of their pictures."""
    return {_file(group, one.word): one for group, examples in GROUPS.items() for one in examples}


def _file(group: str, word: str) -> str:
    words = re.findall(r"\w+", f"{group.split(maxsplit=1)[0].lower()} {word}")
    return f"{'-'.join(words)}.webp"


def _row(group: str, one: Example) -> str:
    scene, file = one.scene(), _file(group, one.word)
    width = round(scene.width * min(UNIT, LONGEST / max(scene.width, scene.height))) + 2 * MARGIN
    picture = f'<img src="images/gallery/{file}" width="{width}" alt="{one.word}">'
    return f"| {picture} | `{one.word}` | `{one.line}` |"


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [HEAD]
    for group, examples in GROUPS.items():
        rows = (_row(group, one) for one in examples)
        parts.append("\n".join((f"## {group}\n", "| picture | word | Python |", "|---|---|---|", *rows, "")))
    parts.append(f"## In the dark\n\n![All of the above in the dark theme](images/gallery/{DARK}.webp)\n")
    return "\n".join(parts)
