"""Takes the pictures of docs/gallery.md with the real renderer, and writes that page."""

import base64

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.browser import launch
from tests.e2e.screenshots import gallery
from tests.gallery import DARK, FOLDER, PAGE, page, pictures

EXAMPLES = pictures()
CUT = """async ({taken, boxes, quality}) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${taken}`)).blob());
    return Promise.all(boxes.map(async ([x, y, width, height]) => {
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d").drawImage(image, -x, -y);
        const blob = await canvas.convertToBlob({ type: "image/webp", quality });
        const bytes = new Uint8Array(await blob.arrayBuffer());
        return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    }));
}"""
BOXES = """(scale) => [...document.querySelectorAll(".word")].map((word) => {
    const box = word.getBoundingClientRect();
    const around = [box.x + scrollX - 4, box.y + scrollY - 4, box.width + 8, box.height + 8];
    return around.map((length) => Math.round(length * scale));
})"""
WHOLE = """(scale) => {
    const { offsetWidth, offsetHeight } = document.querySelector("main");
    return [[0, 0, offsetWidth * scale, offsetHeight * scale]];
}"""


def drawn(browser: Browser, address: str, scheme: str, scale: float) -> Page:
    """All examples on one page."""
    context = browser.new_context(
        color_scheme=scheme,  # type: ignore[arg-type]
        device_scale_factor=scale,
        viewport={"width": 804, "height": 600},
        reduced_motion="reduce",
    )
    shown = context.new_page()
    shown.goto(f"{address}#words")
    shown.evaluate(
        "(all) => draw(all)", [msgspec.to_builtins(example.scene()) for example in EXAMPLES.values()]
    )
    shown.evaluate("() => document.fonts.ready")
    shown.wait_for_function(
        "(count) => document.querySelectorAll('.word svg').length === count", arg=len(EXAMPLES)
    )
    return shown


def cut(browser: Browser, shown: Page, boxes: str, scale: float, quality: float) -> list[bytes]:
    """Parts of the page as WebP."""
    taken = base64.b64encode(shown.screenshot(full_page=True)).decode()
    wanted = {"taken": taken, "boxes": shown.evaluate(boxes, scale), "quality": quality}
    return [base64.b64decode(one) for one in browser.new_page().evaluate(CUT, wanted)]


def main() -> None:
    """Draw them all again, and write the page."""
    FOLDER.mkdir(exist_ok=True, parents=True)
    for old in FOLDER.glob("*.webp"):
        old.unlink()
    with sync_playwright() as playwright, gallery() as address:
        browser = launch(playwright)
        light = cut(browser, drawn(browser, address, "light", 2), BOXES, 2, 0.82)
        (dark,) = cut(browser, drawn(browser, address, "dark", 1), WHOLE, 1, 0.8)
        browser.close()
    for name, picture in zip(EXAMPLES, light, strict=True):
        (FOLDER / name).write_bytes(picture)
    (FOLDER / f"{DARK}.webp").write_bytes(dark)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
