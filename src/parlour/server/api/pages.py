"""The page for browsers: files that Vite built into the package, kept in memory and told with care."""

import gzip
import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

BUILT = Path(__file__).parents[2] / "web"
"""Where `make setup` and the wheel have the built page."""

PAGES = (
    "/",
    "/r/{id}",
    "/r/{id}/replay",
    "/p/{id}",
    "/leaderboard",
    "/leaderboard/{game}",
    "/leaderboard/{game}/{variant}",
)
"""The addresses of the one page; its script looks which it is."""

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def policy(*, scripts: str, styles: str) -> str:
    """What a page may load and run: these scripts and styles, our own calls, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {scripts}",
            f"style-src {styles}",
            "img-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types svelte-trusted-html",  # Svelte's own templates, and nobody else's markup
        )
    )


CAREFUL = {
    "Content-Security-Policy": policy(scripts="'self'", styles="'self'"),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",  # an address can open a private room
    "X-Content-Type-Options": "nosniff",
}

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
    def read(cls, path: Path) -> "File":
        body = path.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        return cls(body, gzip.compress(body, mtime=0), KINDS[path.suffix], etag)

    def answer(self, request: Request, caching: str) -> Response:
        """The file, or that the browser has it already."""
        headers = {**CAREFUL, "Cache-Control": caching, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return self._whole(request, headers, 200)

    def answer_lost(self, request: Request) -> Response:
        """The page for somebody whose address leads nowhere; its script says so."""
        return self._whole(request, {**CAREFUL, "Cache-Control": "no-store", "Vary": "Accept-Encoding"}, 404)

    def _whole(self, request: Request, headers: dict[str, str], status: int) -> Response:
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.body, status, headers, self.kind)
        return Response(self.zipped, status, {**headers, "Content-Encoding": "gzip"}, self.kind)


def standalone(html: str) -> Response:
    """A page that is whole in itself: just the scripts and styles that stand in it run."""

    def hashes(tag: str) -> str:
        inside = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL)
        digests = (b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inside)
        return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"

    careful = {"Content-Security-Policy": policy(scripts=hashes("script"), styles=hashes("style"))}
    return HTMLResponse(html, headers={**CAREFUL, **careful})


def read_pages(folder: Path = BUILT) -> dict[str, File]:
    """All built files by their address; none if the page was not built."""
    return {
        f"/{path.relative_to(folder).as_posix()}": File.read(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in KINDS
    }


def wants_page(request: Request) -> bool:
    """Whether a person looks for a page here, and not a program for an answer."""
    is_call = request.url.path.startswith("/api/")
    return request.method == "GET" and not is_call and "text/html" in request.headers.get("accept", "")


def page_routes(files: Mapping[str, File]) -> list[Route]:
    """The ways to the page and its parts."""
    index = files.get("/index.html")

    async def show_page(request: Request) -> Response:
        if index is None:
            return HTMLResponse(NOT_BUILT, 404, headers=CAREFUL)
        return index.answer(request, ASK_FIRST)

    def part(address: str, file: File) -> Route:
        caching = FOREVER if address.startswith("/assets/") else ASK_FIRST

        async def show_part(request: Request) -> Response:
            return file.answer(request, caching)

        return Route(address, show_part)

    parts = [part(address, file) for address, file in files.items() if file is not index]
    return [*(Route(address, show_page) for address in PAGES), *parts]
