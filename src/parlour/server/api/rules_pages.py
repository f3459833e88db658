"""Rules pages: the Markdown that stands beside a game, as blocks that the page for browsers draws."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any
from weakref import WeakKeyDictionary

import msgspec
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Refused
from parlour.game import Game, kinds_of
from parlour.pictures import with_pictures
from parlour.scene import Scene
from parlour.server.api.game_files import LANGUAGE, text_beside

BOARD = "board"
"""The language of a fenced block that is a diagram; what follows it in the line is its caption."""


class Run(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some words that look alike."""

    text: str
    strong: bool = False
    em: bool = False
    code: bool = False
    href: str = ""


class Heading(msgspec.Struct, frozen=True, tag="heading", tag_field="is"):
    """A heading; the page's own title is none of them."""

    level: int
    runs: tuple[Run, ...]


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph", tag_field="is"):
    """A paragraph."""

    runs: tuple[Run, ...]


class Listing(msgspec.Struct, frozen=True, tag="list", tag_field="is"):
    """A list, numbered if it is ordered."""

    ordered: bool
    items: tuple[tuple["Block", ...], ...]


class Table(msgspec.Struct, frozen=True, tag="table", tag_field="is"):
    """A table: the cells of its head, and of each row."""

    head: tuple[tuple[Run, ...], ...]
    rows: tuple[tuple[tuple[Run, ...], ...], ...]


class Preformatted(msgspec.Struct, frozen=True, tag="code", tag_field="is"):
    """Text that is shown as it is written."""

    text: str


class Diagram(msgspec.Struct, frozen=True, tag="diagram", tag_field="is"):
    """A board, drawn as in a room."""

    scene: Scene
    caption: str


Block = Heading | Paragraph | Listing | Table | Preformatted | Diagram


class RulesPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game, or a variant of it, is played."""

    title: str
    blocks: tuple[Block, ...]
    language: str = "en"


class RulesWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which rules page of a game."""

    variant: Annotated[str, Meta(description="of a game whose config has one")] | None = None
    language: Annotated[
        str, Meta(pattern=LANGUAGE, description="in this one, if there is a page; otherwise in English")
    ] = "en"


Draw = Callable[[str], Scene]
"""How a game draws the text of a diagram."""

_parse = MarkdownIt("commonmark", {"html": False}).enable("table").parse


class RulesPages:
    """The rules pages of all games, made when somebody asks and kept while their text stays the same."""

    def __init__(self, ask_game: Callable[[Game[Any], str, Callable[[], Scene]], Scene]) -> None:
        self._ask_game = ask_game
        """Runs a game's code within the bounds that hold for all of it."""
        self._made: WeakKeyDictionary[Game[Any], dict[tuple[str | None, str], tuple[str, RulesPage]]] = (
            WeakKeyDictionary()
        )

    def show(self, game: Game[Any], variant: str | None, language: str = "en") -> RulesPage:
        """The page of a variant, or of the game where that has none; an unknown variant is refused."""
        if variant is not None:
            game.read_config({"variant": variant})

        def draw(text: str) -> Scene:
            return self._ask_game(game, "rules", lambda: with_pictures(game, game.diagram(text)))

        own = "" if language == "en" else rules_text_in(language, game, variant)
        text, key = own or rules_text(game, variant), (variant, language if own else "en")
        made = self._made.setdefault(game, {})
        if key not in made or made[key][0] != text:
            made[key] = (text, replace(rules_page(game.display_name, text, draw), language=key[1]))
        return made[key][1]


def rules_text(game: Game[Any], variant: str | None = None) -> str:
    """The rules as Markdown: of the variant, or of the game, or else what its types say of it."""
    own = text_beside(game, f"{game.name}-{variant}.md") if variant else ""
    return own or game.rules or text_beside(game, f"{game.name}.md") or described(game)


def rules_text_in(language: str, game: Game[Any], variant: str | None = None) -> str:
    """The rules in another language, from a file of their own; empty where there is none."""
    own = text_beside(game, f"{game.name}-{variant}.{language}.md") if variant else ""
    return own or ("" if _has_page(game, variant) else text_beside(game, f"{game.name}.{language}.md"))


def _has_page(game: Game[Any], variant: str | None) -> bool:
    return variant is not None and text_beside(game, f"{game.name}-{variant}.md") != ""


# Markdown to blocks.


def rules_page(title: str, text: str, draw: Draw) -> RulesPage:
    """The page of a text; a heading of the first level at its beginning is its title.

    >>> rules_page("Nim", "Take *one* to three.", draw=lambda _: Scene()).blocks[0].runs[1]
    Run(text='one', strong=False, em=True, code=False, href='')
    """
    blocks = tuple(_blocks(SyntaxTreeNode(_parse(text)).children, draw))
    match blocks:
        case (Heading(1, runs), *rest):
            return RulesPage("".join(run.text for run in runs), tuple(rest))
        case _:
            return RulesPage(title, blocks)


def _blocks(nodes: Iterable[SyntaxTreeNode], draw: Draw) -> Iterator[Block]:
    for node in nodes:
        match node.type:
            case "heading":
                yield Heading(int(node.tag[1:]), _runs(node))
            case "paragraph":
                yield Paragraph(_runs(node))
            case "bullet_list" | "ordered_list":
                items = tuple(tuple(_blocks(item.children, draw)) for item in node.children)
                yield Listing(node.type == "ordered_list", items)
            case "blockquote":
                yield from _blocks(node.children, draw)
            case "table":
                yield _table(node)
            case "fence" | "code_block":
                yield _fenced(node, draw)
            case _:  # a rule across the page, or what only links refer to
                pass


def _table(node: SyntaxTreeNode) -> Table:
    head, *rows = (tuple(map(_runs, row.children)) for part in node.children for row in part.children)
    return Table(head, tuple(rows))


def _fenced(node: SyntaxTreeNode, draw: Draw) -> Block:
    """A diagram; where the game cannot draw it, the text itself, so that its author sees which it is."""
    language, _, caption = node.info.strip().partition(" ")
    if language != BOARD:
        return Preformatted(node.content)
    try:
        scene = draw(node.content)
    except Refused:  # logged
        return Preformatted(node.content)
    return Diagram(
        Scene(
            scene.width,
            scene.height,
            scene.spots,
            scene.pieces,
            text=scene.text,
            pictures=scene.pictures,
        ),
        caption,
    )


def _runs(node: SyntaxTreeNode) -> tuple[Run, ...]:
    """The words of a paragraph, a heading or a cell."""
    return tuple(run for child in node.children for run in _inline(child, Run("")))


def _inline(node: SyntaxTreeNode, like: Run) -> Iterator[Run]:
    """The words of a node, which look *like* what they stand in."""
    match node.type:
        case "text" | "image":
            yield replace(like, text=node.content)
        case "code_inline":
            yield replace(like, text=node.content, code=True)
        case "softbreak" | "hardbreak":
            yield replace(like, text=" ")
        case kind:
            if kind in ("strong", "em"):
                like = replace(like, **{kind: True})
            elif kind == "link":
                like = replace(like, href=_address(node))
            for child in node.children:
                yield from _inline(child, like)


def _address(link: SyntaxTreeNode) -> str:
    """Where a link leads, if that is a page of the web."""
    href = str(link.attrs.get("href", ""))
    return href if href.startswith(("https://", "http://")) else ""


# A page for a game that has none.


def described(game: Game[Any]) -> str:
    """What the types of a game say of it, as Markdown: who plays, what they can do, how it is set up."""
    least, most = game.seats.start, game.seats.stop - 1
    players = f"{least} to {most} players" if least < most else f"{most} player{'s' * (most > 1)}"
    parts = [type(game).__doc__ or "", f"For {players}."]
    (config,), schemas = msgspec.json.schema_components([game.Config])
    events = [_described(kind) for kind in kinds_of(game.Event)]
    fields = _fields(schemas[config["$ref"].rpartition("/")[2]])
    if events:
        parts += ["## What you can do", "\n".join(f"- {event}" for event in events)]
    if fields:
        parts += ["## What can be set up", "\n".join(f"- {field}" for field in fields)]
    return "\n\n".join(inspect.cleandoc(part) for part in parts if part)


def _described(kind: type) -> str:
    """An event in a line: what it is called, what it does, what it takes."""
    (reference,), schemas = msgspec.json.schema_components([kind])
    schema = schemas[reference["$ref"].rpartition("/")[2]]
    name = str(schema["properties"]["type"]["enum"][0]).replace("_", " ").capitalize()
    doc = " ".join(schema.get("description", "").split())
    taken = ", ".join(f"`{field}`" for field in schema["properties"] if field != "type")
    return " ".join(filter(None, (f"**{name}**.", doc, taken and f"({taken})")))


def _fields(schema: dict[str, Any]) -> list[str]:
    """Each field of a config in a line."""
    return [_field(name, field) for name, field in schema["properties"].items()]


def _field(name: str, field: dict[str, Any]) -> str:
    usual = field.get("default")
    told = "" if usual is None else f"Usually {msgspec.json.encode(usual).decode()}."
    about = f"{field['description']}." if "description" in field else ""
    return " ".join(filter(None, (f"**{name.replace('_', ' ').capitalize()}**.", about, told)))
