"""The pictures of games over HTTP: kept by browsers for ever, and nothing that could run."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from parlour.game import Game
from parlour.pictures import Picture, pictures_of
from parlour.server.api.web_pages import ASK_FIRST, FOREVER, File

POLICY = "default-src 'none'; sandbox"
"""Whoever opens a picture as a page of its own sees it, and it can load and run nothing."""


def picture_route(games: Mapping[str, Game[Any]]) -> Route:
    """The way to the pictures of all games; a name is looked up, and no path is ever made of it."""

    async def show_picture(request: Request) -> Response:
        game = games.get(request.path_params["game"])
        picture = None if game is None else pictures_of(game).get(request.path_params["name"])
        if picture is None:
            raise HTTPException(404)
        # Another worker may have another picture of this name for now: then this one is shown, but not kept.
        is_same = request.url.path == picture.address
        answer = file_of(picture).answer(request, FOREVER if is_same else ASK_FIRST)
        answer.headers["Content-Security-Policy"] = POLICY
        return answer

    return Route("/pictures/{game}/{hash}/{name}", show_picture)


@lru_cache(maxsize=1 << 8)
def file_of(picture: Picture) -> File:
    """A picture as it is sent."""
    return File.of(picture.body, picture.kind)
