"""Texts in other languages: what games bring, by its English, beside their rules."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec
import structlog

from parlour.game import Game
from parlour.server.api.game_files import text_beside

Texts = dict[str, str | dict[str, str]]
"""English, and the same in another language; or its plural forms by their names: ``one``, ``other``."""

log = structlog.get_logger()

_decode = msgspec.json.Decoder(Texts).decode


def texts_in(language: str, games: Iterable[Game[Any]]) -> Texts:
    """What the server and these games say, in a language; where two games differ the first one counts."""
    own = files("parlour").joinpath(f"errors.{language}.json")
    texts = _read(own.read_text(encoding="utf-8"), "parlour") if own.is_file() else {}
    for game in games:
        text = text_beside(game, f"{game.name}.{language}.json")
        texts = {**(_read(text, game.name) if text else {}), **texts}
    return texts


@lru_cache(maxsize=4)
def titles_of(games: tuple[Game[Any], ...]) -> dict[str, Texts]:
    """What these games, their variants and bots are called in every language: home shows that at once."""
    names = [path.name for path in files("parlour").iterdir()]
    languages = [
        name.split(".")[1] for name in names if name.startswith("errors.") and name.endswith(".json")
    ]
    texts = {language: texts_in(language, games) for language in sorted(languages)}
    titles = {title for game in games for title in _titles_in(game)}
    return {language: {k: v for k, v in all.items() if k in titles} for language, all in texts.items()}


def _titles_in(game: Game[Any]) -> Iterator[str]:
    """What a game, the cards of its variants and its bots are called in English."""
    yield game.display_name
    if label := game.set_up.labels.get(game.set_up.cards or "variant"):
        yield from (card.title for card in label.choices.values())
    for kind in game.bots:
        yield kind[:1].upper() + kind[1:].replace("_", " ")


def _read(text: str, whose: str) -> Texts:
    """A catalogue, or nothing where it is none: that must not keep the others from being read."""
    try:
        return _decode(text)
    except msgspec.DecodeError as error:
        log.warning(
            "texts_unreadable", game=whose, expected="an object of texts by their English", got=str(error)
        )
        return {}
