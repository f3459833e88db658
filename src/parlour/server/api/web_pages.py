"""The pages for browsers: files that Vite built into the package, kept in memory and told with care."""

import gzip
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from parlour.server.api.calls import takes_zipped

BUILT = Path(__file__).parents[2] / "web"
"""Where `make setup` and the wheel have the built pages."""

INDEX = "/index.html"
"""The page for players."""
PAGES = {
    "/": INDEX,
    "/r/{id}": INDEX,
    "/r/{id}/replay": INDEX,
    "/p/{id}": INDEX,
    "/rules/{game}": INDEX,
    "/rules/{game}/{variant}": INDEX,
    "/watch": INDEX,
    "/games": INDEX,
    "/account": INDEX,
    "/sign-in": INDEX,
    "/leaderboard": INDEX,
    "/leaderboard/{game}": INDEX,
    "/leaderboard/{game}/{variant}": INDEX,
    "/api/docs": "/api-docs.html",
    "/relay": "/relay.html",
}
"""Which page is at which address. Players have one for all of theirs; its script looks which it is."""
PANEL = {"/panel": "/panel.html", "/panel/{id}": "/panel.html"}
"""The pages of the panel for authors, where there is one."""

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "font-src 'self'",
        "media-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",  # games' own boards; whatever such a frame does, it cannot lead elsewhere
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        # Svelte's own templates, the address of the service worker, and nobody else's markup.
        "trusted-types svelte-trusted-html service-worker",
    )
)
"""What a page may load and run: our own scripts, styles and calls, and nothing else."""

CAREFUL = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",  # an address can open a private room
    "X-Content-Type-Options": "nosniff",
}
FRAMED = {
    **CAREFUL,
    "Content-Security-Policy": POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
}
"""The same where there is a panel, which shows the page of a room in frames, one for each seat."""

FOREVER = "public, max-age=31536000, immutable"
"""For files whose names change with what is in them."""
ASK_FIRST = "no-cache"
"""Keep it, but ask whether it is still the same."""

NOT_BUILT = (
    "<!doctype html><title>Parlour</title><h1>The page is not built</h1>"
    "<p>Games can be played over the socket all the same. To build the page, install Node.js 20.19 or newer "
    "and run <code>make setup</code> in the source folder; or install Parlour's wheel, which has it."
)


class File(msgspec.Struct, frozen=True):
    """A built file, also in the form that most browsers take."""

    body: bytes
    zipped: bytes
    kind: str
    etag: str

    @classmethod
    def of(cls, body: bytes, kind: str) -> "File":
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        return cls(body, gzip.compress(body, mtime=0), kind, etag)

    def answer(self, request: Request, caching: str, careful: Mapping[str, str] = CAREFUL) -> Response:
        """The file, or that the browser has it already."""
        headers = {**careful, "Cache-Control": caching, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return self._whole(request, headers, 200)

    def answer_lost(self, request: Request) -> Response:
        """The page for somebody whose address leads nowhere; its script says so."""
        return self._whole(request, {**CAREFUL, "Cache-Control": "no-store", "Vary": "Accept-Encoding"}, 404)

    def _whole(self, request: Request, headers: dict[str, str], status: int) -> Response:
        is_smaller = len(self.zipped) < len(self.body)  # pictures and fonts are packed already
        if not is_smaller or not takes_zipped(request):
            return Response(self.body, status, headers, self.kind)
        return Response(self.zipped, status, {**headers, "Content-Encoding": "gzip"}, self.kind)


def read_pages(folder: Path = BUILT) -> dict[str, File]:
    """All built files by their names; none if the pages were not built."""
    return {
        f"/{path.relative_to(folder).as_posix()}": File.of(path.read_bytes(), KINDS[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in KINDS
    }


def wants_page(request: Request) -> bool:
    """Whether a person looks for a page here, and not a program for an answer."""
    is_call = request.url.path.startswith("/api/")
    return request.method == "GET" and not is_call and "text/html" in request.headers.get("accept", "")


def data_block(id: str, data: Any) -> str:
    """Data in a page's head, for its script to read; nothing in it can be taken for markup.

    >>> data_block("home", {"name": "</script>"})
    '<script type="application/json" id="home">{"name":"\\\\u003c/script>"}</script>\\n'
    """
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="{id}">{text}</script>\n'


Tags = Callable[[Request], Awaitable[str]]
"""What else stands in the head of the page for players, at the address that is asked for."""


@lru_cache(maxsize=1 << 8)
def with_tags(file: File, tags: str) -> File:
    """A page with these tags in its head; kept, since most links are followed more than once."""
    return File.of(file.body.replace(b"</head>", tags.encode() + b"</head>", 1), file.kind)


def page_routes(files: Mapping[str, File], tags: Tags, *, panel: bool = False) -> list[Route]:
    """The ways to the pages and their parts; only with *panel* there is one, and pages may be framed."""
    addresses = {**PAGES, **PANEL} if panel else PAGES

    def page(address: str, file: File | None) -> Route:
        async def show_page(request: Request) -> Response:
            if file is None:
                return HTMLResponse(NOT_BUILT, 404, headers=CAREFUL)
            is_for_players = addresses[address] == INDEX
            shown = with_tags(file, await tags(request)) if is_for_players else file
            return shown.answer(request, ASK_FIRST, FRAMED if panel else CAREFUL)

        return Route(address, show_page)

    def part(address: str, file: File) -> Route:
        caching = FOREVER if address.startswith("/assets/") else ASK_FIRST

        async def show_part(request: Request) -> Response:
            return file.answer(request, caching)

        return Route(address, show_part)

    pages = [page(address, files.get(name)) for address, name in addresses.items()]
    hidden = {*PAGES.values(), *PANEL.values()}
    return [*pages, *(part(name, file) for name, file in files.items() if name not in hidden)]
