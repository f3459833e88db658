"""The board of the tutorial, as it stands there, in real browsers: sixty lines of Python and nothing else."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-board.md"


@pytest.fixture
def file(tmp_path):
    """What the tutorial has its reader write."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "connect_four.py"
    file.write_text("\n\n".join(block for block in blocks if ">>>" not in block))
    return file


def test_the_game_of_the_tutorial_is_played_to_its_end(serve, visit, file):
    server = serve(file)
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room("Connect four"))
    for turn, column in enumerate((1, 2, 1, 2, 1, 2, 1)):
        player = (ann, bob)[turn % 2]
        player.sees("Your turn")
        player.board.get_by_label(re.compile(rf"^column {column}, row 1\b")).click()
    for player, said in ((ann, "You win: four in a row"), (bob, "Ann wins: four in a row")):
        player.sees(said)


def test_a_saved_file_that_does_not_load_is_told_beside_the_board_until_it_does(serve, visit, file):
    server = serve(file, "--reload")
    ann, bob, eve = visit(server, "Ann"), visit(server, "Bob"), visit(server, "Eve")
    room = ann.open_room("Connect four")
    bob.come_in(room)
    other = visit(server, "Cy")
    other.open_room()
    good = file.read_text()
    file.write_text("class ConnectFour(:\n")
    why = "The saved rules do not load: connect_four.py, line 1: invalid syntax. The old ones go on."
    for visitor in (ann, bob, eve.come_in(room, "Watch")):
        expect(visitor.page.get_by_text(why)).to_be_visible()
    expect(other.page.get_by_text("do not load")).to_have_count(0)
    ann.board.get_by_label(re.compile(r"^column 1, row 1\b")).click()
    bob.sees("Your turn")
    expect(bob.page.get_by_text(why)).to_be_visible()
    file.write_text(good)
    for visitor in (ann, bob, eve):
        expect(visitor.page.get_by_text("do not load")).to_have_count(0)
