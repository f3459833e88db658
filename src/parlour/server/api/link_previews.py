"""What a link to a page shows in a chat: a title, a sentence and a picture, as tags in the page's head."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request

from parlour.clocks import ClockSettings
from parlour.errors import Refused
from parlour.game import Game
from parlour.journal.base import RoomSummary, Trouble
from parlour.server.bots.players import PREFIX, bot_name, is_bot
from parlour.set_up import Card, Preset

SIZE = (1200, 630)
"""Pixels of a picture."""
GENERAL = "parlour"
"""The picture of whatever has none of its own."""
FOLDER = "/previews"
NAME = "Parlour"
SLOGAN = "Board games in the browser: play a stranger, a friend or a bot, at once and without an account."
HOST = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?")
"""The names of hosts that are repeated in a page."""
PATIENCE = 0.5
"""Seconds that a page waits for what its link shows; then it comes without."""


class Said(NamedTuple):
    """What a link shows."""

    title: str
    text: str
    picture: str = GENERAL


Find = Callable[[Request], Awaitable[RoomSummary]]
"""Finds the room of a page, as anybody may who asks for it."""
NameOf = Callable[[str], Awaitable[str | None]]
"""How a player is called, if it is one."""


class LinkPreviews:
    """Says what links to the pages show; no more than whoever follows them sees without an account."""

    def __init__(self, games: Mapping[str, Game[Any]], find: Find, name_of: NameOf) -> None:
        self._games = games
        self._find = find
        self._name_of = name_of

    async def tags(self, request: Request, origin: str | None, pictures: Collection[str]) -> str:
        """The tags of a page; its addresses are whole if the origin is known."""
        try:
            async with asyncio.timeout(PATIENCE):
                said = await self._say(request)
        except (Refused, Trouble, TimeoutError):
            said = None
        said = said or Said(NAME, SLOGAN)
        picture = said.picture if f"{FOLDER}/{said.picture}.png" in pictures else GENERAL
        return "".join(_written(said._replace(picture=picture), request.url.path, origin))

    async def _say(self, request: Request) -> Said | None:
        match request.url.path.split("/")[1:]:
            case ["r", _]:
                return self._room(await self._find(request))
            case ["r", _, "replay"]:
                return self._replay(await self._find(request))
            case ["p", id]:
                return await self._player(id)
            case ["rules", game, *variant]:
                return self._about(game, variant, "How to play {}", "The rules, with little boards.")
            case ["leaderboard", game, *variant]:
                return self._about(game, variant, "{}: the best", "Who leads the ladder, and by how much.")
            case _:
                return None

    def _room(self, room: RoomSummary) -> Said:
        game = self._games.get(room.game)
        if game is None:
            return Said(room.game, _who(room))
        time = [] if room.clock is None or room.clock.kind == "none" else [time_of(room.clock)]
        accepted = ", ".join((*terms_of(game, room.config), *time, *(["Ranked"] if room.ranked else [])))
        text = f"{_who(room)} {accepted.capitalize()}." if accepted else _who(room)
        return Said(title_of(game, room.config), text, picture_of(game, room.config))

    def _replay(self, room: RoomSummary) -> Said:
        game = self._games.get(room.game)
        names = " against ".join(
            called(seat.name, guest=seat.is_guest) for seat in room.seats if seat is not None
        )
        text = f"{names}, move by move." if names else "A game, move by move."
        if game is None:
            return Said(f"Replay: {room.game}", text)
        return Said(f"Replay: {title_of(game, room.config)}", text, picture_of(game, room.config))

    async def _player(self, id: str) -> Said | None:
        if id.startswith(PREFIX) and is_bot(id, self._games.values()):
            name: str | None = bot_name(id)
        else:
            name = await self._name_of(id)
        return None if name is None else Said(f"{name} at {NAME}", f"Ratings and last games of {name}.")

    def _about(self, name: str, variant: list[str], title: str, text: str) -> Said | None:
        game = self._games.get(name)
        if game is None:
            return None
        config = {game.set_up.cards or "variant": variant[0]} if variant else {}
        return Said(title.format(title_of(game, config)), text, picture_of(game, config))


# A game in words.


def variants_of(game: Game[Any]) -> Iterator[tuple[str | None, Card | None]]:
    """The choices of a game's cards; None alone if it has none."""
    cards = game.set_up.cards
    if cards is None:
        yield None, None
    else:
        yield from game.set_up.labels[cards].choices.items()


def picture_name(game: Game[Any], variant: str | None) -> str:
    """What the picture of a game or one of its variants is called."""
    return game.name if variant is None else f"{game.name}-{variant}"


def picture_of(game: Game[Any], config: Mapping[str, Any]) -> str:
    """The picture of a room of this game."""
    cards = game.set_up.cards
    return picture_name(game, None if cards is None else str(config.get(cards, _usual(game)[cards])))


def title_of(game: Game[Any], config: Mapping[str, Any]) -> str:
    """A game as people call it, with its variant where it is not the usual one."""
    cards = game.set_up.cards
    variant = None if cards is None else config.get(cards)
    if cards is None or variant in (None, _usual(game).get(cards)):
        return game.display_name
    return f"{game.display_name}: {_card_title(game, variant)}"


def terms_of(game: Game[Any], config: Mapping[str, Any]) -> list[str]:
    """What somebody accepts who sits down in a room: a preset of each row, where its settings are one."""
    rows: dict[str, list[Preset]] = {}
    for preset in game.set_up.presets:
        rows.setdefault(preset.row, []).append(preset)
    usual = _usual(game)
    return [found.title for row in rows.values() if (found := _chosen(row, usual, config)) is not None]


def time_of(clock: ClockSettings) -> str:
    """How much time the players of a room have, in words.

    >>> time_of(ClockSettings("turn", 86400))
    '1 day a turn'
    """
    time, extra = _spelled(clock.seconds), _spelled(clock.extra)
    if clock.kind == "turn":
        return f"{time} a turn"
    if not clock.extra:
        return f"{time} for the game"
    return (
        f"{time} and {extra} more a turn"
        if clock.kind == "increment"
        else f"{time}, the first {extra} of a turn free"
    )


def _spelled(seconds: float) -> str:
    """So many seconds in the largest unit that says it well, as on the page."""
    units = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
    name, unit = next((one for one in units if seconds == one[1] or seconds >= 2 * one[1]), units[-1])
    count = int(seconds // unit)
    return f"{count} {name}{'s' * (count != 1)}"


def _chosen(row: list[Preset], usual: Mapping[str, Any], config: Mapping[str, Any]) -> Preset | None:
    """The preset of a row that the settings show."""
    names = {name for preset in row for name in preset.config}
    shown = {name: config.get(name, usual.get(name)) for name in names}
    wanted = ({name: usual.get(name) for name in names} | preset.config for preset in row)
    return next((preset for preset, want in zip(row, wanted, strict=True) if want == shown), None)


def _card_title(game: Game[Any], choice: str) -> str:
    cards = game.set_up.labels.get(game.set_up.cards or "")
    card = None if cards is None else cards.choices.get(choice)
    return choice.replace("_", " ").capitalize() if card is None else card.title


def _usual(game: Game[Any]) -> dict[str, Any]:
    """The settings of a room that says nothing about them."""
    usual: dict[str, Any] = msgspec.to_builtins(game.Config())
    return usual


# A room in words, as its door has them.


def _who(room: RoomSummary) -> str:
    names = [called(seat.name, guest=seat.is_guest) for seat in room.seats if seat is not None]
    if room.ended is not None or room.outcome is not None:
        return "This game is over."
    if None not in room.seats:
        watch = "" if room.watching == "nobody" else " You can watch."
        return f"{_listed(names)} play{'s' * (len(names) == 1)} here.{watch}"
    if not names:
        return "The table is free."
    return f"{_listed(names)} {'are' if len(names) > 1 else 'is'} waiting for you."


def called(name: str, *, guest: bool) -> str:
    """A name as a link shows it: that of a guest can be somebody else's, too.

    >>> called("Ann", guest=True)
    'Ann (guest)'
    """
    return f"{name} (guest)" if guest else name


def _listed(names: list[str]) -> str:
    """Names in a sentence.

    >>> _listed(["Ann", "Bob", "Cy"])
    'Ann, Bob and Cy'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# The tags.


def origin_of(public_url: str, scheme: str, host: str) -> str | None:
    """What the addresses in tags begin with: the operator's address, else the one that was asked for.

    >>> origin_of("", "https", "games.example:8443"), origin_of("", "http", "evil.example/x")
    ('https://games.example:8443', None)
    """
    if public_url:
        return public_url.rstrip("/")
    return f"{scheme}://{host}" if HOST.fullmatch(host) else None


def _written(said: Said, path: str, origin: str | None) -> Iterator[str]:
    yield _tag("property", "og:type", "website")
    yield _tag("property", "og:site_name", NAME)
    yield _tag("property", "og:title", said.title)
    yield _tag("property", "og:description", said.text)
    yield _tag("name", "twitter:card", "summary_large_image")
    if origin is not None:
        yield _tag("property", "og:url", origin + path)
        yield _tag("property", "og:image", f"{origin}{FOLDER}/{said.picture}.png")
        yield _tag("property", "og:image:width", str(SIZE[0]))
        yield _tag("property", "og:image:height", str(SIZE[1]))
        yield _tag(
            "property", "og:image:alt", f"A board of {said.title}" if said.picture != GENERAL else NAME
        )


def _tag(kind: str, name: str, content: str) -> str:
    return f'<meta {kind}="{name}" content="{escape(content)}" />\n'
