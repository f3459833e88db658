"""A dice game for eight: roll five dice, some of them once more, and go as far as they say; first to 60."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Box, Control, Narrow, Piece, Scene, Side, Spot, grid

GOAL = 59


class Race(State, frozen=True):
    """How far everybody is, and the dice on the table."""

    at: tuple[int, ...] = (0,) * 8
    turn: int = 0
    dice: tuple[int, ...] = ()
    kept: tuple[bool, ...] = ()


class Roll(Event, frozen=True):
    """Roll all dice, or once more those that are not kept."""


class Keep(Event, frozen=True):
    """Keep a die, or do not."""

    die: Annotated[int, Meta(ge=0, le=4)]


class Go(Event, frozen=True):
    """Move on by the sum."""


class Dice(Game[Race]):
    """Two to eight runners."""

    name = "dice"
    display_name = "Dice race"
    seats = range(2, 9)
    State = Race
    Event = Roll | Keep | Go
    lucky = True

    def init(self, config: object, moment: Moment) -> Race:
        return Race()

    def handle_event(self, state: Race, sender: str, event: object, moment: Moment) -> Update[Race]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "that cannot be done now")
        if isinstance(event, Keep):
            kept = tuple(is_kept != (at == event.die) for at, is_kept in enumerate(state.kept))
            return Update(replace(state, kept=kept))
        if isinstance(event, Roll) and not state.dice:
            dice = tuple(moment.chance.die() for _ in range(5))
            return Update(replace(state, dice=dice, kept=(False,) * 5))
        dice = state.dice
        if isinstance(event, Roll):
            dice = tuple(
                die if kept else moment.chance.die() for die, kept in zip(dice, state.kept, strict=True)
            )
        at = tuple(min(GOAL, place + sum(dice) * (seat == state.turn)) for seat, place in enumerate(state.at))
        seats = len(state.players)
        return Update(replace(state, at=at, dice=(), kept=(), turn=(state.turn + 1) % seats))

    def legal_events(self, state: Race, player: str) -> list[object]:
        ready = len([one for one in state.players if one]) >= 2 and not self.outcome(state)
        if not ready or player != state.player(state.turn):
            return []
        return [Roll(), Go(), *(Keep(die) for die in range(5))] if state.dice else [Roll()]

    def outcome(self, state: Race) -> Outcome | None:
        if GOAL not in state.at:
            return None
        return Outcome(won=(state.player(state.at.index(GOAL)) or "",), why="home first")

    def scene(self, state: Race, viewer: str | None) -> Scene:
        legal = self.legal_events(state, viewer or "")
        runners = [
            Piece(f"r{seat}", "counter", f"c{cell_of(place)}", at=seat, owner=seat, label=f"{{{seat}}}")
            for seat, place in enumerate(state.at[: len(state.players)])
        ]
        dice = [
            Piece(
                f"die{at}",
                "die",
                f"d{at}",
                text=str(die),
                label=f"{die}{', kept' * state.kept[at]}",
                mark="last" if state.kept[at] else None,
                click=Keep(at) if legal else None,
            )
            for at, die in enumerate(state.dice)
        ]
        roll = Control("roll", "Roll again" if dice else "Roll", Roll(), main=True, key=" ")
        go = Control("go", f"Go {sum(state.dice)}", Go())
        return Scene(12, 6.5, SPOTS, (*runners, *dice), (roll, go)[: 1 + bool(dice)] if legal else (),
                     status="Your turn" if legal else f"Waiting for {{{state.turn}}}",
                     turn=(state.turn,), narrow=NARROW,
                     sides=tuple(Side("counter", score=str(1 + place)) for place in state.at))  # fmt: skip


def cell_of(place: int, columns: int = 12) -> int:
    """The square of a place: the track turns at the end of each row."""
    row, column = divmod(place, columns)
    return row * columns + (column if row % 2 == 0 else columns - 1 - column)


SPOTS = (
    *grid(12, 5, labels=[f"space {1 + cell_of(cell)}" for cell in range(60)], fill="light"),
    Spot("table", 0, 5, 12, 1.5, fill="felt"),
    *(Spot(f"d{at}", 3.2 + 1.15 * at, 5.25, 1, 1, fill="none", label=f"die {at + 1}") for at in range(5)),
)
SMALL: dict[str, Box] = {
    f"c{cell_of(place)}": (cell_of(place, 6) % 6, place // 6, 1, 1) for place in range(60)
}
SMALL |= {f"d{at}": (0.25 + 1.1 * at, 10.2, 1, 1) for at in range(5)}
NARROW = Narrow(6, 11.4, SMALL | {"table": (0, 10, 6, 1.4)})
