"""The gallery of the docs has every word of scenes, and is what its command writes."""

from typing import get_args

import pytest

from parlour.scene import Fill, Look, Mark, Shape, boards, scene_faults
from parlour.scene.faults import GLYPHS
from parlour.scene.values import OWNERS, TONES
from tests.gallery import DARK, FOLDER, GROUPS, PAGE, page, pictures

WORDS = {
    "Looks of pieces": get_args(Look),
    "Owners": [f"owner {owner}" for owner in (*range(OWNERS), None)],
    "Glyphs": GLYPHS,
    "Marks": get_args(Mark),
    "Shapes of spots": get_args(Shape),
    "Fills of spots": get_args(Fill),
    "Tones of text": [f"tone {tone}" for tone in range(TONES + 1)],
    "Spots with an owner": [f"spot of {owner}" for owner in range(OWNERS)],
}
AGAIN = "draw it again with scripts/gallery"


@pytest.mark.parametrize("group", WORDS)
def test_the_gallery_has_every_word_of_the_vocabulary_and_its_line_uses_it(group):
    assert {one.word for one in GROUPS[group]} == set(WORDS[group])
    assert [one.word for one in GROUPS[group] if one.word.split()[-1] not in one.line] == []


def test_the_gallery_has_every_kind_of_board_that_is_made_in_one_line():
    lines = " ".join(one.line for examples in GROUPS.values() for one in examples)
    made = [name for name, one in vars(boards).items() if getattr(one, "__module__", "") == boards.__name__]
    assert [name for name in made if name.islower() and name[0] != "_" and f"{name}(" not in lines] == []


def test_every_line_of_the_gallery_makes_something_that_can_be_drawn():
    assert [fault for one in pictures().values() for fault in scene_faults(one.scene())] == []


def test_the_page_and_the_pictures_of_the_gallery_are_those_of_its_lines():
    assert PAGE.read_text(encoding="utf-8") == page(), AGAIN
    assert {file.name for file in FOLDER.iterdir()} == {*pictures(), f"{DARK}.webp"}, AGAIN


def test_the_pictures_of_the_gallery_are_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 300_000
