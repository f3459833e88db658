"""The files of games' own board pages, which run in a frame without an origin and can reach nothing else."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from parlour.game import Game
from parlour.server.api.web_pages import ASK_FIRST, File
from parlour.server.board_pages import KINDS, BoardPages

POLICY = "; ".join(
    (
        # Without an origin also where it is opened by itself: it has nobody's cookie, storage or calls.
        "sandbox allow-scripts",
        "default-src 'none'",
        # Even so, 'self' is the server that the page came from.
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "media-src 'self'",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
"""What a board page may load and run: files of this server, and no calls."""

CAREFUL = {
    "Content-Security-Policy": POLICY,
    # Scripts that are modules, and fonts, are asked for by the page's origin, which is none.
    "Access-Control-Allow-Origin": "*",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_file_of = lru_cache(maxsize=1 << 8)(File.of)


def board_route(games: Mapping[str, Game[Any]], boards: BoardPages) -> Route:
    """The way to the files of all board pages."""

    async def show_file(request: Request) -> Response:
        game, path = games.get(request.path_params["game"]), request.path_params["path"]
        page = None if game is None else boards.get(game)
        if page is None or path not in page.files:
            raise HTTPException(404)
        return _file_of(page.files[path], KINDS[PurePath(path).suffix]).answer(request, ASK_FIRST, CAREFUL)

    return Route("/boards/{game}/{path:path}", show_file)
