"""Games whose `resample` tells what it must not: planted, so that checks can be seen to find them."""

from parlour.game import Chance
from parlour.games.minesweeper import Field, Minesweeper
from parlour.games.minesweeper.field import NUMBERS


class Peeping(Minesweeper):
    """Leaves every mine beside an open cell where it truly is."""

    def resample(self, state: Field, viewer: str | None, chance: Chance) -> Field:
        if state.status != "play":
            return state
        opened = {cell for cell, drawn in enumerate(state.cells) if drawn in NUMBERS}
        seen = opened.union(*map(state.around, opened))
        unseen = [cell for cell in range(len(state.cells)) if cell not in seen]
        known = state.mined & seen
        return state.with_mines([*known, *chance.sample(unseen, state.mines - len(known))])
