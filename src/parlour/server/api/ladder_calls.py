"""The HTTP calls about ladders: the best of one, a player's standings, what a ranked game is played for."""

from collections.abc import Awaitable, Callable

from msgspec.structs import asdict
from starlette.requests import Request

from parlour.errors import Code, Refused
from parlour.journal.base import Found, RoomSummary
from parlour.ratings import Stake, ladder_of, stakes
from parlour.server.api.bodies import Ladder, Leader, PublicPlayer
from parlour.server.api.callers import Callers
from parlour.server.api.calls import Call
from parlour.server.bots.players import PREFIX, bot_name, is_bot
from parlour.server.components import Components
from parlour.server.limits import Limits
from parlour.server.result_records import GameResult, curve_of, results_of
from parlour.server.standings import leaders, standing_on, standings_of
from parlour.server.tokens import guest_name

MAX_RESULTS = 50
"""The number of a player's last games that are listed."""
MOST_RATED = 300
"""The number of a player's last games of which the ratings are told."""


class LadderCalls:
    """Carries out the HTTP calls about ladders."""

    def __init__(
        self,
        parlour: Components,
        limits: Limits,
        callers: Callers,
        find: Callable[[Request], Awaitable[Found]],
    ) -> None:
        self._parlour = parlour
        self._limits = limits
        self._callers = callers
        self._find = find
        kept = Code.NOT_SAVED
        self.calls = [
            Call("GET", "/api/leaderboard", "The best of a ladder", self.show_leaderboard, list[Leader],
                 query=Ladder, refuses=(Code.UNKNOWN_GAME, kept)),
            Call("GET", "/api/players/{id}", "A player: standings and last games", self.show_player,
                 PublicPlayer, refuses=(Code.NOT_FOUND, Code.BAD_TOKEN, kept)),
            Call("GET", "/api/rooms/{id}/stakes", "What is at stake in a ranked game",
                 self.show_stakes, list[Stake], refuses=(Code.UNKNOWN_ROOM, Code.BAD_TOKEN, kept)),
        ]  # fmt: skip

    async def show_leaderboard(self, request: Request, ladder: Ladder) -> list[Leader]:  # noqa: ARG002
        self._parlour.environment.wanted_game(ladder.game)
        name = ladder_of(ladder.game, {"variant": ladder.variant}, bots=ladder.bots)
        await self._parlour.ratings.settled()
        best = await leaders(self._parlour.journal, name, ladder.limit)
        guests = await self._parlour.sessions.guests_among(standing.player for standing in best)
        return [Leader(**asdict(standing), guest=standing.player in guests) for standing in best]

    async def show_player(self, request: Request) -> PublicPlayer:
        self._limits.check_call(self._callers.address(request), 1.0)
        id = request.path_params["id"]
        if id.startswith(PREFIX) and is_bot(id, self._parlour.games.values()):
            return PublicPlayer(id, bot_name(id), bot=True, guest=False, standings=[], results=[], ratings=[])
        journal = self._parlour.journal
        player = await self._parlour.sessions.known(id)
        await self._parlour.ratings.settled()
        standings, results = await standings_of(journal, id), await results_of(journal, id, MOST_RATED)
        if player is None and not results:  # players of other doors are known only by their games
            raise Refused(Code.NOT_FOUND, f"there is no player {id[:64]!r}")
        name = guest_name(id) if player is None else player.name
        bearer = await self._callers.bearer(request)
        asker = None if bearer is None else bearer.player
        recent = results[:MAX_RESULTS]
        told = [result for result in recent if result.listed or asker in _players(result)]
        return PublicPlayer(
            id, name, bot=player is not None and player.bot, guest=player is None or player.account is None,
            standings=standings, results=told, ratings=curve_of(results),
        )  # fmt: skip

    async def show_stakes(self, request: Request) -> list[Stake]:
        room = (await self._find(request)).summary
        players = {one.id: one for one in (*room.seats, *room.coming) if one is not None}
        bots = {one.bot for one in players.values()}
        if not room.ranked or room.ended is not None or len(bots) != 1:
            return []
        ladder = ladder_of(room.game, room.config, bots=True in bots)
        await self._parlour.ratings.settled()
        standings = [(await standing_on(self._parlour.journal, ladder, one))[0] for one in players.values()]
        return list(stakes(standings, self._parlour.clock.date(), draws=self._has_draws(room)))

    def _has_draws(self, room: RoomSummary) -> bool:
        environment = self._parlour.environment
        try:
            game = environment.kept_game(room.game)
            config = game.read_config(room.config)
            return environment.ask_game(game, room.id, lambda: bool(game.has_draws(config)))
        except Refused:  # a room of older rules, or a bug, which is logged: then a draw is named
            return True


def _players(result: GameResult) -> set[str]:
    """The players of this game."""
    return {result.player, *(other.id for other in result.against)}
