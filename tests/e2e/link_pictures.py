"""Takes the still pictures that links show in a chat: one of each game and variant, and a general one.

They are kept in web/public/previews, and what they were drawn from is noted in digests beside the gallery.
"""

import base64
import struct
import zlib
from collections import Counter
from contextlib import ExitStack

import msgspec
from playwright.sync_api import Page, sync_playwright

from parlour.server.api.link_previews import SIZE
from tests.e2e.browser import launch
from tests.e2e.screenshots import ROOT, gallery
from tests.link_drawings import Drawn, drawings, keep_digests

FOLDER = ROOT / "web" / "public" / "previews"
EDGE, DOT = 6000, 20
"""How much one pixel of an edge may change, and from how many that change more something else is drawn."""
COLOURS = 32
"""So many are enough for boards that are drawn; a picture takes a fifth of the room then."""


def take(page: Page, name: str, drawn: Drawn) -> None:
    page.evaluate("(one) => draw(one)", msgspec.to_builtins(drawn._asdict()))
    page.evaluate("() => document.fonts.ready")
    page.wait_for_function("() => !document.getAnimations().length")
    picture = indexed_png(develop(page, page.screenshot()), *SIZE)
    file = FOLDER / f"{name}.png"
    if not (file.exists() and is_alike(develop(page, file.read_bytes()), develop(page, picture))):
        file.write_bytes(picture)


def develop(page: Page, picture: bytes) -> bytes:
    """The pixels of a picture, four bytes each."""
    return base64.b64decode(page.evaluate(DEVELOP, base64.b64encode(picture).decode()))


def is_alike(one: bytes, other: bytes) -> bool:
    """True if nobody could tell two pictures apart: a browser does not draw every edge twice the same.

    >>> is_alike(bytes(4 * 2000), bytes(4 * 2000))
    True
    >>> is_alike(bytes(4 * 2000), bytes(4 * 1900) + b"\\x04" * 4 * 100)
    False
    """
    if len(one) != len(other):
        return False
    pairs = zip(colours_of(one), colours_of(other), strict=True)
    changes = [_apart(mine, yours) for mine, yours in pairs if mine != yours]
    return len(changes) < len(one) / 4000 and sum(change > EDGE for change in changes) < DOT


DEVELOP = """async (taken) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${taken}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const pixels = canvas.getImageData(0, 0, image.width, image.height).data;
    return btoa(Array.from(pixels, (byte) => String.fromCharCode(byte)).join(""));
}"""

Colour = tuple[int, int, int]


def colours_of(pixels: bytes) -> list[Colour]:
    return list(zip(pixels[::4], pixels[1::4], pixels[2::4], strict=True))


def indexed_png(pixels: bytes, width: int, height: int) -> bytes:
    """A PNG of few colours: those that are most frequent, and for every other the nearest of these."""
    colours = colours_of(pixels)
    counts = Counter(colours)
    palette: list[Colour] = []
    for colour, _ in counts.most_common():
        if len(palette) < COLOURS and all(_apart(colour, other) > 200 for other in palette):
            palette.append(colour)
    nearest = {one: min(range(len(palette)), key=lambda n: _apart(one, palette[n])) for one in counts}
    rows = (bytes(nearest[one] for one in colours[at : at + width]) for at in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    parts = {b"IHDR": head, b"PLTE": bytes(sum(palette, ())), b"IDAT": data, b"IEND": b""}
    chunks = (_chunk(name, data) for name, data in parts.items())
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _apart(one: Colour, other: Colour) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        width, height = SIZE
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="light", reduced_motion="reduce"
        )
        page.goto(f"{stack.enter_context(gallery())}#picture")
        for name, drawn in drawings().items():
            take(page, name, drawn)
    keep_digests()


if __name__ == "__main__":
    main()
