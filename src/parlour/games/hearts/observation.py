"""A game of Hearts as numbers, for programs that learn."""

from collections.abc import Collection
from typing import get_args

from parlour.games.hearts.cards import ALL_POINTS, SUITS, pack
from parlour.games.hearts.deal import Phase, Position

PHASES = get_args(Phase)


def observed(state: Position, seat: int | None) -> dict[str, tuple[float, ...]]:
    """All from 0 to 1 as this seat sees it, or somebody who watches (None); seats count on from one's own."""
    count, own = state.rules.players, seat or 0
    cards, seats = pack(count), [(own + step) % count for step in range(count)]
    mine = seat is not None and bool(state.hands)
    trick, most = state.trick, state.rules.points + ALL_POINTS
    played = {card: (one.leader + at) % count for one in state.tricks for at, card in enumerate(one.cards)}
    return {
        "hand": _among(cards, state.hands[own] if mine else ()),
        "chosen": _among(cards, state.chosen[own] if mine else ()),
        "received": _among(cards, state.gave[state.giver(own)] if mine and state.pass_by else ()),
        "played": tuple([float(played.get(card) == one) for one in seats for card in cards]),
        "trick": _among(cards, trick.cards if trick else ()),
        "suit": tuple([float(trick is not None and trick.cards[0][1] == suit) for suit in SUITS]),
        "turn": tuple([float(one == state.turn) for one in seats]),
        "phase": tuple([float(state.phase == phase) for phase in PHASES]),
        "pass_by": tuple([float(state.pass_by == by) for by in range(count)]),
        "ready": tuple([float(bool(state.ready) and state.ready[one]) for one in seats]),
        "points": tuple([state.points[one] / ALL_POINTS for one in seats]),
        "totals": tuple([state.totals[one] / most for one in seats]),
    }


def _among(cards: Collection[str], some: Collection[str]) -> tuple[float, ...]:
    return tuple([float(card in some) for card in cards])
