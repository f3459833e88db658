"""Somebody who plays any game to its end by pressing what the page offers, and who knows no rules."""

from random import Random

from tests.e2e.browser import Visitor

PATIENCE = 60_000
"""Milliseconds in which there must be something to press, or the end of the game."""


def watch_answers(visitor: Visitor) -> None:
    """From now on its pages know whether everything that they have asked was answered."""
    visitor.context.add_init_script(ANSWERS)


def play_to_the_end(visitor: Visitor, seed: int, most: int = 4000) -> int:
    """Press what is offered, chosen by this seed, until the page shows how it ended; how often."""
    random = Random(seed)
    visitor.page.set_default_timeout(PATIENCE)
    for presses in range(most):
        found = find_next(visitor, random)
        if found is None:
            return presses
        press(visitor, **found)
    raise AssertionError(f"expected an end after {most} presses, it goes on")


def find_next(visitor: Visitor, random: Random) -> dict[str, float] | None:
    """Wait until something can be pressed: where it is, or nothing if the game is over."""
    found: dict[str, float] | None = visitor.page.evaluate(NEXT, [random.random(), random.random(), PATIENCE])
    return found


def press_next(visitor: Visitor, random: Random) -> None:
    """Press something that can be pressed, while the game goes on."""
    found = find_next(visitor, random)
    assert found is not None, "the game is over"
    press(visitor, **found)


def press(visitor: Visitor, x: float, y: float) -> None:
    """With a finger, where the screen feels one."""
    if visitor.has_touch:
        visitor.page.touchscreen.tap(x, y)
    else:
        visitor.page.mouse.click(x, y)


ANSWERS = """(() => {
    const send = WebSocket.prototype.send;
    const open = (window.unanswered = new Set());
    WebSocket.prototype.send = function (data) {
        const [, ref, , name] = JSON.parse(data);
        if (!this.asked) {
            this.asked = new Map();
            this.addEventListener("message", (heard) => {
                const [, ref, , name] = JSON.parse(heard.data);
                if (name === "phx_reply") open.delete(this.asked.get(ref));
            });
        }
        if (name !== "heartbeat") {
            const question = {};
            this.asked.set(ref, question);
            open.add(question);
        }
        return send.call(this, data);
    };
})();"""

NEXT = """async ([which, where, patience]) => {
    const until = performance.now() + patience;
    const frame = () => new Promise(requestAnimationFrame);
    const shown = (selector) =>
        [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility() && !one.disabled);
    const pick = (list, chance) => list[Math.floor(chance * list.length)];
    const top = (one) => one.getBoundingClientRect().top;
    const ahead = (list) => [...list].sort((a, b) => top(a) - top(b));
    function offered() {
        const main = shown(".controls > button.main");
        if (main.length) return main[0];
        const drawn = shown("svg.board .piece.held.lifted");
        if (drawn.length) return drawn[0];
        const aims = shown("svg.board .spot[aria-label$='can go here']");
        const anything = "svg.board .spot.active:not([aria-label^='dice']), svg.board .piece.held";
        if (!aims.length) return pick(shown(anything), which);
        const fights = aims.filter((one) => one.getAttribute("aria-label").split(", ").length > 2);
        return fights.length ? pick(fights, which) : where < 0.8 ? ahead(aims)[0] : pick(aims, which);
    }
    for (;;) {
        await frame();
        await frame();
        if (shown(".ending").length) return null;
        const one = window.unanswered.size ? undefined : offered();
        if (one) {
            one.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
            const box = one.getBoundingClientRect();
            // Of a card in a hand the next one may leave only an edge to press.
            return { x: box.x + box.width * (one.matches(".held") ? 0.15 : 0.5), y: box.y + box.height / 2 };
        }
        if (performance.now() > until) throw new Error("expected something to press, or the end of the game");
    }
}"""
"""What to press next: the main button, else the card that was drawn out of a hand, else a place where the
piece in hand can go, preferably a fight or one ahead, else anything on the board that can be pressed; null
when the game is over."""
