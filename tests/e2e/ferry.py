"""A game for tests of hands: a boat that can be put on three banks, of which the last does not take it."""

from typing import Literal

from msgspec.structs import replace

from parlour import Event, Game, Moment, Refused, State, Update
from parlour.scene import Choice, Control, Option, Piece, Scene, grid

Bank = Literal["north", "east", "south", "west"]
BANKS: tuple[Bank, ...] = ("north", "east", "south", "west")


class River(State, frozen=True):
    """Where the boat lies."""

    boat: Bank = "north"


class Cross(Event, frozen=True):
    """Put the boat on another bank."""

    to: Bank


class Ferry(Game[River]):
    """One player, one boat."""

    name = "ferry"
    display_name = "Ferry"
    seats = range(1, 2)
    State = River
    Event = Cross

    def init(self, config: object, moment: Moment) -> River:
        return River()

    def handle_event(self, state: River, sender: str, event: Cross, moment: Moment) -> Update[River]:
        if event.to == "west":
            raise Refused("no_landing", "the west bank is too steep")
        return Update(replace(state, boat=event.to))

    def scene(self, state: River, viewer: str | None) -> Scene:
        spots = grid(4, 1, labels=BANKS, fill="felt")
        by_name = dict(zip(BANKS, spots, strict=True))
        drops = {by_name[bank].id: Cross(bank) for bank in BANKS if bank != state.boat}
        boat = Piece("boat", "disc", by_name[state.boat].id, owner=0, label="boat", drops=drops)
        status = f"The boat lies in the {state.boat}"
        return Scene(4, 1, spots, (boat,), CONTROLS, status=status, turn=(0,), choices=CHOICES)


CONTROLS = (
    Control("wave", "Wave to {0}", options=(Option("Wave as {0} does", Cross("south")),)),
    Control(
        "row",
        "Row for {0}",
        {"type": "cross"},
        fields={"properties": {"to": {"enum": BANKS, "description": "where {0} wants to go"}}},
    ),
)
CHOICES = (Choice("calm", "Tell {0} about the weather"),)
