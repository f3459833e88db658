"""What the pictures that links show are drawn from, and the digests by which one sees that it has changed.

The pictures are committed, since a page can be built where there is no browser to draw them.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from parlour.games import GAMES
from parlour.server.api.link_previews import GENERAL, picture_name, variants_of
from parlour.server.api.preview import preview

WEB = Path(__file__).parents[1] / "web"
DIGESTS = WEB / "gallery" / "link-pictures.json"
"""Of what each picture was drawn from when it was drawn, by its name."""
LINE = "Board games in the browser, with friends, strangers and bots."

PAGE = WEB / "gallery" / "Picture.svelte"
DRAWING = ("gallery/", "src/board/", "src/ui/")
"""Where the modules are that draw; what they import from elsewhere says and keeps things."""
HANDS = ("src/board/hand.ts", "src/board/walk.ts", "src/board/calm.svelte.ts")
"""Beside what draws, and draws nothing itself."""
STYLES = ("src/app.css", "src/fonts/newsreader-600.woff2")

SEEN = ("width", "height", "spots", "pieces", "lines", "pictures")
"""The fields of a scene that are drawn."""

REMARK = re.compile(r"<!--.*?-->|/\*.*?\*/|^\s*//[^\n]*$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r'^\s*import (?!type )[^;]*?"(\.[^"]+)"', re.MULTILINE)
PROPERTY = re.compile(r"--[\w-]+:[^;}]+")


class Drawn(NamedTuple):
    """What a picture shows: a heading, what stands under it, a sentence, and a board."""

    title: str
    kind: str
    line: str
    scene: Any


def drawings() -> dict[str, Drawn]:
    """What each picture shows now, by its name; games of other packages have none."""
    found = {GENERAL: Drawn("Parlour", "", LINE, preview(GAMES["tictactoe"]))}
    for game in GAMES.values():
        if not type(game).__module__.startswith("parlour.games."):
            continue
        for variant, card in variants_of(game):
            config = None if variant is None else {game.set_up.cards: variant}
            kind = "" if card is None or card.title == game.display_name else card.title
            line = "" if card is None else card.hint
            scene = preview(game, config)
            found[picture_name(game, variant)] = Drawn(game.display_name, kind, line, scene)
    return found


def digests() -> dict[str, str]:
    """Of what each picture is drawn from, by its name: the words, the board, and the hand that draws them."""
    return {"renderer": renderer_digest()} | {
        name: _digest(msgspec.json.encode(_seen(drawn))) for name, drawn in sorted(drawings().items())
    }


def _seen(drawn: Drawn) -> list[Any]:
    """What of it is to be seen: not what a scene says beside its board, or to those who listen."""
    scene = msgspec.to_builtins(drawn.scene)
    for thing in (*scene.get("spots", ()), *scene.get("pieces", ())):
        thing.pop("label", None)
    return [*drawn[:-1], {field: scene.get(field) for field in SEEN}]


def kept_digests() -> dict[str, str]:
    """Those of the pictures that are kept."""
    kept: dict[str, str] = json.loads(DIGESTS.read_text())
    return kept


def keep_digests() -> None:
    """Note that the pictures are drawn from what is there now."""
    DIGESTS.write_text(json.dumps(digests(), indent=2) + "\n")


def renderer_digest() -> str:
    """Of the page's own renderer: all that draws, without remarks, and the colours and sizes of the page."""
    sources = [f"{path.relative_to(WEB)} {plain(path)}" for path in sorted(modules(PAGE))]
    css, font = (WEB / name for name in STYLES)
    properties = PROPERTY.findall(plain(css))
    return _digest("\n".join([*sources, *properties]).encode() + font.read_bytes())


def modules(path: Path) -> set[Path]:
    """A module that draws, and those by which it does."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported(module)
    return found


def _imported(module: Path) -> Iterator[Path]:
    for name in IMPORT.findall(module.read_text()):
        wanted = (module.parent / name).resolve()
        path = wanted if wanted.exists() else Path(f"{wanted}.ts")
        where = str(path.relative_to(WEB))
        if where.startswith(DRAWING) and where not in HANDS:
            yield path


def plain(path: Path) -> str:
    """A source without its remarks, however its lines are broken."""
    return " ".join(REMARK.sub("", path.read_text()).split())


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]
