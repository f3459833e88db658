"""One position of backgammon, read from what each kind of client has: payloads, views, scenes, pixels."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from parlour.scene import Scene, Spot
from tests.e2e.browser import Visitor

BAR, OFF = 25, 0


class Position(NamedTuple):
    """What everybody at a board must agree on; each side counts the places of its own checkers."""

    checkers: tuple[Counter[int], Counter[int]]
    dice: tuple[int, ...]
    left: tuple[int, ...]
    """The dice that are not used yet; of a double half as many, rounded up, as it has two dice."""
    awaited: tuple[int, ...]
    cube: int
    owns_cube: bool
    """Whether it belongs to the seat that is asked about: that is all which one of the protocols tells."""


def of_view(view: Any, seat: int) -> Position:
    """From a view of the native protocol."""
    x, o = (Counter({place: n for place, n in enumerate(side) if n}) for side in view["checkers"])
    offered = view["phase"] == "double"
    return Position(
        (x, o),
        tuple(sorted(view["dice"])),
        _two(view["left"]),
        tuple(view["awaited"]),
        view["cube"]["value"] * (2 if offered else 1),
        view["cube"]["owner"] == seat and not offered,
    )


def of_state(state: Any, players: tuple[str, ...], seat: int, *, offered: bool) -> Position:
    """From the game's state that a GammonX client has, who sits there and plays white."""
    board = state["boardState"]
    mine, theirs = Counter[int](), Counter[int]()
    for field, count in enumerate(board["fields"]):
        if count < 0:
            mine[24 - field] = -count
        elif count > 0:
            theirs[field + 1] = count
    for side, colour in ((mine, "White"), (theirs, "Black")):
        side[BAR], side[OFF] = board[f"homeBarCount{colour}"], board[f"bearOffCount{colour}"]
    sides = (+mine, +theirs) if seat == 0 else (+theirs, +mine)
    dice = state["diceRolls"]
    return Position(
        sides,
        tuple(sorted(die["roll"] for die in dice)),
        tuple(sorted(die["roll"] for die in dice if not die["used"])),
        (players.index(state["activeTurn"]),) if state["allowedCommands"] else (),
        board["doublingCubeValue"] * (2 if offered else 1),
        board["doublingCubeOwner"] and not offered,
    )


def of_scene(scene: Scene, eyes: int, seat: int) -> Position:
    """From a scene, drawn as this side sees it."""
    dice = [(int(piece.text), piece.dim) for piece in scene.pieces if piece.look == "die"]
    (cube,) = (piece for piece in scene.pieces if piece.look == "cube")
    places = ((piece.owner or 0, piece.spot) for piece in scene.pieces if piece.look == "disc")
    return _drawn(places, eyes, dice, scene.turn, cube=int(cube.text), owns_cube=cube.spot == f"cube{seat}")


def of_page(visitor: Visitor, spots: Iterable[Spot], eyes: int, seat: int) -> Position:
    """From what a browser shows: pieces by where they are drawn, dice by their dots."""
    named = [(spot.id, spot.x, spot.y, spot.x + spot.w, spot.y + spot.h) for spot in spots if spot.label]
    shown = visitor.page.evaluate(SHOWN, named)
    cube, spot = shown["cube"]
    return _drawn(
        shown["checkers"], eyes, shown["dice"], shown["turn"], cube=int(cube), owns_cube=spot == f"cube{seat}"
    )


SHOWN = """spots => new Promise(requestAnimationFrame).then(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const spotOf = (piece) => {
        const [x, y] = piece.getAttribute("transform").match(/-?[\\d.]+/g).map((n) => n / 100);
        const on = ([, left, top, right, low]) => left <= x && x <= right && top <= y && y <= low;
        return spots.filter(on).map(([id]) => id).join(" and ");
    };
    const [cube] = all("svg.board [data-piece=doubling]");
    return {
        checkers: all("svg.board [data-piece^=x], svg.board [data-piece^=o]")
            .map((piece) => [piece.dataset.piece[0] === "x" ? 0 : 1, spotOf(piece)]),
        dice: all("svg.board [data-piece^=die]")
            .map((die) => [die.querySelectorAll(".pip").length, die.classList.contains("dim")]),
        cube: [cube.textContent.trim(), spotOf(cube)],
        turn: all(".bar.turn").map((bar) => Number(bar.dataset.seat)).sort(),
    };
})"""


def _drawn(
    places: Iterable[tuple[int, str]],
    eyes: int,
    dice: list[tuple[int, bool]],
    turn: Iterable[int],
    **cube: Any,
) -> Position:
    sides = (Counter[int](), Counter[int]())
    for side, spot in places:
        sides[side][_place(spot, own=side == eyes)] += 1
    figures = sorted(figure for figure, _ in dice)
    left = [figure for figure, used in dice if not used]
    return Position(sides, tuple(figures[:: len(figures) // 2 or 1]), _two(left), tuple(turn), **cube)


def _place(spot: str, *, own: bool) -> int:
    if spot[:3] in ("bar", "off"):
        return BAR if spot[:3] == "bar" else OFF
    point = int(spot.removeprefix("p"))
    return point if own else 25 - point


def _two(left: Iterable[int]) -> tuple[int, ...]:
    """The dice that are left, of which there are never more than two."""
    all_left = sorted(left)
    return tuple(all_left if len(set(all_left)) > 1 else all_left[: (len(all_left) + 1) // 2])
