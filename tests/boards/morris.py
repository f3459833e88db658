"""Nine men's morris, in short: nine men each, then they move along the lines; the first mill wins."""

from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Piece, Scene, Side, Spot, graph


def _points() -> dict[str, tuple[float, float]]:
    """Three squares in each other, each with its corners and the middles of its sides."""
    steps = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
    return {f"{'abc'[ring]}{at + 1}": (4 + dx * (3.4 - ring * 1.1), 4 + dy * (3.4 - ring * 1.1))
            for ring in range(3) for at, (dx, dy) in enumerate(steps)}  # fmt: skip


POINTS = _points()
ROUND = [(f"{ring}{at + 1}", f"{ring}{(at + 1) % 8 + 1}") for ring in "abc" for at in range(8)]
LINES = [*ROUND, *((f"{one}{at}", f"{two}{at}") for one, two in ("ab", "bc") for at in (2, 4, 6, 8))]
MILLS = [
    *(
        {f"{ring}{at}", f"{ring}{at + 1}", f"{ring}{(at + 1) % 8 + 1}"}
        for ring in "abc"
        for at in (1, 3, 5, 7)
    ),
    *({f"{ring}{at}" for ring in "abc"} for at in (2, 4, 6, 8)),
]


class Men(State, frozen=True):
    """Where the men are, and how many are still in hand."""

    men: tuple[dict[str, str], ...] = ({}, {})
    """For each seat: man, point."""
    turn: int = 0

    def free(self) -> list[str]:
        """Points without a man."""
        taken = {*self.men[0].values(), *self.men[1].values()}
        return [point for point in POINTS if point not in taken]


class Place(Event, frozen=True):
    """Put a new man on a point."""

    to: str


class Move(Event, frozen=True):
    """Move a man along a line."""

    man: str
    to: str


class Morris(Game[Men]):
    """Two players, nine men each."""

    name = "morris"
    display_name = "Nine men's morris"
    seats = range(2, 3)
    State = Men
    Event = Place | Move

    def init(self, config: object, moment: Moment) -> Men:
        return Men()

    def handle_event(self, state: Men, sender: str, event: Place | Move, moment: Moment) -> Update[Men]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "no man of yours can go there")
        mine = state.men[state.turn]
        man = event.man if isinstance(event, Move) else f"m{state.turn}-{len(mine)}"
        mine = {**mine, man: event.to}
        men = (mine, state.men[1]) if state.turn == 0 else (state.men[0], mine)
        return Update(replace(state, men=men, turn=1 - state.turn))

    def legal_events(self, state: Men, player: str) -> list[Place | Move]:
        full = len(state.players) == 2 and None not in state.players
        if not full or player != state.player(state.turn) or self.outcome(state):
            return []
        free, mine = set(state.free()), state.men[state.turn]
        if len(mine) < 9:
            return [Place(point) for point in POINTS if point in free]
        ways = [*LINES, *((b, a) for a, b in LINES)]
        return [Move(man, to) for man, at in mine.items() for a, to in ways if a == at and to in free]

    def outcome(self, state: Men) -> Outcome | None:
        for seat in (0, 1):
            if any(mill <= set(state.men[seat].values()) for mill in MILLS):
                return Outcome(won=(state.player(seat) or "",), why="a mill")
        return None

    def scene(self, state: Men, viewer: str | None) -> Scene:
        legal = self.legal_events(state, viewer or "")
        places = {event.to: event for event in legal if isinstance(event, Place)}
        drops: dict[str, dict[str, Move]] = {}
        for event in legal:
            if isinstance(event, Move):
                drops.setdefault(event.man, {})[event.to] = event
        return Scene(
            8,
            8,
            spots=(Spot("wood", 0, 0, 8, 8, fill="wood"), *graph(POINTS, LINES, click=places, fill="light")),
            pieces=tuple(
                Piece(
                    man,
                    "disc",
                    point,
                    owner=seat,
                    label=("white man", "black man")[seat],
                    drops=drops.get(man, {}),
                )
                for seat in (0, 1)
                for man, point in state.men[seat].items()
            ),
            status="Your turn" if legal else f"Waiting for {{{state.turn}}}",
            turn=(state.turn,),
            sides=tuple(Side("disc", f"{9 - len(men)} in hand") for men in state.men),
        )
