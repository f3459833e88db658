"""What a browser draws of Hearts: a table with a hand on each side, and the trick in the middle."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from parlour.games.hearts.cards import SUIT_NAMES, Trick, points_of
from parlour.games.hearts.deal import PASSED, Position
from parlour.scene import Cue, Mark, Narrow, Piece, Scene, Side, Spot, card

Place = Literal["south", "west", "north_west", "north", "north_east", "east"]
Box = tuple[float, float, float, float]

PLACES: dict[int, tuple[Place, ...]] = {
    3: ("south", "west", "east"),
    4: ("south", "west", "north", "east"),
    5: ("south", "west", "north_west", "north_east", "east"),
}
"""Where the viewer sits, and then everybody to the left."""

WIDTH, HEIGHT = 12.0, 8.6
WIDE: dict[str, dict[Place, Box]] = {
    "hand": {
        "south": (0.9, 6.25, 10.2, 2.2),
        "west": (0.15, 1.75, 1.2, 3.9),
        "north_west": (2.4, 0.15, 3.4, 1.2),
        "north": (3.2, 0.15, 5.6, 1.2),
        "north_east": (6.2, 0.15, 3.4, 1.2),
        "east": (10.65, 1.75, 1.2, 3.9),
    },
    "trick": {
        "south": (5.4, 4.05, 1.2, 1.68),
        "west": (3.75, 3.05, 1.2, 1.68),
        "north_west": (4.55, 2.0, 1.2, 1.68),
        "north": (5.4, 2.05, 1.2, 1.68),
        "north_east": (6.25, 2.0, 1.2, 1.68),
        "east": (7.05, 3.05, 1.2, 1.68),
    },
    "name": {
        "west": (0.15, 1.25, 2.2, 0.42),
        "north_west": (2.4, 1.4, 2.0, 0.42),
        "north": (4.6, 1.4, 2.0, 0.42),
        "north_east": (7.0, 1.4, 2.0, 0.42),
        "east": (9.65, 1.25, 2.2, 0.42),
    },
    "points": {
        "south": (7.0, 5.1, 0.7, 0.7),
        "west": (1.5, 3.4, 0.7, 0.7),
        "north_west": (1.6, 0.4, 0.7, 0.7),
        "north": (9.0, 0.4, 0.7, 0.7),
        "north_east": (9.7, 0.4, 0.7, 0.7),
        "east": (9.8, 3.4, 0.7, 0.7),
    },
}
UPRIGHT = (6.0, 6.9)
TALL: dict[str, dict[Place, Box]] = {
    "hand": {
        "south": (0.1, 5.0, 5.8, 1.8),
        "west": (0.08, 1.45, 0.75, 2.7),
        "north_west": (0.95, 0.1, 2.0, 0.8),
        "north": (1.5, 0.1, 3.0, 0.8),
        "north_east": (3.05, 0.1, 2.0, 0.8),
        "east": (5.17, 1.45, 0.75, 2.7),
    },
    "trick": {
        "south": (2.43, 3.2, 1.14, 1.6),
        "west": (1.2, 2.2, 1.14, 1.6),
        "north_west": (1.75, 1.3, 1.14, 1.6),
        "north": (2.43, 1.3, 1.14, 1.6),
        "north_east": (3.1, 1.3, 1.14, 1.6),
        "east": (3.66, 2.2, 1.14, 1.6),
    },
    "name": {
        "west": (0.08, 1.08, 1.4, 0.34),
        "north_west": (1.15, 0.92, 1.6, 0.34),
        "north": (2.2, 0.92, 1.6, 0.34),
        "north_east": (3.25, 0.92, 1.6, 0.34),
        "east": (4.52, 1.08, 1.4, 0.34),
    },
    "points": {
        "south": (3.72, 4.2, 0.62, 0.62),
        "west": (0.14, 4.25, 0.62, 0.62),
        "north_west": (0.25, 0.2, 0.62, 0.62),
        "north": (4.65, 0.2, 0.62, 0.62),
        "north_east": (5.15, 0.2, 0.62, 0.62),
        "east": (5.24, 4.25, 0.62, 0.62),
    },
}
TRAY: tuple[Box, Box] = ((3.9, 2.7, 4.2, 2.0), (1.1, 2.2, 3.8, 1.7))
"""Where the cards lie that are to be passed on, and where on an upright phone."""


def draw(state: Position, seat: int | None, events: Mapping[str, Any]) -> Scene:
    """The table as a seat sees it, or somebody who watches; *events* are what cards of the hand can send."""
    me = seat or 0
    places = {(me + at) % state.rules.players: place for at, place in enumerate(PLACES[state.rules.players])}
    passing = state.phase == "passing" and seat is not None
    return Scene(
        WIDTH,
        HEIGHT,
        spots=tuple(_spots(places, passing=passing)),
        pieces=(*_hands(state, seat, events), *_middle(state, seat), *_counted(state)),
        status=_status(state, seat),
        turn=state.to_act if state.full else (),
        sides=tuple(_side(state, one) for one in range(state.rules.players)),
        cue=_cue(state, seat),
        log=state.log,
        narrow=Narrow(*UPRIGHT, _tall(places, passing=passing)),
    )


def _spots(places: Mapping[int, Place], *, passing: bool) -> Iterator[Spot]:
    yield Spot("felt", 0, 0, WIDTH, HEIGHT, fill="felt")
    if passing:
        yield Spot("tray", *TRAY[0], shape="hand", fill="none", label="cards to pass on")
    for seat, place in places.items():
        who = f"{{{seat}}}"
        hand, trick, points = (WIDE[what][place] for what in ("hand", "trick", "points"))
        yield Spot(f"h{seat}", *hand, shape="hand", fill="none", label=f"cards of {who}")
        yield Spot(f"t{seat}", *trick, fill="none", label=f"played by {who}")
        if place != "south":
            yield Spot(f"n{seat}", *WIDE["name"][place], fill="none", text=who)
        yield Spot(f"p{seat}", *points, fill="none", label=f"points of {who} in this deal")


def _tall(places: Mapping[int, Place], *, passing: bool) -> dict[str, Box]:
    ids = {"h": "hand", "t": "trick", "n": "name", "p": "points"}
    boxes = {
        f"{id}{seat}": TALL[what][place]
        for id, what in ids.items()
        for seat, place in places.items()
        if place in TALL[what]
    }
    tray = {"tray": TRAY[1]} if passing else {}
    return {"felt": (0, 0, *UPRIGHT), **tray, **boxes}


def _face(code: str, spot: str, **more: Any) -> Piece:
    """A card that the viewer sees."""
    return card(f"k{code}", spot, code[0].replace("T", "10"), SUIT_NAMES[code[1]], **more)  # type: ignore[arg-type]


def _hands(state: Position, seat: int | None, events: Mapping[str, Any]) -> Iterator[Piece]:
    """One's own cards, those that are to be passed on apart; of the others' only how many they are."""
    for one, hand in enumerate(state.hands):
        if one == seat:
            yield from _own(state, one, events)
        else:
            for at in range(len(hand)):
                yield Piece(f"b{one}-{at}", "card_back", f"h{one}", at, one, label="card")


def _own(state: Position, seat: int, events: Mapping[str, Any]) -> Iterator[Piece]:
    passing = state.phase == "passing"
    apart = state.chosen[seat] if passing else ()
    fresh = state.gave[state.giver(seat)] if state.pass_by and len(state.tricks) <= 1 else ()
    rest = [code for code in state.hands[seat] if code not in apart]
    for spot, codes in ((f"h{seat}", rest), ("tray", apart)):
        for at, code in enumerate(codes):
            mark: Mark | None = "last" if code in fresh and not passing else None
            yield _face(code, spot, at=at, click=events.get(code), mark=mark)


def _middle(state: Position, seat: int | None) -> Iterator[Piece]:
    """The trick that is played, or the last one, until somebody leads to the next."""
    trick: Trick | None = state.tricks[-1] if state.tricks else state.before
    if trick is None or (seat is not None and state.phase == "passing" and state.chosen[seat]):
        return
    players = state.rules.players
    full = len(trick.cards) == players
    for one, code in trick.by(players).items():
        taking = full and one == trick.winner(players)
        if not _is_held(state, seat, code):
            yield _face(code, f"t{one}", dim=full and not taking, mark="win" if taking else None)


def _is_held(state: Position, seat: int | None, code: str) -> bool:
    """A card of the last deal that the viewer has in this one: it is in one place only."""
    return seat is not None and not state.tricks and code in state.hands[seat]


def _counted(state: Position) -> Iterator[Piece]:
    for seat, points in enumerate(state.points):
        if points and state.phase != "passing":
            said = _said(points)
            yield Piece(f"c{seat}", "counter", f"p{seat}", owner=seat, text=str(points), label=said)


def _side(state: Position, seat: int) -> Side:
    return Side("card_back", _said(state.totals[seat]))


def _said(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"


def _cue(state: Position, seat: int | None) -> Cue:
    if state.phase == "over":
        return "win"
    trick = state.tricks[-1] if state.tricks else None
    if trick is None:
        chosen = bool(seat is not None and state.chosen and state.chosen[seat])
        return "move" if any(state.ready) or chosen else "deal"
    full = len(trick.cards) == state.rules.players
    return "capture" if full and points_of(trick.cards) else "move"


def _status(state: Position, seat: int | None) -> str:
    """What this seat, or somebody who watches, wants to know first."""
    if state.phase == "over":
        best = state.winners[0]
        least = state.totals[best]
        if len(state.winners) > 1:
            return f"A draw: as few points: {least}"
        why = f"the fewest points: {least}"
        return f"You win: {why}" if best == seat else f"{{{best}}} wins: {why}"
    if not state.full:
        return "Waiting for other players"
    if state.phase == "passing":
        return _passing_status(state, seat)
    if state.turn != seat:
        return f"Waiting for {{{state.turn}}}"
    return "Your turn: play a card" if state.trick else "Your turn: lead to the next trick"


def _passing_status(state: Position, seat: int | None) -> str:
    if seat is None:
        return "Cards are passed on"
    if state.ready[seat]:
        return "Waiting for the others to pass on their cards"
    left = PASSED - len(state.chosen[seat])
    to = f"{{{state.receiver(seat)}}}"
    return f"Your turn: choose {left} for {to}" if left else f"Your turn: pass them on to {to}"


def draw_row(text: str) -> Scene:
    """Cards side by side, as the rules page shows them; the one with a star takes the trick."""
    codes = text.split()
    width = 1.35 * len(codes) + 0.35
    spots = [Spot("felt", 0, 0, width, 2.3, fill="felt")]
    pieces = []
    for at, code in enumerate(codes):
        spots.append(Spot(f"s{at}", 0.25 + 1.35 * at, 0.3, 1.2, 1.68, fill="none", label=f"card {1 + at}"))
        takes = code.endswith("*")
        mark: Mark | None = "win" if takes else None
        pieces.append(_face(code.rstrip("*"), f"s{at}", mark=mark, dim="*" in text and not takes))
    return Scene(width, 2.3, tuple(spots), tuple(pieces))
