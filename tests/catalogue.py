"""What a game says to people, and whether a catalogue has it: as the browser looks it up."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from parlour.bots import bots_of
from parlour.game import Game
from parlour.scene import Scene
from parlour.set_up import SetUp

NOTATION = re.compile(r"\{\d+\}|\bbar/|/off\b|\$\.\w+: ")
"""What is the same in every language: names, and how moves of backgammon are written."""
HOLE = re.compile(r"\{([a-zA-Z]\w*)\}")
DEPTH = 3


def spoken_in(scene: Scene) -> Iterator[str]:
    """What a scene says; of its log what is new, since every step is looked at."""
    yield scene.status
    yield scene.second
    yield from scene.log[-3:]
    yield from (text for spot in scene.spots for text in (spot.text, spot.label))
    yield from (piece.label for piece in scene.pieces)
    yield from (side.text for side in scene.sides)
    yield from (choice.text for choice in scene.choices)
    for control in scene.controls:
        yield from (control.text, control.confirm, *(option.text for option in control.options))


def spoken_at_set_up(game: Game[Any]) -> Iterator[str]:
    """What stands on a game's tile and in the form in which it is set up."""
    yield from (game.display_name, game.first_move)
    yield from (bot.replace("_", " ").capitalize() for bot in bots_of(game))
    words: SetUp = game.set_up
    for preset in words.presets:
        yield from (preset.title, preset.hint, preset.row)
    for label in words.labels.values():
        yield from (label.title, label.hint or "", label.unit, label.empty, label.group)
        yield from (text for card in label.choices.values() for text in (card.title, card.hint))


def finder(texts: dict[str, Any]) -> Callable[[str], bool]:
    """Says whether a catalogue has a text, by itself or by a template that it fits."""
    templates = sorted(filter(HOLE.search, texts), key=lambda one: -len(HOLE.sub("", one)))
    patterns = [re.compile(HOLE.sub("(.+?)", _quoted(one)), re.DOTALL) for one in templates]

    def knows(text: str) -> bool:
        line = re.fullmatch(r"\{\d+\}:? (.+)", text, re.DOTALL)
        return bool(_said(text)) or (line is not None and bool(_said(line[1])))

    def _said(text: str, depth: int = DEPTH) -> bool:
        if text in texts or not re.search(r"[a-zA-Z]{2}", NOTATION.sub("", text)):
            return True
        match = next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)
        return match is not None and depth > 0 and all(_said(part, depth - 1) for part in match.groups())

    return knows


def _quoted(template: str) -> str:
    """A template as a pattern in which only its places stand for something."""
    return "".join(
        part if HOLE.fullmatch(part) else re.escape(part) for part in re.split(r"(\{[a-zA-Z]\w*\})", template)
    )
