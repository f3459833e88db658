"""How people at browsers play Stratego: draw up, point at squares, move."""

import re

from playwright.sync_api import Locator, expect

from parlour.games.stratego.picture import name_of
from tests.e2e.browser import Visitor

SQUARES = {name_of(square): square for square in range(100)}


STAND_STILL = """() => {
    const motions = document.getAnimations();
    for (const motion of motions) { motion.pause(); motion.currentTime = 600; }
    return motions.length;
}"""
"""Stops what moves in the middle of it; waits until something does."""


def square(visitor: Visitor, name: str) -> Locator:
    return visitor.board.locator(f"[data-spot=c{SQUARES[name]}]")


def move(visitor: Visitor, start: str, end: str) -> None:
    """By two clicks; a piece lies over its square, so the mouse is sent to the place itself."""
    square(visitor, start).click(force=True)
    square(visitor, end).click(force=True)


def stands(visitor: Visitor, name: str, what: str) -> None:
    """Wait until a screen reader says so of a square."""
    expect(square(visitor, name)).to_have_attribute("aria-label", re.compile(rf"^{name}, {what}"))


def press_button(visitor: Visitor, name: str) -> None:
    visitor.page.get_by_role("button", name=name, exact=True).click()


def draw_up(visitor: Visitor, formation: str) -> None:
    press_button(visitor, "Formation")
    press_button(visitor, formation)
