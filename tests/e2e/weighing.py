"""What a page sends over the line until it can be used, as the browser itself counts it."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser

USABLE = """(() => {
    const look = () => {
        const board = document.querySelector("main svg.board [data-spot]");
        const button = document.querySelector("article button.main.now:not([disabled])");
        const end = document.querySelector("input[type=range]");
        if (!window.seen && board && (location.pathname === "/" ? button : Number(end?.max) >= %d)) {
            requestAnimationFrame(() => { window.seen = performance.now(); });
        } else if (!window.seen) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""
"""Notes when the first board and a button stand on the page; of a replay, when so many steps do."""

BEGUN = """() => [location.href, ...performance.getEntriesByType("resource")
    .filter(({ startTime }) => startTime <= window.seen).map(({ name }) => name)]"""
"""What was asked for until then."""


def bytes_until_usable(browser: Browser, address: str, locale: str) -> dict[str, int]:
    """The bytes of each answer, with its head, that somebody new asks for until home can be used."""
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.add_init_script(USABLE % 0)
    asked, came = dict[str, str](), dict[str, int]()

    def arrive(told: dict[str, Any]) -> None:
        if url := asked.get(told["requestId"]):
            came[url] = round(told["encodedDataLength"])

    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.on(
        "Network.requestWillBeSent", lambda told: asked.update({told["requestId"]: told["request"]["url"]})
    )
    devtools.on("Network.loadingFinished", arrive)
    page.goto(address)
    page.wait_for_function("() => window.seen")
    begun = page.evaluate(BEGUN)
    while not came.keys() >= set(begun):
        page.evaluate("() => new Promise(requestAnimationFrame)")
    context.close()
    return {urlsplit(url).path: came[url] for url in begun}
