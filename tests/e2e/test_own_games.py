"""Games of one's own: a file on the command line, and what is said when it is wrong."""

import pytest

from tests.e2e.lines import PATIENCE
from tests.e2e.servers import launch

pytestmark = pytest.mark.e2e

NIM = '''
from parlour import Event, Game, Outcome, Refused, State, Update


class Heap(State, frozen=True):
    """The matches that are left, and whose turn it is."""

    matches: int = 5
    turn: int = 0


class Take(Event, frozen=True):
    """Take one match or two."""

    count: int


class Nim(Game[Heap]):
    """Whoever takes the last match wins."""

    name = "nim"
    display_name = "Nim [with matches]"
    seats = range(2, 3)
    State = Heap
    Event = Take

    def init(self, config, moment):
        return Heap()

    def handle_event(self, state, sender, event, moment):
        if state.seat(sender) != state.turn:
            raise Refused("not_your_turn", "wait for your turn")
        left = state.matches - event.count
        return Update(Heap(players=state.players, matches=left, turn=1 - state.turn))

    def outcome(self, state):
        if state.matches > 0:
            return None
        return Outcome(won=(state.player(1 - state.turn),), why="the last match is taken")
'''


def test_a_game_in_a_file_is_served_beside_the_others(serve, tmp_path, seat):
    file = tmp_path / "nim.py"
    file.write_text(NIM)
    server = serve(file)
    assert {"nim", "tictactoe", "minesweeper"} <= {
        game["name"] for game in server.call("GET", "/api/games").json()
    }
    assert "Nim [with matches]" in server.log.replace("\n", " ")
    ann, bob = seat(server, server.open_room("nim")["id"], "Ann", "Bob")
    assert ann.play("take", count=2).response == {"seq": 5}
    assert ann.play("take", count=2).code == "not_your_turn"
    assert bob.play("take", count=3).response == {"seq": 6}
    ann.wait_for("update", seq=6)
    assert ann.result["outcome"] == {"won": [bob.id], "why": "the last match is taken"}


def test_the_little_board_of_a_game_is_played_before_anybody_asks_for_it(serve, tmp_path):
    file = tmp_path / "nim.py"
    file.write_text(NIM.replace("return Heap()", 'print("five matches are laid"); return Heap()'))
    server = serve(file)
    assert server.log.count("five matches are laid") == 1
    assert server.call("GET", "/api/games/nim/preview").json()["scene"]["text"]
    assert server.log.count("five matches are laid") == 1


def test_a_game_file_that_is_saved_is_played_by_its_new_rules_at_once(serve, tmp_path, seat):
    file = tmp_path / "nim.py"
    file.write_text(NIM)
    server = serve(file, "--reload")
    ann, bob = seat(server, server.open_room("nim")["id"], "Ann", "Bob")
    ann.play("take", count=1)
    file.write_text("class Nim(:\n")
    server.wait_for_log("The old rules go on.")
    assert bob.play("take", count=1).response == {"seq": 6}
    file.write_text(NIM.replace("- event.count", "- 2 * event.count"))
    server.wait_for_log("is loaded again.")
    assert ann.play("take", count=1).response == {"seq": 7}
    ann.wait_for("update", seq=7)
    assert ann.view["matches"] == 1


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("broken.py", "class Game(:\n", "broken.py, line 1: invalid syntax"),
        ("open.py", "cells = [1, 2\n", "open.py, line 1: '[' was never closed"),
        ("empty.py", "", "empty.py: expected a class that derives from parlour.Game, got none"),
        ("missing.py", None, "expected a Python file with a game, got"),
        ("odd[names].py", "class Game(:\n", "odd[names].py, line 1: invalid syntax"),
        ("imports.py", "import no_such_module\n", "imports.py, line 1: needs the package 'no_such_module'"),
    ],
)
def test_a_file_without_a_game_ends_with_a_sentence_and_exit_code_1(tmp_path, name, text, sentence):
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    with launch("serve", "--port", "0", "--data", str(tmp_path / "data"), str(file)) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.startswith("parlour: ")
    assert sentence in said
    assert "Traceback" not in said
    assert not (tmp_path / "data").exists()
