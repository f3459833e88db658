"""What hands do at a board of backgammon in a browser."""

from playwright.sync_api import expect

SLOW = 30_000


def button(who, name):
    return who.page.get_by_role("button", name=name)


def choose(who, name):
    """Press something in the menu of offers, where resigning is, too."""
    button(who, "Offers and resigning").click()
    who.page.locator(".menu").get_by_role("button", name=name, exact=True).click()


def tap(who, thing, *, touch=False):
    """Press the middle of it, whatever lies there."""
    box = thing.bounding_box()
    pointer = who.page.touchscreen.tap if touch else who.page.mouse.click
    pointer(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def drag(who, thing, to):
    one, two = thing.bounding_box(), to.bounding_box()
    mouse = who.page.mouse
    mouse.move(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2)
    mouse.down()
    mouse.move(two["x"] + two["width"] / 2, two["y"] + two["height"] / 2, steps=6)
    mouse.up()


def movable(who):
    return who.board.locator(".piece.movable")


def targets(who):
    return who.board.locator("[aria-label$='can go here']")


def used(who):
    return who.board.locator(".piece.dim[data-piece^=die]").count()


def wait_for_dice(who, before):
    """More dice have been played, or they are gone with the game."""
    who.page.wait_for_function(
        """before => document.querySelectorAll("svg.board .piece.dim[data-piece^=die]").length > before
                     || !document.querySelector("svg.board [data-piece^=die]")""",
        arg=before,
        timeout=SLOW,
    )


def roll(who):
    button(who, "Roll").click()
    expect(who.board.locator("[data-piece^=die]").first).to_be_attached(timeout=SLOW)


def move(who, *, dragging=False, touch=False):
    """One checker to the farthest place where it may go."""
    before = used(who)
    if dragging:
        checker = movable(who).last
        tap(who, checker)
        spot = targets(who).last.get_attribute("data-spot")
        tap(who, checker)  # let go again: it was only to see where it may go
        expect(targets(who)).to_have_count(0)
        drag(who, checker, who.board.locator(f"[data-spot={spot}]"))
    else:
        tap(who, movable(who).last, touch=touch)
        expect(targets(who).first).to_be_attached()
        tap(who, targets(who).last, touch=touch)
    wait_for_dice(who, before)


def say_yes(who):
    who.page.get_by_role("dialog").get_by_role("button", name="Yes").click()


def act(who, view):
    """By a click, the next thing that is to be done for somebody who sees this view."""
    if view["ways"]:
        tap(who, movable(who).last)
        expect(targets(who).first).to_be_attached()
        tap(who, targets(who).last)
    else:
        controls = {"ready": "Ready", "roll": "Roll", "double": "Take at"}
        button(who, controls.get(view["phase"], "End the turn")).click()
