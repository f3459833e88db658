"""What a browser draws: the board from one's own side, checkers that can be moved, dice, the cube."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from parlour.games.backgammon.match import Match, Played, Resignation, next_variant
from parlour.games.backgammon.notation import Entry
from parlour.games.backgammon.variants import AROUND, BAR, OFF, VARIANTS
from parlour.scene import Choice, Cue, Piece, Scene, Side, Spot

WIDTH, HEIGHT = 15.1, 11.8

PICK_UP = Choice("pick_up", "A click picks a checker up, and I choose where it goes")
HIDE_PIPS = Choice("hide_pips", "Hide the pip counts")

Drops = Mapping[int, Mapping[int, Any]]
"""From each place where a checker may go, and the event that takes it there."""


def draw(match: Match, seat: int | None, drops: Drops, clicks: Mapping[str, Any]) -> Scene:
    """Everything but the controls; *clicks* are the events of the dice and the cube. Others sit with x."""
    eyes = 0 if seat is None else seat
    return Scene(
        WIDTH,
        HEIGHT,
        spots=(*_spots(match.board.variant, eyes), *_score(match, eyes)),
        pieces=(*_checkers(match, eyes, drops), *_dice(match, clicks), *_cube(match, clicks)),
        status=_status(match, seat),
        turn=_turn(match) if match.seated else (),
        sides=tuple(
            Side("disc", _pips(match.board.pips(side)), str(match.score[side]), HIDE_PIPS.id)
            for side in (0, 1)
        ),
        cue=_cue(match),
        log=tuple(_log(match)),
    )


def _pips(count: int) -> str:
    return "1 pip" if count == 1 else f"{count} pips"


# Spots.


@cache
def _spots(variant: str, eyes: int) -> tuple[Spot, ...]:
    """The board of a game as one side sees it, whose home is at the lower right."""
    rules, mine, other = VARIANTS[variant], eyes, 1 - eyes
    cubes = (
        Spot("cube", 6.3, 5.4, 1, 1, "tray", "none", label="cube in the middle"),
        Spot(f"cube{other}", 13.7, 4.4, 1, 1, "tray", "none", label=f"cube of {{{other}}}"),
        Spot(f"cube{mine}", 13.7, 6.4, 1, 1, "tray", "none", label=f"cube of {{{mine}}}"),
    )
    same_way = Spot("way", 6.3, 5.4, 1, 1, fill="none", text="\u21ba", label="both go this way around")
    place = "bar" if rules.enter_first else "hand"
    return (
        Spot("frame", 0, 0, WIDTH, HEIGHT, fill="wood"),
        Spot("left", 0.3, 0.3, 6, 11.2, fill="felt"),
        Spot("right", 7.3, 0.3, 6, 11.2, fill="felt"),
        Spot("game", 6.3, 11.5, 1, 0, "up", "none", text=variant),
        *map(_point, range(1, 25)),
        Spot(f"bar{other}", 6.3, 0.3, 1, 4, "tray", "none", label=f"{place} of {{{other}}}"),
        Spot(f"bar{mine}", 6.3, 7.5, 1, 4, "tray", "none", label=f"{place} of {{{mine}}}"),
        Spot(f"off{other}", 13.6, 0.3, 1.2, 4, "tray", "sunken", label=f"borne off by {{{other}}}"),
        Spot(f"off{mine}", 13.6, 7.5, 1.2, 4, "tray", "sunken", label=f"borne off by {{{mine}}}"),
        Spot(f"dice{other}", 1.8, 5.4, 3, 1, "tray", "none", label=f"dice of {{{other}}}"),
        Spot(f"dice{mine}", 8.8, 5.4, 3, 1, "tray", "none", label=f"dice of {{{mine}}}"),
        *(cubes if rules.cube else ()),
        *((same_way,) if rules.facing == AROUND else ()),
    )


def _point(point: int) -> Spot:
    """A point by the number that whoever looks gives it."""
    column = 12 - point if point <= 12 else point - 13
    x = 0.3 + column + (column >= 6)
    low = point <= 12
    return Spot(
        f"p{point}",
        x,
        6.5 if low else 0.3,
        1,
        5,
        "up" if low else "down",
        "dark" if point % 2 else "light",
        text=str(point),
        label=f"point {point}",
    )


def _score(match: Match, eyes: int) -> Iterator[Spot]:
    """How the match stands, one's own points first, and how many it takes; a single game has no score."""
    if not match.is_for_a_score:
        return
    score = f"{match.score[eyes]} \N{EN DASH} {match.score[1 - eyes]}"
    target = "" if match.target is None else f"to {match.target}"
    label = ", ".join(filter(None, (f"score {score}", target)))
    yield Spot("score", 13.3, 5.4, 1.8, 0.5, fill="none", text=score, label=label)
    yield Spot("target", 13.3, 5.9, 1.8, 0.5, fill="none", text=target)


# Pieces.


def _checkers(match: Match, eyes: int, drops: Drops) -> Iterator[Piece]:
    """Every checker where it stands; a pinned one lies lowest, the uppermost of a point may be moved."""
    board, standing = match.board, match.standing
    marked, clicked = _marked(match), match.by_click if drops else {}
    for side in (0, 1):
        pins = {board.rules.facing[point] for point in board.pinned[1 - side]}
        height: dict[int, int] = {}
        for number, place in standing.places[side]:
            at = height.get(place, int(place in pins))
            height[place] = at + 1
            on_top = at + 1 - (place in pins) == board.counts[side][place]
            events = drops.get(place, {}) if on_top and side == match.turn else {}
            yield Piece(
                f"{'xo'[side]}{number}",
                "disc",
                _spot(match, eyes, side, place),
                at,
                side,
                label=f"checker of {{{side}}}",
                mark="last" if (side, number) in marked else None,
                click=events.get(clicked[place]) if place in clicked and events else None,
                unless=PICK_UP.id if events else "",
                drops=_targets(events, eyes),
            )


def _spot(match: Match, eyes: int, side: int, place: int) -> str:
    """The spot of a place that a side counts from its own end."""
    if place in (OFF, BAR):
        return f"{'off' if place == OFF else 'bar'}{side}"
    return f"p{place if side == eyes else match.board.rules.facing[place]}"


def _targets(events: Mapping[int, Any], eyes: int) -> Mapping[str, Any]:
    return {f"p{place}" if place != OFF else f"off{eyes}": event for place, event in events.items()}


def _marked(match: Match) -> set[tuple[int, int]]:
    """The checkers that moved in this turn, or before anything moved in the last one."""
    if match.played:
        return {(match.turn, number) for number in match.standing.moved(match.checkers, match.turn)}
    return set() if match.last is None else {(match.last[0], number) for number in match.last[1]}


def _dice(match: Match, clicks: Mapping[str, Any]) -> Iterator[Piece]:
    """The dice of this turn; those that were played are pale."""
    if not match.dice:
        return
    figures = match.dice * 2 if match.dice[0] == match.dice[1] else match.dice
    left = list(match.left)
    for number, figure in reversed(list(enumerate(figures))):
        used = figure not in left
        if not used:
            left.remove(figure)
        yield Piece(
            f"die{match.number}.{number}",
            "die",
            f"dice{match.turn}",
            _place(match, figure) if len(figures) == 2 else number,
            match.turn,
            str(figure),
            label=f"a {figure}",
            dim=used,
            click=clicks.get("dice"),
        )


def _place(match: Match, figure: int) -> int:
    """Of two different dice the one that a click plays first lies first."""
    return int((figure == max(match.dice)) == match.small_first)


def _cube(match: Match, clicks: Mapping[str, Any]) -> Iterator[Piece]:
    """The cube lies with its owner; one that is offered lies in the middle and shows what it will be."""
    if match.board.rules.cube:
        offered = match.phase == "double"
        value = match.cube.value * (2 if offered else 1)
        spot = "cube" if offered or match.cube.owner is None else f"cube{match.cube.owner}"
        yield Piece(
            "doubling", "cube", spot, text=str(value), label=f"cube at {value}", click=clicks.get("cube")
        )


# What is said and heard.


def _turn(match: Match) -> tuple[int, ...]:
    """Who has to do something; whoever is offered a resignation has to answer, but nobody need wait."""
    if match.answering is None:
        return match.awaited
    return tuple(sorted({*match.awaited, match.answering}))


def _cue(match: Match) -> Cue:
    """Dice, a hit or a pin, a double that wants an answer, the end of a game; a turn ends in silence."""
    if match.answering is not None:
        return "check"
    match match.phase:
        case "ready" | "over":
            return "win" if match.games else ""
        case "double":
            return "check"
        case "move":
            return "deal" if not match.played else "capture" if match.has_hit else "move"
        case "roll":
            return ""


def _log(match: Match) -> Iterator[str]:
    """What was done in every game of the match, and how those that are over ended."""
    for game in match.games:
        yield from _lines(game)
    yield from map(_line, match.log)


@lru_cache(maxsize=1 << 10)
def _lines(game: Played) -> tuple[str, ...]:
    """A game that is over, line by line; kept, since it is drawn again with every step of the match."""
    return (*map(_line, game.log), _ended(game))


def _line(entry: Entry) -> str:
    return f"{{{entry[0]}}} {entry[1].strip()}"


def _ended(game: Played) -> str:
    if game.winner is None:
        return f"{game.variant}: nobody wins"
    return f"{game.variant}: {{{game.winner}}} wins {game.points} ({game.how})"


def _status(match: Match, seat: int | None) -> str:
    """One sentence to this viewer."""
    if not match.seated:
        return "Waiting for an opponent"
    if match.phase == "over":
        return _verdict(match, seat)
    if match.resigning is not None and (said := _resigning(match.resigning, seat)):
        return said
    return _to_do(match) if seat in match.awaited else _waiting(match)


def _resigning(offer: Resignation, seat: int | None) -> str:
    """What is to be said of a resignation that was offered."""
    points = f"{offer.points} point{'s' * (offer.points > 1)}"
    if offer.refused:
        return f"{{{1 - offer.seat}}} plays on for more than {points}" if seat == offer.seat else ""
    if seat == offer.seat:
        return f"You offer {points}: {{{1 - seat}}} is to answer, or play on"
    return f"{{{offer.seat}}} resigns for {points}"


def _to_do(match: Match) -> str:
    """To whoever is to act."""
    match match.phase:
        case "ready":
            return f"Ready for a game of {next_variant(match)}?"
        case "double":
            return f"{{{match.turn}}} doubles to {2 * match.cube.value}"
        case "roll":
            return "Your turn: roll, or double" if match.invites_double else "Your turn: roll"
        case _:
            return _to_move(match)


def _to_move(match: Match) -> str:
    first, second = match.dice
    if match.routes:
        waiting = match.board.rules.enter_first and match.board.counts[match.turn][BAR]
        return "Your turn: enter from the bar" if waiting else f"Your turn: {first} and {second}"
    return "End your turn, or take it back" if match.played else f"{first} and {second}: you cannot move"


def _waiting(match: Match) -> str:
    """To whoever has nothing to do now."""
    if len(match.awaited) == 2:
        return "Before the game: both get ready"
    doing = {"ready": "is not ready yet", "double": f"may take a double to {2 * match.cube.value}"}
    return f"{{{match.awaited[0]}}} {doing.get(match.phase, f'is to {match.phase}')}"


def _verdict(match: Match, seat: int | None) -> str:
    winner = match.winner
    if winner is None:
        return f"A draw: {match.final}"
    return f"You win: {match.final}" if seat == winner else f"{{{winner}}} wins: {match.final}"
