"""The board of the tutorial, as it stands there, in real browsers: sixty lines of Python and nothing else."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-board.md"


def test_the_game_of_the_tutorial_is_played_to_its_end(serve, visit, tmp_path):
    code = [
        block
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        if ">>>" not in block
    ]
    file = tmp_path / "connect_four.py"
    file.write_text("\n\n".join(code))
    server = serve(file)
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room("Connect four"))
    for turn, column in enumerate((1, 2, 1, 2, 1, 2, 1)):
        player = (ann, bob)[turn % 2]
        player.sees("Your turn")
        player.board.get_by_label(re.compile(rf"^column {column}, row 1\b")).click()
    for player, said in ((ann, "You win: four in a row"), (bob, "Ann wins: four in a row")):
        player.page.get_by_text(said).wait_for()
