"""Writes an SVG again with shapes, colours and text only; what could run, load or grow is refused."""

import re
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from parlour.errors import Code, Refused

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ELEMENTS = frozenset(
    [
        "svg",
        "g",
        "defs",
        "title",
        "desc",
        "path",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "text",
        "tspan",
        "linearGradient",
        "radialGradient",
        "stop",
        "clipPath",
        "mask",
    ]
)
TEXTS = frozenset(["title", "desc", "text", "tspan"])
"""Where letters stand; everywhere else they are only white space."""
SHAPING = frozenset(
    [
        "id",
        "d",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "fx",
        "fy",
        "fr",
        "dx",
        "dy",
        "width",
        "height",
        "points",
        "rotate",
        "transform",
        "pathLength",
        "textLength",
        "lengthAdjust",
        "viewBox",
        "preserveAspectRatio",
        "offset",
        "gradientUnits",
        "gradientTransform",
        "spreadMethod",
        "clipPathUnits",
        "maskUnits",
        "maskContentUnits",
    ]
)
PAINTING = frozenset(
    [
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-opacity",
        "stroke-width",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-dasharray",
        "stroke-dashoffset",
        "opacity",
        "color",
        "display",
        "visibility",
        "clip-path",
        "clip-rule",
        "mask",
        "stop-color",
        "stop-opacity",
        "font-family",
        "font-size",
        "font-style",
        "font-weight",
        "text-anchor",
        "dominant-baseline",
        "letter-spacing",
        "vector-effect",
        "paint-order",
        "shape-rendering",
    ]
)
"""Attributes that may also stand in ``style``."""
FUNCTIONS = frozenset(
    [
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "matrix",
        "translate",
        "scale",
        "rotate",
        "skewX",
        "skewY",
    ]  # and url, of its own parts
)
VALUE = re.compile(r"[\w\s.,#%()'\"+*/-]*")
OWN_PART = re.compile(r"""url\(\s*(['"]?)#[\w.-]+\1\s*\)""")
MAX_DEPTH = 40
MAX_SIDE = 100_000.0


def clean_svg(body: bytes) -> bytes:
    """The picture with all that is allowed in it, written again; refused with the line that is not.

    >>> clean_svg(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g class="a"/></svg>')
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g></g></svg>'
    """
    picture = _Picture()
    try:
        picture.parser.Parse(body, True)  # noqa: FBT003
    except expat.ExpatError as error:
        why = expat.errors.messages[error.code]
        raise Refused(Code.GAME_ERROR, f"line {error.lineno}: expected an SVG picture, got {why}") from None
    return "".join(picture.written).encode()


class _Picture:
    """A picture on its way through the parser."""

    def __init__(self) -> None:
        self.parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = lambda *_: self.refuse("a DOCTYPE, which can define entities")
        parser.ProcessingInstructionHandler = lambda name, _: self.refuse(f"<?{name}?>, an instruction")
        parser.StartElementHandler = self.begin
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.say
        self.written: list[str] = []
        self.open: list[str] = []
        self.left_out = 0
        """How deep we are in something that is left out."""

    def refuse(self, got: str, expected: str = "shapes, colours and text only") -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise Refused(Code.GAME_ERROR, f"line {line}: expected {expected}, got {got}")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        space, _, element = name.rpartition(" ")
        if self.left_out or (self.open and space != SVG) or element == "metadata":
            self.left_out += 1  # what editors note for themselves
            return
        if not self.open and (space, element) != (SVG, "svg"):
            self.refuse(f"<{element}>", f'<svg xmlns="{SVG}"> at the beginning')
        if element not in ELEMENTS or (element == "svg" and self.open):
            self.refuse(f"<{element}>", f"elements of {', '.join(sorted(ELEMENTS))}")
        if len(self.open) >= MAX_DEPTH:
            self.refuse("more", f"at most {MAX_DEPTH} elements in each other")
        kept = self.kept(element, attributes)
        if not self.open:
            kept = {"xmlns": SVG, "viewBox": self.view_box(kept)}
        self.open.append(element)
        self.written.append(f"<{element}{''.join(f' {key}={quoteattr(kept[key])}' for key in kept)}>")

    def end(self, name: str) -> None:  # noqa: ARG002 - it is the one that is open
        if self.left_out:
            self.left_out -= 1
        else:
            self.written.append(f"</{self.open.pop()}>")

    def say(self, text: str) -> None:
        if not self.left_out and self.open and self.open[-1] in TEXTS:
            self.written.append(escape(text))

    def kept(self, element: str, attributes: dict[str, str]) -> dict[str, str]:
        """The attributes that are allowed, with those of ``style`` among them; others are left out."""
        kept: dict[str, str] = {}
        for name, value in attributes.items():
            space, _, own = name.rpartition(" ")
            if own.lower().startswith("on"):
                self.refuse(f"the attribute {own}, which runs a script")
            if own == "href" and space in ("", XLINK):
                if not re.fullmatch(r"#[\w.-]+", value):
                    self.refuse(f"a reference to {value[:60]!r}", "references to its own parts only")
                if element.endswith("Gradient"):
                    kept["href"] = value
            elif not space and own == "style":
                kept |= self.styles(value)
            elif not space and own in SHAPING | PAINTING:
                kept[own] = self.checked(own, value)
        return kept

    def styles(self, text: str) -> dict[str, str]:
        pairs = (declaration.partition(":") for declaration in text.split(";"))
        styles = {name.strip(): value.strip() for name, _, value in pairs}
        for name, value in styles.items():
            self.checked(name, value)
        return {name: value for name, value in styles.items() if name in PAINTING}

    def checked(self, name: str, value: str) -> str:
        """A value that loads nothing."""
        plain = OWN_PART.sub("", value)
        called = set(re.findall(r"([\w-]+)\s*\(", plain))
        if not VALUE.fullmatch(plain) or called - FUNCTIONS:
            self.refuse(f"{name}={value[:60]!r}", "numbers, colours, words and references to its own parts")
        return value

    def view_box(self, kept: dict[str, str]) -> str:
        """What of the plane is shown; without it, what width and height say."""
        size = f"0 0 {kept.get('width', '')} {kept.get('height', '')}".replace("px", "")
        told = kept.get("viewBox", size)
        try:
            x, y, width, height = (float(number) for number in told.replace(",", " ").split())
        except ValueError:
            self.refuse(repr(told), "a viewBox of four numbers, or a width and a height")
        if not (max(abs(x), abs(y), width, height) <= MAX_SIDE and min(width, height) > 0):
            self.refuse(repr(told), f"a viewBox of numbers up to {MAX_SIDE:.0f}, its size more than 0")
        return told
