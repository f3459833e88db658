"""Why something is not done, in the words of these clients: their commands, their fields, their ids."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from parlour.doors.gammonx.board import WHITE_BAR, field_of, ways_of
from parlour.errors import Code, Refused
from parlour.games.backgammon.match import HIGHEST_CUBE
from parlour.games.backgammon.moves import Way
from parlour.games.backgammon.variants import BAR, HOME, OFF, VARIANTS

View = dict[str, Any]


def entry_refused(why: Refused, match: str) -> str:
    """Why somebody has no place in a match."""
    told = {
        Code.UNKNOWN_ROOM: f"there is no match {match}",
        Code.WRONG_GAME: f"there is no match {match}",
        Code.ROOM_ENDED: f"match {match} is over",
        Code.GAME_FULL: f"both seats of match {match} are taken",
        Code.SEAT_KEPT: f"the free seat of match {match} is kept for another player",
        Code.NOT_SEATED: f"you have no seat in match {match}",
    }
    return told.get(why.code, why.message)  # type: ignore[call-overload,no-any-return]


def why_not(command: str, fields: Sequence[int], view: View) -> str:
    """Why a player may not do this now."""
    if view["phase"] == "over":
        return "the match is over"
    if not view["awaited"]:
        return "your opponent has not joined yet"
    if view["phase"] == "ready":
        return _before_the_game(command, view)
    if command == "StartGame":
        return "a game is being played already"
    if view["you"] not in view["awaited"]:
        return f"it is your opponent's turn{' to answer the double' if view['phase'] == 'double' else ''}"
    if view["phase"] == "double":
        return "answer the double first: call AcceptDouble or DeclineDouble"
    if command in ("AcceptDouble", "DeclineDouble"):
        return "no double is offered"
    return _before_the_roll(command, view) if view["phase"] == "roll" else _in_turn(command, fields, view)


def _before_the_game(command: str, view: View) -> str:
    if view["you"] in view["awaited"]:
        return "no game is being played: call StartGame first"
    yours = "you have called StartGame, and" if command == "StartGame" else "no game is being played:"
    return f"{yours} your opponent has not called it yet"


def _before_the_roll(command: str, view: View) -> str:
    cube = view["cube"]
    if command != "OfferDouble":
        return "call Roll first"
    if cube is None:
        return "this game has no doubling cube"
    if view["match"]["crawford"]:
        return "this is the Crawford game: no doubling"
    if cube["value"] >= HIGHEST_CUBE:
        return f"the cube stands at {HIGHEST_CUBE} and goes no higher"
    return "the cube is your opponent's"


def _in_turn(command: str, fields: Sequence[int], view: View) -> str:
    match command:
        case "Move":
            return why_no_move(view, *fields)
        case "UndoMove":
            return "there is no move of this turn to undo"
        case "EndTurn":
            return f"{_listed(view['left'])} can still be played: call Move first"
        case _:
            return "you have rolled already"


def why_no_move(view: View, start: int, end: int) -> str:
    """Why the one on turn cannot play a checker from one place to another."""
    ways = ways_of(view)
    if not ways:
        return "no move is left: call EndTurn"
    mine = view["checkers"][view["you"]]
    if VARIANTS[view["variant"]].enter_first and mine[BAR] and start != BAR:
        return f"enter from the bar first: from {WHITE_BAR}"
    return (
        next((_first(*way[0]) for way in ways if _leads(way[1:], start, end)), None)
        or _why_not_from(view, start)
        or _why_not_to(view, start, end)
        or "this move is part of no way to play all dice that can be played; see moveSequences"
    )


def _leads(way: Way, start: int, end: int) -> bool:
    """Whether this part of a way brings a checker from one place to another."""
    for number, step in enumerate(way):
        if step.start == start:
            reached = start
            for later in way[number:]:
                if later.start != reached:
                    break
                reached = later.end
                if reached == end:
                    return True
    return False


def _first(start: int, end: int) -> str:
    return f"another move must come first: from {field_of(start)} to {field_of(end)}"


def _why_not_from(view: View, start: int) -> str | None:
    """What is wrong with the checker."""
    mine, pinned = view["checkers"][view["you"]], view["pinned"][view["you"]]
    if not mine[start]:
        return f"from: you have no checker on {'the bar' if start == BAR else f'field {field_of(start)}'}"
    if mine[start] == 1 and start in pinned:
        return f"from: your checker on field {field_of(start)} is pinned"
    return None


def _why_not_to(view: View, start: int, end: int) -> str | None:
    """What is wrong with where it should go."""
    mine, theirs = view["checkers"][view["you"]], view["checkers"][1 - view["you"]]
    if end == OFF:
        if any(mine[HOME + 1 :]):
            return f"to: bear off only when all your checkers are on fields {field_of(HOME)} to {field_of(1)}"
        return None
    if end >= start:
        return f"to: expected a field after {field_of(start)}, got {field_of(end)}"
    dice: Sequence[int] = view["left"]
    if not any(sum(some) == start - end for n in range(len(dice)) for some in combinations(dice, n + 1)):
        return f"to: {start - end} fields are more or fewer than the dice allow, {_listed(dice)}"
    rules = VARIANTS[view["variant"]]
    if theirs[rules.facing[end]] >= rules.holds:
        return f"to: field {field_of(end)} is held by your opponent"
    return None


def _listed(dice: Sequence[int]) -> str:
    return ", ".join(map(str, dice))
