"""The panel for the author of a game: every seat, the state and each view, step by step.

It shows all secrets and can play for everybody, so it is there only with `--reload`, in a server of one
process, and only for callers who have the key that the terminal shows.
"""

import secrets
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Found, Player, RoomQuery
from parlour.room import Room
from parlour.scene import Scene
from parlour.server.api.calls import Call
from parlour.server.components import Components
from parlour.server.rooms.branching import Branching
from parlour.server.rooms.calls import Perform
from parlour.server.rooms.summary import PublicRoom, seated
from parlour.server.sessions import KeptPlayer
from parlour.server.tokens import Tokens, bearer_token, new_player_id
from parlour.wire import Command, Join

MOST_ROOMS = 50
"""Rooms that are listed, the newest."""
MOST_STEPS = 500
"""Steps that one call returns at most."""
SPECTATOR = "Spectator"
"""The name of whoever watches in the panel."""


class PanelGame(msgspec.Struct, frozen=True):
    """A game that can be opened in the panel."""

    name: str
    display_name: str


class PanelHome(msgspec.Struct, frozen=True):
    """What there is to look at."""

    games: list[PanelGame]
    rooms: list[PublicRoom]


class PanelOpening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A room to open, with as many players as its game needs."""

    game: str
    config: dict[str, Any] = {}


class WhichStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The step after which a room is shown."""

    step: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """None: the last one."""


class FirstStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"first": "from"}):
    """The first of the wanted steps."""

    first: Annotated[int, Meta(ge=1, le=2**53)] = 1


class Back(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The step from which a new room goes on."""

    step: Annotated[int, Meta(ge=0, le=2**53)]


class PanelStep(msgspec.Struct, frozen=True):
    """One step as it is kept: what was asked of the room."""

    seq: int
    at: float
    """Wall time."""
    command: Command


class PanelViewer(msgspec.Struct, frozen=True):
    """One seat, or the spectators: who is there, and what they see."""

    seat: int | None
    """None: the spectators."""
    player: Player | KeptPlayer | None
    """None: the seat is free."""
    token: str | None
    """What the room's page needs to play as this player; bots play by themselves."""
    view: Any
    scene: Scene | None
    problem: str | None
    """Why the game could not make the view or the scene."""


class PanelRoom(msgspec.Struct, frozen=True):
    """A room after one of its steps, with all that it hides."""

    id: str
    game: str
    seq: int
    """The last step that there is."""
    step: int
    """The step after which it is shown."""
    ended: str | None
    problem: str | None
    """Why there is nothing to see."""
    state: Any
    viewers: list[PanelViewer]


Answer = Callable[..., Awaitable[Any]]


class Panel:
    """Carries out the panel's calls."""

    def __init__(self, parlour: Components, tokens: Tokens) -> None:
        self._parlour = parlour
        self._tokens = tokens
        self._branching = Branching(parlour.environment, parlour.rooms.creation)
        self._spectator = new_player_id()
        self.key = secrets.token_urlsafe(24)

    def list_calls(self) -> list[Call]:
        """The calls; none is answered without the key."""
        at = "/api/panel/rooms"
        return [
            Call("GET", at, "The rooms", self._guarded(self.show_home), PanelHome),
            Call("POST", at, "Open a room", self._guarded(self.open_room), PublicRoom, PanelOpening, 201),
            Call("GET", f"{at}/{{id}}", "A room after a step", self._guarded(self.show_room), PanelRoom,
                 query=WhichStep),
            Call("GET", f"{at}/{{id}}/steps", "The steps of a room", self._guarded(self.list_steps),
                 list[PanelStep], query=FirstStep),
            Call("POST", f"{at}/{{id}}/players", "Seat one more player", self._guarded(self.seat_player),
                 PublicRoom, status=201),
            Call("POST", f"{at}/{{id}}/branch", "Go on from a step in a new room", self._guarded(self.branch),
                 PublicRoom, Back, 201),
        ]  # fmt: skip

    def _guarded(self, answer: Answer) -> Answer:
        """Refuse whoever does not bring the key."""

        @wraps(answer)
        async def guarded(request: Request, *taken: Any) -> Any:
            brought = bearer_token(request.headers.get("authorization")) or ""
            if not secrets.compare_digest(brought.encode(), self.key.encode()):
                raise Refused(Code.BAD_TOKEN, "the panel opens by the link that the server's terminal shows")
            return await answer(request, *taken)

        return guarded

    async def show_home(self, request: Request) -> PanelHome:  # noqa: ARG002
        games = [PanelGame(game.name, game.display_name) for game in self._parlour.games.values()]
        found = await self._parlour.journal.rooms(RoomQuery(limit=MOST_ROOMS))
        return PanelHome(games, [self._parlour.rooms.describe(one) for one in found])

    async def open_room(self, request: Request, new: PanelOpening) -> PublicRoom:  # noqa: ARG002
        found = await self._parlour.rooms.creation.create(new.game, new.config, listed=False)
        for _ in range(found.summary.least):
            await self._seat(found.summary.id)
        return await self._parlour.rooms.look(found.summary.id)

    async def seat_player(self, request: Request) -> PublicRoom:
        found = await self._find(request)
        await self._seat(found.summary.id)
        return await self._parlour.rooms.look(found.summary.id)

    async def _seat(self, room: str) -> None:
        """Seat somebody new; their page connects once the panel shows it."""
        here = await self._parlour.rooms.look(room)
        name = f"Player {sum(seat is not None for seat in here.seats) + 1}"
        player = await self._parlour.sessions.save(new_player_id(), name)
        await self._parlour.call(room, Perform(Join(player.id, player.name)))

    async def branch(self, request: Request, back: Back) -> PublicRoom:
        found = await self._find(request)
        return self._parlour.rooms.describe(await self._branching.branch(found, back.step))

    async def list_steps(self, request: Request, wanted: FirstStep) -> list[PanelStep]:
        found = await self._find(request)
        steps: list[PanelStep] = []
        async for step in self._parlour.journal.replay(found.number, after=wanted.first - 1):
            steps.append(PanelStep(step.seq, step.date, step.command))
            if len(steps) == MOST_STEPS:
                break
        return steps

    async def show_room(self, request: Request, wanted: WhichStep) -> PanelRoom:
        found = await self._find(request)
        step = found.seq if wanted.step is None else min(wanted.step, found.seq)
        room = await self._parlour.history.room_at(found, step)
        game = self._parlour.environment.kept_game(found.summary.game)
        problem = None if room is not None else "today's rules cannot play this step again"
        return PanelRoom(
            found.summary.id, game.name, found.seq, step, found.summary.ended, problem,
            None if room is None else room.state,
            [] if room is None else await self._viewers(game, room),
        )  # fmt: skip

    async def _find(self, request: Request) -> Found:
        id = request.path_params["id"]
        found = await self._parlour.journal.find(id)
        if found is None:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")
        return found

    async def _viewers(self, game: Game[Any], room: Room[Any]) -> list[PanelViewer]:
        """Every seat in order, then the spectators."""
        there = [await self._viewer(game, room, seat, player) for seat, player in enumerate(seated(room))]
        spectator = await self._parlour.sessions.save(self._spectator, SPECTATOR)
        return [*there, await self._viewer(game, room, None, spectator)]

    async def _viewer(
        self, game: Game[Any], room: Room[Any], seat: int | None, player: Player | KeptPlayer | None
    ) -> PanelViewer:
        if player is None:
            return PanelViewer(seat, None, None, None, None, None)
        viewer = None if seat is None else player.id
        view, scene, problem = None, None, None
        try:
            view = self._ask(game, room, partial(game.view, room.state, viewer))
            scene = self._ask(game, room, partial(game.scene, room.state, viewer))
        except Refused as why:
            problem = why.message
        known = await self._parlour.sessions.known(player.id)
        session = 0 if known is None else known.session
        token = None if player.bot else self._tokens.issue(player.id, session)
        shown = Player(player.id, player.name, player.bot)
        return PanelViewer(seat, shown, token, view, scene, problem)

    def _ask(self, game: Game[Any], room: Room[Any], think: Callable[[], Any]) -> Any:
        return self._parlour.environment.ask_game(game, room.id, think)
