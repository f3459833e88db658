"""When browsers begin to show each second of a clock, by the time of the machine that all of them share."""

from collections.abc import Sequence
from statistics import median

from tests.e2e.browser import Visitor

CALM = 50
"""More milliseconds than this between two frames, and the machine has held the page up."""

NOTE = """([seat, calm]) => {
    const begun = (window.begun = {});
    const frames = [];
    let shown, changes = 0;
    const look = () => {
        if (begun !== window.begun) return;
        const now = Date.now();
        frames.push(now);
        if (frames.length > 30) frames.shift();
        const text = document.querySelector(`[data-seat='${seat}'] time`).textContent;
        const held = frames.some((at, number) => number && at - frames[number - 1] > calm);
        if (text !== shown && changes++ > 1 && !held) begun[text] = now;
        shown = text;
        requestAnimationFrame(look);
    };
    look();
}"""
"""Notes when the clock of a seat begins to show a second, unless the page was held up just before.

It leaves out the one that was there, and the next: whoever is far away may hear too late that the clock runs.
"""


def furthest_apart(turns: Sequence[Sequence[int]]) -> float:
    """By how many milliseconds two pages were apart in the turn in which they were furthest apart.

    In each turn most seconds have to say so: a page that was held up once counts for nothing, and what is
    really apart is so in every second of a turn, and nothing that is right in other turns makes up for it.

    >>> furthest_apart([[10, 500, -20], [0, 5, 30]]), furthest_apart([[10, 5, -20], [-230, -4, -210]])
    (10, 210)
    """
    return max(abs(median(seconds)) for seconds in turns)


def milliseconds_apart(one: Visitor, other: Visitor, seat: int, enough: int = 3) -> list[int]:
    """By how much the other is later to show each second, for as many seconds as are enough."""
    pages = (one.page, other.page)
    for page in pages:
        page.evaluate(NOTE, [seat, CALM])
    wanted = enough
    while True:
        for page in pages:
            page.wait_for_function(
                "wanted => Object.keys(begun).length >= wanted", arg=wanted, timeout=60_000
            )
        first, second = (page.evaluate("begun") for page in pages)
        both = sorted(first.keys() & second.keys())
        if len(both) >= enough:
            return [second[text] - first[text] for text in both]
        wanted += 1
