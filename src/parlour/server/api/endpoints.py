"""The HTTP calls: players, games, rooms, and metrics and health for operators."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from parlour import __version__
from parlour.doors.relay import tidied
from parlour.errors import Code, Refused
from parlour.journal.base import Found, Player, RoomSummary
from parlour.ratings import ladder_of
from parlour.sanitize import ROOM_ID, clean_name
from parlour.server.api.account_calls import AccountCalls
from parlour.server.api.board_files import board_route
from parlour.server.api.bodies import (
    Again,
    GameWanted,
    Health,
    KnownPlayer,
    NamedRoom,
    NewBot,
    NewInvitation,
    NewPlayer,
    NewRoom,
    Preview,
    PreviewWanted,
    PublicGame,
    PublicServer,
    Spelling,
    Stepped,
    public_game,
)
from parlour.server.api.callers import device_name, no_token, user_of
from parlour.server.api.calls import UNKEPT, Call, caller_of, openapi, peer_of, refusal, reply, routes_of
from parlour.server.api.game_files import check_language
from parlour.server.api.ladder_calls import LadderCalls
from parlour.server.api.link_previews import LinkPreviews, called, origin_of
from parlour.server.api.my_rooms import list_rooms_of
from parlour.server.api.notification_calls import NotificationCalls
from parlour.server.api.panel import Panel
from parlour.server.api.picture_files import picture_route
from parlour.server.api.preview import Previews
from parlour.server.api.rules_pages import RulesPage, RulesPages, RulesWanted
from parlour.server.api.schemas import GameSchemas, schemas_of
from parlour.server.api.texts import Texts, texts_in, titles_of
from parlour.server.api.web_pages import INDEX, File, data_block, page_routes, wants_page
from parlour.server.bots.players import check_no_bot
from parlour.server.bots.thinking import Hint
from parlour.server.components import Components
from parlour.server.gateway.upgrade import may_use_cookie
from parlour.server.limits import CREATE_COST, Limits, is_encrypted
from parlour.server.parts.pairing.pairing import PublicTicket
from parlour.server.preferences import ChosenPreferences, Preferences, keep_preferences, preferences_of
from parlour.server.remote_bots import WaitingBot, become_bot, invitable_bots, invite
from parlour.server.rooms.calls import Perform, SeatBot, Seated
from parlour.server.rooms.creation import How
from parlour.server.rooms.environment import patience_of
from parlour.server.rooms.history import HistoryPage, HistoryWanted
from parlour.server.rooms.summary import MyRoom, PublicRoom, waits_of
from parlour.server.sessions import Identities, KeptPlayer
from parlour.server.settings import Settings
from parlour.server.tokens import (
    COOKIE,
    TOKEN_DAYS,
    Bearer,
    Tokens,
    bearer_token,
    new_player_id,
)
from parlour.wire import Queue, Rematch

log = structlog.get_logger()

STEP_COST = 0.5
"""The price of one step of a history: it is replayed, but neither written nor sent to anybody else."""
PREFERENCES_COST = 3.0
"""The price of keeping a player's preferences, which is a write."""
MAX_USER_NAME = 36
"""Characters that are taken of the name that a proxy gives, so that a number fits behind it."""


class Api:
    """Carries out the HTTP calls."""

    def __init__(self, parlour: Components, tokens: Tokens, limits: Limits, settings: Settings) -> None:
        self._parlour = parlour
        self.games = parlour.games
        self._tokens = tokens
        self._identities = Identities(tokens, parlour.sessions)
        self._limits = limits
        self._settings = settings
        self._previews = Previews(parlour.environment)
        self._rules = RulesPages(parlour.environment.ask_game)
        self._links = LinkPreviews(parlour.games, self._room_of, self._name_of)
        self.board_route = board_route(parlour.games, parlour.environment.boards)
        self.calls = [
            *self._list_calls(),
            *LadderCalls(parlour, limits, self, self._find).calls,
            *AccountCalls(parlour, limits, self, tokens).calls,
            *NotificationCalls(parlour.notifications.endpoints, parlour.clock, limits, self).calls,
        ]
        self.openapi = openapi(self.calls, __version__)

    def _list_calls(self) -> list[Call]:
        auth = (Code.BAD_TOKEN,)
        kept = Code.NOT_SAVED
        return [
            Call("POST", "/api/players", "Become a guest, or renew the token and change the name",
                 self.become_player, KnownPlayer, NewPlayer, 201,
                 (Code.INVALID_NAME, Code.TOO_LATE, *auth, kept)),
            Call("GET", "/api/games", "The games that can be played here", self.list_games, list[PublicGame],
                 is_zipped=True),
            Call("GET", "/api/games/{name}/preview", "A little board of a game", self.show_preview, Preview,
                 query=PreviewWanted, refuses=(Code.UNKNOWN_GAME, Code.INVALID_CONFIG)),
            Call("GET", "/api/games/{name}/rules", "How a game is played", self.show_rules, RulesPage,
                 query=RulesWanted, refuses=(Code.UNKNOWN_GAME, Code.INVALID_CONFIG), is_zipped=True),
            Call("GET", "/api/games/{name}/schema", "The JSON schemas of a game's config, events and views",
                 self.show_schemas, GameSchemas, refuses=(Code.UNKNOWN_GAME,)),
            Call("GET", "/api/texts/{language}", "What games say in a language", self.show_texts, Texts,
                 refuses=(Code.MALFORMED,), is_zipped=True),
            Call("POST", "/api/rooms", "Open a room", self.open_room, PublicRoom, NewRoom, 201,
                 (Code.UNKNOWN_GAME, Code.INVALID_CONFIG, Code.NAME_TAKEN, *auth, kept)),
            Call("GET", "/api/rooms", "The listed rooms, newest first", self.list_rooms,
                 list[PublicRoom]),
            Call("GET", "/api/rooms/{id}", "One room", self.show_room, PublicRoom,
                 query=Spelling, refuses=(Code.UNKNOWN_ROOM, *auth, kept)),
            Call("PUT", "/api/rooms/{id}", "Go to the running room of this name, or open it", self.visit_room,
                 PublicRoom, NamedRoom,
                 refuses=(Code.UNKNOWN_GAME, Code.INVALID_CONFIG, Code.WRONG_GAME, *auth, kept)),
            Call("POST", "/api/rooms/{id}/again", "Open a room that has ended once more", self.open_again,
                 PublicRoom, refuses=(Code.UNKNOWN_ROOM, Code.UNKNOWN_GAME, Code.INVALID_CONFIG,
                                     Code.WRONG_GAME, *auth, kept)),
            Call("GET", "/api/rooms/{id}/history", "What happened in a room, as I may see it",
                 self.tell_history, HistoryPage, query=HistoryWanted,
                 refuses=(Code.UNKNOWN_ROOM, Code.NO_SPECTATORS, Code.GAME_FULL, Code.GAME_ERROR,
                          *auth, kept)),
            Call("POST", "/api/rooms/{id}/rematch", "Ask for another game", self.ask_rematch, Stepped, Again,
                 refuses=(Code.UNKNOWN_ROOM, Code.NOT_OVER, Code.ROOM_ENDED, Code.GAME_ERROR, *auth, kept),
                 personal=True),
            Call("POST", "/api/rooms/{id}/bots", "Let a bot take a seat", self.seat_bot, Seated, NewBot, 201,
                 (Code.UNKNOWN_ROOM, Code.UNKNOWN_BOT, Code.GAME_FULL, Code.NOT_SEATED, Code.SEAT_KEPT,
                  Code.ROOM_ENDED, Code.GAME_ERROR, *auth, kept)),
            Call("POST", "/api/invitations", "Invite a bot that plays over the network", self.invite_bot,
                 Player, NewInvitation,
                 refuses=(Code.UNKNOWN_ROOM, Code.UNKNOWN_BOT, Code.GAME_FULL, Code.NOT_SEATED,
                          Code.ROOM_ENDED, *auth, kept)),
            Call("GET", "/api/invitations", "The bots that can be invited to a game", self.list_bots,
                 list[WaitingBot], query=GameWanted, refuses=(Code.UNKNOWN_GAME, kept)),
            Call("POST", "/api/rooms/{id}/hint", "What a bot would do in my place", self.give_hint, Hint,
                 NewBot,
                 refuses=(Code.UNKNOWN_ROOM, Code.UNKNOWN_BOT, Code.NOT_SEATED, Code.NOT_YOUR_TURN,
                          Code.ILLEGAL_MOVE, Code.ROOM_ENDED, Code.GAME_ERROR, *auth, kept),
                 personal=True),
            Call("POST", "/api/tickets", "Take a ticket, to be paired with somebody", self.take_ticket,
                 PublicTicket, Queue, 201,
                 (Code.UNKNOWN_GAME, Code.INVALID_CONFIG, Code.UNKNOWN_BOT, Code.ALREADY_QUEUED,
                  Code.TOO_MANY, Code.GAME_ERROR, *auth, kept), personal=True),
            Call("GET", "/api/tickets", "My tickets", self.list_tickets, list[PublicTicket],
                 refuses=(*auth, kept), personal=True),
            Call("GET", "/api/tickets/{id}", "One of my tickets", self.show_ticket, PublicTicket,
                 refuses=(Code.UNKNOWN_TICKET, *auth, kept), personal=True),
            Call("DELETE", "/api/tickets/{id}", "Give a ticket back", self.give_ticket_back, PublicTicket,
                 refuses=(Code.UNKNOWN_TICKET, *auth, kept), personal=True),
            Call("GET", "/api/players/me/rooms", "The rooms in which I have a seat", self.list_my_rooms,
                 list[MyRoom], refuses=(*auth, kept), personal=True),
            Call("GET", "/api/players/me/preferences", "How I like the pages", self.show_preferences,
                 Preferences, refuses=(*auth, kept), personal=True),
            Call("PUT", "/api/players/me/preferences", "Choose how I like the pages", self.choose_preferences,
                 Preferences, ChosenPreferences, refuses=(*auth, kept), personal=True),
            Call("GET", "/api/server", "Its version, and what links to it begin with", self.show_server,
                 PublicServer),
            Call("GET", "/health", "Whether the server can do its work (503: it cannot write)", self.health,
                 Health, is_charged=False),  # monitoring is never told to come back later
            Call("GET", "/ready", "Whether to send it clients (503: not now)", self.ready, Health,
                 is_charged=False),
        ]  # fmt: skip

    def middleware(self) -> list[Middleware]:
        """Pages of the other sites that the settings list may read the answers."""
        if not self._settings.origins:
            return []
        return [
            Middleware(
                CORSMiddleware,
                allow_origins=self._settings.origins,
                allow_credentials=True,
                allow_methods=["GET", "POST", "PUT", "DELETE"],
                allow_headers=["authorization", "content-type"],
            )
        ]

    # Who calls.

    async def asker(self, request: Request) -> str | None:
        """The player who calls, by bearer token or cookie; a cookie from another site's page is ignored."""
        bearer = await self.bearer(request)
        return None if bearer is None else bearer.player

    async def bearer(self, request: Request) -> Bearer | None:
        """The content of the caller's token: who calls, and on which device of an account."""
        cookie = request.cookies.get(COOKIE) if self._may_use_cookie(request) else None
        return await self._identities.find(bearer_token(request.headers.get("authorization")), cookie)

    def _may_use_cookie(self, request: Request) -> bool:
        encrypted = self._is_encrypted(request)
        return may_use_cookie(request.headers.get, self._settings.origins, encrypted=encrypted)

    def address(self, request: Request) -> str:
        """The address of the caller."""
        return caller_of(request, self._settings.proxies)

    def charge(self, routes: Sequence[Route]) -> Sequence[Route]:
        """Charge every request to its address before anything else; expensive calls cost more."""
        free = {call.path for call in self.calls if not call.is_charged}
        for route in routes:
            if route.path not in free:
                route.app = self.charged(route.app)
        return routes

    def charged(self, app: ASGIApp) -> ASGIApp:
        """Answer only if the address has allowance left; otherwise the body is not read."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                self._limits.check_call(caller_of(HTTPConnection(scope), self._settings.proxies), 1.0)
            except Refused as why:
                answer = refusal(why)
                answer.headers["Connection"] = "close"
                await answer(scope, receive, send)
            else:
                await app(scope, receive, send)

        return serve

    def _is_encrypted(self, request: Request) -> bool:
        schemes = request.headers.getlist("x-forwarded-proto")
        return is_encrypted(peer_of(request), schemes, self._settings.proxies)

    # The calls.

    async def become_player(self, request: Request, new: NewPlayer) -> Response:
        self._limits.check_call(self.address(request), CREATE_COST)
        bearer = await self._named_by_proxy(request) or Bearer(new_player_id(), 0)
        name = None if new.name is None else self.checked_name(new.name)
        player = await self._parlour.accounts.save(bearer, name)
        if new.bot is not None:
            sessions = self._parlour.sessions
            player = await become_bot(self._parlour.journal, sessions, player, bearer, bot=new.bot)
        return self.introduce(request, self.known_as(player, bearer.device), 201)

    async def _named_by_proxy(self, request: Request) -> Bearer | None:
        """Who calls: the user whom a known proxy names, or else by token or cookie."""
        user = user_of(request, self._settings)
        if user is None:
            return await self.bearer(request)
        bearer = None
        with suppress(Refused):  # whose token has ended is signed in anew
            bearer = await self.bearer(request)
        try:
            name = self.checked_name(user.name.partition("@")[0][:MAX_USER_NAME])
        except Refused:
            name = "Player"
        player, device = await self._parlour.accounts.of_user(user.key, name, device_name(request), bearer)
        return Bearer(player.id, player.session, device)

    def checked_name(self, name: str) -> str:
        """A name that a person may have here."""
        return check_no_bot(clean_name(name), self._parlour.games.values())

    def known_as(self, player: KeptPlayer, device: int) -> KnownPlayer:
        """A player with a new token, for this device of an account."""
        token = self._tokens.issue(player.id, player.session, device)
        return KnownPlayer(player.id, player.name, token, player.account is not None, player.bot)

    def introduce(self, request: Request, known: KnownPlayer, status: int) -> Response:
        """Answer with a player and their token; browsers get it as a cookie, too."""
        response = reply(known, status)
        if self._may_use_cookie(request):  # another site's page must not replace the cookie
            response.set_cookie(
                COOKIE,
                known.token,
                max_age=TOKEN_DAYS * 86400,
                httponly=True,
                samesite="lax",
                secure=self._is_encrypted(request),
            )
        return response

    def forget(self, request: Request, response: Response) -> Response:
        """Have a browser delete its cookie."""
        if self._may_use_cookie(request):
            response.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=self._is_encrypted(request))
        return response

    async def list_games(self, request: Request) -> list[PublicGame]:  # noqa: ARG002
        patience = patience_of(self._settings)
        games = self._parlour.games.values()
        return [public_game(game, waits_of(game, patience)) for game in games]

    async def show_preview(self, request: Request, wanted: PreviewWanted) -> Preview:
        game = self._parlour.environment.wanted_game(request.path_params["name"])
        return Preview(self._previews.show(game, wanted.choice))

    async def show_rules(self, request: Request, wanted: RulesWanted) -> RulesPage:
        game = self._parlour.environment.wanted_game(request.path_params["name"])
        return self._rules.show(game, wanted.variant, wanted.language)

    async def show_schemas(self, request: Request) -> GameSchemas:
        return schemas_of(self._parlour.environment.wanted_game(request.path_params["name"]))

    async def show_texts(self, request: Request) -> Texts:
        return texts_in(check_language(request.path_params["language"]), self._parlour.games.values())

    def draw_previews(self) -> None:
        """Make the previews, so that nobody's first page has to wait for them."""
        for game in self._parlour.games.values():
            self._previews.show(game)

    async def open_room(self, request: Request, new: NewRoom) -> PublicRoom:
        how = await self._opener(request, new)
        check_room_id(new.id)
        rooms = self._parlour.rooms
        return rooms.describe(await rooms.creation.create(new.game, new.config, new.id, **how))

    async def visit_room(self, request: Request, named: NamedRoom) -> PublicRoom:
        how, id = await self._opener(request, named), request.path_params["id"]
        check_room_id(id)
        rooms = self._parlour.rooms
        return rooms.describe(await rooms.creation.find_or_create(id, named.game, named.config, **how))

    async def _opener(self, request: Request, new: NewRoom | NamedRoom) -> How:
        """How a room is to be opened, and by which player or address."""
        address = self.address(request)
        self._limits.check_call(address, CREATE_COST)
        creator = await self.asker(request) or f"address:{address}"
        return How(
            private=new.private, listed=new.listed, creator=creator, address=address,
            watching=new.watching, apart=new.apart, clock=new.clock,
        )  # fmt: skip

    async def open_again(self, request: Request) -> PublicRoom:
        address = self.address(request)
        self._limits.check_call(address, CREATE_COST)
        creator = await self.asker(request) or f"address:{address}"
        await self._find(request)
        rooms = self._parlour.rooms
        return rooms.describe(await rooms.creation.again(request.path_params["id"], creator, address))

    async def tell_history(self, request: Request, wanted: HistoryWanted) -> HistoryPage:
        self._limits.check_call(self.address(request), CREATE_COST + STEP_COST * wanted.limit)
        await self._find(request)
        return await self._parlour.history.read(request.path_params["id"], await self.asker(request), wanted)

    async def ask_rematch(self, request: Request, again: Again) -> Stepped:
        command = Rematch(await self.known(request))
        await self._find(request)
        return Stepped(await self._parlour.call(request.path_params["id"], Perform(command, again.id)))

    async def seat_bot(self, request: Request, new: NewBot) -> Seated:
        address = self.address(request)
        self._limits.check_call(address, CREATE_COST)
        asker = await self.asker(request) or f"address:{address}"
        await self._find(request)
        seated: Seated = await self._parlour.call(request.path_params["id"], SeatBot(new.bot, asker))
        return seated

    async def invite_bot(self, request: Request, new: NewInvitation) -> Player:
        address = self.address(request)
        self._limits.check_call(address, CREATE_COST)
        asker = await self.asker(request)
        await self._parlour.rooms.find(new.room, asker, address)
        return await invite(self._parlour, new.bot, new.room, asker or f"address:{address}")

    async def list_bots(self, request: Request, wanted: GameWanted) -> list[WaitingBot]:  # noqa: ARG002
        self._parlour.environment.wanted_game(wanted.game)
        ladder = ladder_of(wanted.game, {"variant": wanted.variant}, bots=True)
        return await invitable_bots(self._parlour, wanted.game, ladder)

    async def give_hint(self, request: Request, new: NewBot) -> Hint:
        self._limits.check_call(self.address(request), CREATE_COST)
        player = await self.known(request)
        await self._find(request)
        return await self._parlour.bots.hint(request.path_params["id"], player, new.bot)

    async def take_ticket(self, request: Request, wanted: Queue) -> PublicTicket:
        self._limits.check_call(self.address(request), CREATE_COST)
        pairing = self._parlour.pairing
        return pairing.describe(await pairing.queue(await self.known(request), wanted, self.address(request)))

    async def list_tickets(self, request: Request) -> list[PublicTicket]:
        pairing = self._parlour.pairing
        return pairing.list_tickets(await self.known(request))

    async def show_ticket(self, request: Request) -> PublicTicket:
        pairing = self._parlour.pairing
        return pairing.describe(pairing.ticket(await self.known(request), request.path_params["id"]))

    async def give_ticket_back(self, request: Request) -> PublicTicket:
        pairing, player = self._parlour.pairing, await self.known(request)
        return pairing.describe(await pairing.unqueue(player, request.path_params["id"]))

    async def list_rooms(self, request: Request) -> list[PublicRoom]:  # noqa: ARG002
        return self._parlour.room_list.listed()

    async def show_room(self, request: Request, spelling: Spelling) -> PublicRoom:
        return self._parlour.rooms.describe(await self._find(request, any_case=spelling.any_case))

    async def _find(self, request: Request, *, any_case: bool = False) -> Found:
        """The room that is asked for; callers who ask for many unknown rooms are refused."""
        player, address = await self.asker(request), self.address(request)
        return await self._parlour.rooms.find(request.path_params["id"], player, address, any_case=any_case)

    async def head_tags(self, request: Request, pictures: Collection[str]) -> str:
        """What a link to the page that is asked for shows in a chat; at home what is drawn first, too."""
        scheme = "https" if self._is_encrypted(request) else "http"
        origin = origin_of(self._settings.public_url, scheme, request.headers.get("host", ""))
        tags = await self._links.tags(request, origin, pictures)
        if request.url.path != "/":
            return tags
        games = self._parlour.games.values()
        previews = {game.name: self._previews.show(game) for game in games}
        listed = await self.list_games(request)
        brought = {"games": listed, "previews": previews, "titles": titles_of(tuple(games))}
        return tags + data_block("home", brought)

    async def _room_of(self, request: Request) -> RoomSummary:
        return (await self._find(request)).summary

    async def _name_of(self, id: str) -> str | None:
        player = await self._parlour.sessions.known(id)
        return (
            None if player is None else called(player.name, guest=not player.bot and player.account is None)
        )

    async def list_my_rooms(self, request: Request) -> list[MyRoom]:
        return await list_rooms_of(self._parlour, await self.known(request))

    async def show_preferences(self, request: Request) -> Preferences:
        return await preferences_of(self._parlour.journal, await self.known(request))

    async def choose_preferences(self, request: Request, chosen: ChosenPreferences) -> Preferences:
        self._limits.check_call(self.address(request), PREFERENCES_COST)
        await keep_preferences(self._parlour.sessions, await self.known_bearer(request), chosen)
        return chosen

    async def known(self, request: Request) -> str:
        """The player who calls; refused without one."""
        return (await self.known_bearer(request)).player

    async def known_bearer(self, request: Request) -> Bearer:
        """The content of the caller's token; refused without one."""
        bearer = await self.bearer(request)
        if bearer is None:
            raise no_token()
        return bearer

    async def show_server(self, request: Request) -> PublicServer:  # noqa: ARG002
        return PublicServer(__version__, self._settings.public_url or None)

    async def metrics(self) -> bytes:
        """The numbers for operators, in the format of Prometheus."""
        return await self._parlour.metrics()

    async def ready(self, request: Request) -> Response:  # noqa: ARG002
        environment = self._parlour.environment
        if environment.trouble is not None:
            return reply(Health("degraded", __version__, "the journal cannot write"), 503)
        if not environment.ownership.is_fresh():
            return reply(Health("degraded", __version__, "this worker is cut off from the database"), 503)
        if self._parlour.rooms.stopping:
            return reply(Health("degraded", __version__, "the server is about to stop"), 503)
        return reply(Health("ok", __version__))

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        trouble = self._parlour.environment.trouble
        if trouble is not None:
            return reply(Health("degraded", __version__, "the journal cannot write"), 503)
        if damages := len(self._parlour.journal.damages()):
            why = f"damage was found in what is kept ({damages}): the log names it; all the rest is served"
            return reply(Health("degraded", __version__, why))
        return reply(Health("ok", __version__))


def check_room_id(id: str | None) -> None:
    """Check the id that somebody chose for a room."""
    if id is not None and not ROOM_ID.fullmatch(id):
        why = "$.id: expected 1 to 64 of A-Z a-z 0-9 - _ . , and neither . nor .. alone; got something else"
        raise Refused(Code.MALFORMED, why, path="$.id")


async def expect_upgrade(request: Request) -> Response:
    """Refuse a plain call to a relay: only WebSockets are opened there."""
    path = request.url.path
    if (tidy := tidied("/g/" if path == "/g" else path)) != path:
        return RedirectResponse(tidy, 301, UNKEPT)
    return PlainTextResponse("Bad Request\n", 400, {**UNKEPT, "Sec-Websocket-Version": "13"})


def web_app(
    api: Api, lifespan: Any, pages: Mapping[str, File] | None = None, panel: Panel | None = None
) -> Starlette:
    """Everything that is answered over plain HTTP: the calls, and the pages for browsers."""

    index = (pages or {}).get(INDEX)

    async def show_metrics(request: Request) -> Response:  # noqa: ARG001
        return Response(await api.metrics(), headers=UNKEPT, media_type="text/plain; version=0.0.4")

    async def show_openapi(request: Request) -> Response:  # noqa: ARG001
        return reply(api.openapi)

    async def explain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for these only
        what = f"{request.method} {request.url.path[:100]}"
        if error.status_code == 404 and index is not None and wants_page(request):
            return index.answer_lost(request)
        if error.status_code == 404:
            return refusal(Refused(Code.NOT_FOUND, f"there is no {what}; /api/docs lists what there is"))
        told = Refused(Code.MALFORMED, f"{what}: {error.detail}").told()
        return reply(told, error.status_code, error.headers)

    async def apologise(request: Request, error: Exception) -> Response:
        log.error("call_failed", path=request.url.path, exc_info=error)
        return reply(Refused(Code.INTERNAL_ERROR, "this went wrong on our side").told(), 500)

    routes = [
        *routes_of(api.calls),
        Route("/metrics", show_metrics),
        Route("/api/openapi.json", show_openapi),
        *page_routes(
            pages or {}, lambda request: api.head_tags(request, pages or {}), panel=panel is not None
        ),
        picture_route(api.games),
        api.board_route,
        Route("/g", expect_upgrade),
        Route("/g/{room:path}", expect_upgrade),
    ]
    api.charge(routes)
    routes += [] if panel is None else routes_of(panel.list_calls())  # an author's page asks often
    handlers: Any = {HTTPException: explain, Exception: apologise}
    app = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers=handlers, middleware=api.middleware()
    )
    app.router.default = api.charged(app.router.default)
    app.router.redirect_slashes = False  # a redirect would repeat the host name that the request gave
    return app
