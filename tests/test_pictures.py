"""A game's own pictures: what is taken, what is refused and with which words, and how scenes name them."""

import re
import struct
import zlib

import pytest

from examples.fox import FoxAndHounds
from parlour.checking.check import check_file
from parlour.errors import Refused
from parlour.games import collect
from parlour.pictures import pictures_of, scene_of
from parlour.pictures.folder import MAX_BYTES, MAX_PICTURES
from parlour.pictures.png import SIGNATURE, clean_png
from parlour.pictures.svg import clean_svg
from parlour.scene import Piece, Scene, Side, Spot, scene_faults
from parlour.server.game_loader import load_games
from parlour.testing import GameContract, Table

GAME = """
from parlour import Game, State, Update
from parlour.scene import Piece, Scene, Spot

class Throne(Game[State]):
    name = "throne"
    display_name = "Throne"
    seats = range(1, 2)
    State = State

    def init(self, config, moment):
        return State()

    def scene(self, state, viewer):
        return Scene(1, 1, (Spot("a", 0, 0),), (Piece("k", "king.svg", "a", label="king"),))
"""
KING = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle r="5"/></svg>'


def svg(inside: str, attributes: str = 'viewBox="0 0 9 9"') -> bytes:
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {links} {attributes}>\n{inside}\n</svg>".encode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 1, height: int = 1, *others: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        SIGNATURE
        + chunk(b"IHDR", head)
        + b"".join(others)
        + chunk(b"IDAT", zlib.compress(b"\0\0"))
        + chunk(b"IEND", b"")
    )


@pytest.fixture
def throne(tmp_path):
    """A file with a game, and its folder of pictures."""
    (tmp_path / "throne.py").write_text(GAME)
    (tmp_path / "throne-board").mkdir()
    return tmp_path


def put(folder, name, body):
    (folder / "throne-board" / name).write_bytes(body)


def load(folder):
    (game,) = load_games(folder / "throne.py")
    return game


def refusal_of(folder) -> str:
    with pytest.raises(Refused) as refused:
        load(folder)
    return refused.value.message.removeprefix(f"{folder}/throne.py: ")


class TestFoxAndHoundsIsAGame(GameContract):
    game = FoxAndHounds()


# What is taken.


def test_the_pictures_in_the_folder_beside_a_game_are_its_own(throne):
    put(throne, "king.svg", KING)
    put(throne, "pawn-2.png", png())
    put(throne, "LICENSE.txt", b"mine")
    assert list(pictures_of(load(throne))) == ["king.svg", "pawn-2.png"]


def test_a_scene_says_where_the_pictures_are_and_the_address_changes_with_what_is_in_them(throne):
    put(throne, "king.svg", KING)
    game = load(throne)
    first = scene_of(game, game.State(), None).pictures["king.svg"]
    assert re.fullmatch(r"/pictures/throne/[0-9a-f]{16}/king\.svg", first)
    assert scene_of(load(throne), game.State(), None).pictures["king.svg"] == first, (
        "every worker has the same"
    )
    put(throne, "king.svg", KING.replace(b"5", b"4"))
    assert scene_of(load(throne), game.State(), None).pictures["king.svg"] != first


def test_a_game_without_a_folder_has_no_pictures_and_its_scene_stays_the_very_same():
    scene = Scene(1, 1)

    class Bare(FoxAndHounds):
        name = "bare"

        def scene(self, state, viewer):
            return scene

    assert scene_of(Bare(), None, None) is scene


def test_an_address_that_a_game_makes_up_is_not_told():
    class Bare(FoxAndHounds):
        name = "bare"

        def scene(self, state, viewer):
            return Scene(1, 1, pictures={"king.svg": "https://example.org/king.svg"})

    assert scene_of(Bare(), None, None).pictures == {}


def test_what_editors_note_in_a_picture_is_left_out_and_what_it_shows_stays():
    noted = svg(
        "<metadata><a/></metadata><x:view xmlns:x='urn:editor'><script/></x:view><!-- mine -->"
        "<g style='fill:#f00;-editor-hint:x' class='a' data-b='c'><path d='M0 0h9'/></g>"
    )
    begin, end = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">', b"</svg>"
    assert clean_svg(noted) == begin + b'<g fill="#f00"><path d="M0 0h9"></path></g>' + end


def test_gradients_and_clips_may_refer_to_parts_of_the_same_picture():
    own = svg(
        '<defs><linearGradient id="a"/><linearGradient id="b" xlink:href="#a"/></defs>'
        '<rect fill="url(#b)" clip-path="url(#c)" transform="rotate(45) scale(2, 3)"/>'
    )
    cleaned = clean_svg(own)
    assert b'href="#a"' in cleaned
    assert b'fill="url(#b)" clip-path="url(#c)"' in cleaned


def test_text_in_a_picture_stays_text():
    assert b"<text>a &lt;b&gt; &amp;</text>" in clean_svg(svg("<text>a &lt;b&gt; &amp;</text>"))


def test_a_picture_without_a_view_box_has_one_of_its_width_and_height():
    assert b'viewBox="0 0 30 40"' in clean_svg(svg("", 'width="30px" height="40"'))


def test_of_a_png_only_the_picture_is_kept():
    noted = png(1, 1, chunk(b"tEXt", b"Author\0me"), chunk(b"eXIf", b"where")) + b"<script>"
    assert clean_png(noted) == png()


# What is refused.

SCRIPTS = {
    "<script>alert(1)</script>": "<script>",
    "<path onclick='x()' d='M0 0'/>": "the attribute onclick, which runs a script",
    "<path ONLOAD='x()' d='M0 0'/>": "the attribute ONLOAD",
    "<foreignObject/>": "<foreignObject>",
    "<style>@import url(http://a.b)</style>": "<style>",
    "<image href='http://a.b/c.png'/>": "<image>",
    "<use href='#a'/>": "<use>",
    "<animate attributeName='href'/>": "<animate>",
    "<a href='javascript:x()'/>": "<a>",
    "<linearGradient xlink:href='http://a.b/c#d'/>": "a reference to 'http://a.b/c#d'",
    "<linearGradient href='data:image/svg+xml,x'/>": "a reference to 'data:image/svg+xml,x'",
    "<path fill='url(http://a.b/c)'/>": "fill='url(http://a.b/c)'",
    "<path fill='URL(//a.b/c)'/>": "fill='URL(//a.b/c)'",
    "<path style='fill:red;background:url(//a.b)'/>": "background='url(//a.b)'",
    "<path style='fill:\\75rl(//a.b)'/>": "fill=",
    "<path fill='image-set(\"a.png\" 1x)'/>": "fill=",
    "<?xml-stylesheet href='a.css'?>": "<?xml-stylesheet?>, an instruction",
    "<svg/>": "<svg>",
    "<text>&bomb;</text>": "undefined entity",
    "<g>" * 60 + "</g>" * 60: "more",
    "<g>": "mismatched tag",
}


@pytest.mark.parametrize("inside", SCRIPTS)
def test_an_svg_that_could_run_load_or_grow_is_refused_with_its_line(inside):
    with pytest.raises(Refused) as refused:
        clean_svg(svg(inside))
    assert re.match(r"line [23]: expected .*, got ", refused.value.message)
    assert SCRIPTS[inside] in refused.value.message


def test_an_svg_with_entities_is_refused_before_they_grow():
    bomb = b'<!DOCTYPE svg [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + svg("<text>&b;</text>")
    with pytest.raises(Refused, match=r"line 1: expected .*, got a DOCTYPE, which can define entities"):
        clean_svg(bomb)


@pytest.mark.parametrize(
    "attributes", ["", 'viewBox="0 0 0 9"', 'viewBox="0 0 1e9 9"', 'viewBox="a b c d"', 'viewBox="0 0 nan 9"']
)
def test_an_svg_of_no_size_or_an_absurd_one_is_refused(attributes):
    with pytest.raises(Refused, match=r"line 1: expected a viewBox of .*, got "):
        clean_svg(svg("", attributes))


@pytest.mark.parametrize("body", [b"", b"GIF89a", b"<html xmlns='http://www.w3.org/1999/xhtml'/>", b"<svg/>"])
def test_what_is_no_svg_is_refused(body):
    with pytest.raises(Refused, match="line 1: expected "):
        clean_svg(body)


def test_a_png_that_is_none_breaks_off_or_is_damaged_is_refused():
    for body, why in (
        (KING, "got a file that begins with"),
        (png()[:-1], "damaged at byte"),
        (png()[:-12], "breaks off"),
        (png().replace(b"IDAT", b"IDAX"), "damaged at byte 33"),
        (SIGNATURE + chunk(b"IEND", b""), "without a header or without pixels"),
    ):
        with pytest.raises(Refused, match=f"expected a PNG picture, .*{why}"):
            clean_png(body)


def test_a_png_of_absurd_size_is_refused():
    with pytest.raises(Refused, match="expected at most 1024 x 1024 pixels, got 100000 x 2"):
        clean_png(png(100_000, 2))


def test_a_file_of_50_megabytes_is_refused_without_being_read(throne):
    with (throne / "throne-board" / "king.png").open("wb") as file:
        file.truncate(50_000_000)  # takes no room on the disk
    assert refusal_of(throne) == f"throne-board/king.png: expected at most {MAX_BYTES} bytes, got 50000000"


def test_more_pictures_than_a_scene_should_name_are_refused(throne):
    for number in range(MAX_PICTURES + 1):
        put(throne, f"p{number}.svg", KING)
    assert (
        refusal_of(throne)
        == f"throne-board: expected at most {MAX_PICTURES} pictures, got {MAX_PICTURES + 1}"
    )


def test_pictures_that_are_too_large_together_are_refused(throne):
    for number in range(17):
        with (throne / "throne-board" / f"p{number}.png").open("wb") as file:
            file.truncate(MAX_BYTES)
    assert refusal_of(throne) == "throne-board: expected at most 8388608 bytes together, got 8912896"


@pytest.mark.parametrize("name", ["Black King.svg", "king.SVG", "köning.png", f"{'k' * 41}.svg"])
def test_a_file_with_a_name_that_cannot_be_a_look_is_refused(throne, name):
    put(throne, name, KING)
    assert refusal_of(throne).startswith(f"throne-board/{name}: expected a name of a-z, 0-9, - and _")


def test_the_refusal_says_which_file_and_which_line(throne):
    put(throne, "king.svg", svg("<circle/>\n<script/>"))
    assert refusal_of(throne).startswith("throne-board/king.svg, line 3: expected elements of ")


def test_a_game_of_a_package_with_a_wrong_picture_is_left_out_and_the_rest_goes_on(throne):
    kind = type(load(throne))
    put(throne, "king.png", b"none")

    class Entry:
        name, value, dist = "throne", "throne:Throne", None

        def load(self):
            return kind

    games, (trouble,) = collect([Entry()])  # type: ignore[list-item]
    assert games == {}
    assert trouble.startswith("throne (throne:Throne, of the package ?) is left out: throne-board/king.png: ")


# Names in scenes.


@pytest.mark.parametrize(
    "name",
    ["../king.svg", "a/king.svg", "/etc/passwd.svg", "king.svg.exe", "other:king", "King.svg", "king.jpg"],
)
def test_a_look_that_is_no_word_and_no_file_is_an_error_in_its_line(name):
    with pytest.raises(
        ValueError, match=r"piece 'k': expected a look of back, .*, or a file of the game's own"
    ):
        Piece("k", name, "a")
    with pytest.raises(ValueError, match="a side: expected a look of "):
        Side(name)


def test_a_picture_that_is_not_there_is_told_with_those_that_are():
    spots, pictures = (Spot("a", 0, 0),), {"king.svg": "/k", "rook.png": "/r"}
    scene = Scene(1, 1, spots, (Piece("k", "kng.svg", "a"),), sides=(Side("queen.svg"),), pictures=pictures)
    told = "expected a picture of this game's own, of king.svg, rook.png; got"
    assert list(scene_faults(scene)) == [f"piece 'k': {told} 'kng.svg'", f"side 0: {told} 'queen.svg'"]


def test_parlour_check_finds_a_picture_that_is_not_there(throne):
    (checked,) = check_file(throne / "throne.py")
    told = "expected a picture of this game's own, of which there are none beside its file; got 'king.svg'"
    assert told in str(checked.findings[0])
    put(throne, "king.svg", KING)
    assert check_file(throne / "throne.py")[0].ok


def test_a_picture_of_another_game_is_not_there(throne):
    game = FoxAndHounds()
    assert "fox.svg" in pictures_of(game)
    (throne / "throne.py").write_text(GAME.replace("king.svg", "fox.svg"))
    put(throne, "king.svg", KING)
    scene = Table(load(throne)).sit("ann").scene("ann")
    assert list(scene_faults(scene)) == [
        "piece 'k': expected a picture of this game's own, of king.svg; got 'fox.svg'"
    ]
