"""The colours of eight owners: told apart by everybody, in the light and in the dark."""

import re
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from pathlib import Path

import pytest

STYLES = Path(__file__).parents[1] / "web" / "src" / "app.css"
GLYPHS = STYLES.parent / "board" / "glyphs.ts"

Numbers = tuple[float, ...]

KINDS: dict[str, tuple[Numbers, ...]] = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""How colours are seen: matrices for linear red, green and blue, by Machado, Oliveira and Fernandes, 2009."""

LEAST = 10
"""A difference (CIEDE2000) that is seen at a glance."""


def owner_colours(scheme: int) -> dict[str, str]:
    """The colours of the style sheet, for the light (0) or the dark (1)."""
    found = re.findall(r"--(o\d|nobody): (?:light-dark\((#\w+), (#\w+)\)|(#\w+));", STYLES.read_text())
    return {name: one or (light, dark)[scheme] for name, light, dark, one in found}


def linear(colour: str) -> Numbers:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def seen(colour: str, kind: str) -> Numbers:
    """A colour in CIELAB, as people of this kind see it."""
    there = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, there, strict=True)))) for row in KINDS[kind]
    )
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883
    a, b, c = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * b - 16, 500 * (a - b), 200 * (b - c)


def apart(one: Numbers, two: Numbers) -> float:
    """How different two colours are: CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean = (hypot(a1, b1) + hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * sqrt(mean**7 / (mean**7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = (h1 + turn / 2) % 360
    weight = (
        1
        - 0.17 * cos(radians(middle - 30))
        + 0.24 * cos(radians(2 * middle))
        + 0.32 * cos(radians(3 * middle + 6))
        - 0.2 * cos(radians(4 * middle - 63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = hue / (1 + 0.015 * chroma * weight)
    bent = 2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(60 * exp(-(((middle - 275) / 25) ** 2))))
    return sqrt(dl**2 + dc**2 + dh**2 - bent * dc * dh)


def contrast(one: str, two: str) -> float:
    def light(colour: str) -> float:
        return sum(part * share for part, share in zip(linear(colour), (0.2126, 0.7152, 0.0722), strict=True))

    darker, lighter = sorted((light(one), light(two)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_measure_of_difference_is_the_one_of_the_book():
    assert apart((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)
    assert apart((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387)) == pytest.approx(
        1.2644, abs=1e-4
    )


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_eight_owners_and_nobody_are_told_apart_by_their_colour_alone(kind, scheme):
    colours = owner_colours(scheme)
    assert len(colours) == 9
    for one, two in combinations(colours, 2):
        assert apart(seen(colours[one], kind), seen(colours[two], kind)) >= LEAST, (one, two)


def test_each_owner_has_a_mark_of_their_own():
    listed = re.search(r"MARKS: readonly string\[\] = \[(.*?)\n\];", GLYPHS.read_text(), re.DOTALL)
    assert listed is not None
    marks = [line.strip() for line in listed[1].strip().split("\n")]
    assert len(marks) == len(set(marks)) == 8


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_a_mark_and_a_figure_can_be_read_on_the_colour_of_every_owner(scheme):
    inked = dict(
        re.findall(r"^((?:\.\w+(?:, )?)+) \{ --on-own: (#\w+); \}", STYLES.read_text(), re.MULTILINE)
    )
    inks = {name.strip(" ."): ink for names, ink in inked.items() for name in names.split(",")}
    for name, colour in owner_colours(scheme).items():
        assert contrast(colour, inks[name]) >= 4.5, name
