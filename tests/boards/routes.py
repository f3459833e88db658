"""A route game for five on a map: build one road a turn; whoever joins most towns wins."""

from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Scene, Side, Spot, graph, path, polygon

TOWNS = {
    "Arden": (1.2, 1.3), "Brill": (4, 0.9), "Corfe": (7.2, 1.5), "Dunmow": (10.4, 1.1), "Ely": (2.4, 3.6),
    "Frome": (5.6, 3.3), "Goole": (8.8, 3.7), "Hythe": (1, 6), "Ivel": (4.3, 5.9), "Jarrow": (7.5, 6.1),
    "Kelso": (10.6, 5.6),
}  # fmt: skip
ROADS = [
    ("Arden", "Brill"), ("Brill", "Corfe"), ("Corfe", "Dunmow"), ("Arden", "Ely"), ("Brill", "Frome"),
    ("Corfe", "Frome"), ("Corfe", "Goole"), ("Dunmow", "Goole"), ("Ely", "Frome"), ("Frome", "Goole"),
    ("Ely", "Hythe"), ("Ely", "Ivel"), ("Frome", "Ivel"), ("Frome", "Jarrow"), ("Goole", "Jarrow"),
    ("Goole", "Kelso"), ("Hythe", "Ivel"), ("Ivel", "Jarrow"), ("Jarrow", "Kelso"), ("Brill", "Ely"),
]  # fmt: skip
NAMES = {f"{a}-{b}": f"road from {a} to {b}" for a, b in ROADS}


class Map(State, frozen=True):
    """Who built which road, in this order."""

    built: tuple[str, ...] = ()


class Build(Event, frozen=True):
    """Build a road that nobody has."""

    road: str


class Routes(Game[Map]):
    """Five builders, twenty roads."""

    name = "routes"
    display_name = "Routes"
    seats = range(5, 6)
    State = Map
    Event = Build

    def init(self, config: object, moment: Moment) -> Map:
        return Map()

    def handle_event(self, state: Map, sender: str, event: Build, moment: Moment) -> Update[Map]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "that road cannot be built now")
        return Update(replace(state, built=(*state.built, event.road)))

    def legal_events(self, state: Map, player: str) -> list[Build]:
        full = len(state.players) == 5 and None not in state.players
        if not full or player != state.player(len(state.built) % 5):
            return []
        return [Build(road) for road in NAMES if road not in state.built]

    def joined(self, state: Map, seat: int) -> int:
        """How many towns this seat's roads touch."""
        return len({town for road in state.built[seat::5] for town in road.split("-")})

    def outcome(self, state: Map) -> Outcome | None:
        if len(state.built) < len(ROADS):
            return None
        towns = [self.joined(state, seat) for seat in range(5)]
        won = [
            player or "" for player, count in zip(state.players, towns, strict=True) if count == max(towns)
        ]
        return Outcome(won=tuple(won), why=f"{max(towns)} towns")

    def scene(self, state: Map, viewer: str | None) -> Scene:
        legal = {build.road: build for build in self.legal_events(state, viewer or "")}
        owners = {road: at % 5 for at, road in enumerate(state.built)}
        built = {road: f"{NAMES[road]}, built by {{{owner}}}" for road, owner in owners.items()}
        labels = {**NAMES, **built, **dict.fromkeys(TOWNS, "")}
        turn = len(state.built) % 5
        return Scene(
            11.8,
            7.2,
            spots=(
                Spot("sea", 0, 0, 11.8, 7.2, fill="water"),
                polygon("land", LAND, fill="felt"),
                path("river", RIVER, fill="water"),
                *graph(TOWNS, ROADS, size=0.5, click=legal, labels=labels, owners=owners, fill="light"),
                *(
                    Spot(f"name of {town}", x - 1, y + 0.28, 2, 0.4, fill="none", text=town)
                    for town, (x, y) in TOWNS.items()
                ),
            ),
            status="Your turn: build a road" if legal else f"Waiting for {{{turn}}}",
            turn=(turn,),
            sides=tuple(Side("counter", f"{self.joined(state, seat)} towns") for seat in range(5)),
            log=tuple(f"{{{at % 5}}}: {road.replace('-', ' to ')}" for at, road in enumerate(state.built)),
        )


LAND = (
    (0.3, 0.7),
    (3.1, 0.2),
    (6.9, 0.5),
    (11.2, 0.2),
    (11.6, 3),
    (11.3, 6.6),
    (7.8, 7),
    (4.5, 6.8),
    (0.5, 7),
)
RIVER = ((6.4, 0.2), (6.2, 2), (7.2, 2.6), (6.6, 4.6), (8.9, 5), (9.1, 7))
