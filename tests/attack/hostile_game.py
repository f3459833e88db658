"""A game whose callbacks do what a callback never should: for attacks on the server from within."""

import re
from typing import Literal

from parlour import Event, Game, Moment, State, Update

DEEDS = ("loop", "regex", "exit", "interrupt", "generator_exit", "raise")


class Calm(State, frozen=True):
    """Nothing ever changes."""


class Do(Event, frozen=True):
    """Something bad."""

    deed: Literal["loop", "regex", "exit", "interrupt", "generator_exit", "raise"]


class Hostile(Game[Calm]):
    """One player, who can ask for each bad deed."""

    name = "hostile"
    display_name = "Hostile"
    seats = range(1, 2)
    State = Calm
    Event = Do

    def init(self, config: object, moment: Moment) -> Calm:
        return Calm()

    def handle_event(self, state: Calm, sender: str, event: Do, moment: Moment) -> Update[Calm]:
        match event.deed:
            case "loop":
                while True:
                    pass
            case "regex":
                re.match(r"(a+)+$", "a" * 40 + "b")
            case "exit":
                raise SystemExit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "generator_exit":
                raise GeneratorExit
            case "raise":
                raise RuntimeError("\x1b[2J\nforged line")
        return Update(state)
