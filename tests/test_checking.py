"""`parlour check` finds the mistakes that authors make, and says in one sentence what and where."""

import re
from time import process_time

import pytest
from typer.testing import CliRunner

from parlour.checking import check_file, check_game
from parlour.cli import app
from parlour.games import GAMES

GAME = '''
"""Secret numbers: both choose one in secret, and the higher one wins."""
from msgspec.structs import replace
from parlour import Event, Game, Refused, Send, State, Update
from parlour.scene import Piece, Scene, grid
from parlour.turns import draw, win

class Chosen(State, frozen=True):
    numbers: tuple[int | None, ...] = (None, None)

class Choose(Event, frozen=True):
    number: int

def highest(view, legal, chance):
    return legal[-1]

class Numbers(Game[Chosen]):
    name = "numbers"
    display_name = "Numbers"
    seats = range(2, 3)
    State = Chosen
    Event = Choose
    bots = {"highest": highest}

    def init(self, config, moment):
        return Chosen()

    def legal_events(self, state, player):
        seat = state.seat(player)
        if seat is None or None in state.players or state.numbers[seat] is not None:
            return []
        return [Choose(number) for number in range(5)]

    def handle_event(self, state, sender, event, moment):
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "not now")
        seat = state.seat(sender)
        numbers = tuple(event.number if at == seat else n for at, n in enumerate(state.numbers))
        return Update(replace(state, numbers=numbers), (Send("all", {"chosen": seat}),))

    def leave_game(self, state, player, why, moment):
        left = super().leave_game(state, player, why, moment).state
        return Update(left if self.outcome(state) else replace(left, numbers=(None, None)))

    def outcome(self, state):
        one, two = state.numbers
        if None in (one, two):
            return None
        return draw(state.players, "equal") if one == two else win(state.players, int(two > one), "higher")

    def view(self, state, viewer):
        mine, over = state.seat(viewer), self.outcome(state) is not None
        numbers = [n if over or n is None or at == mine else "?" for at, n in enumerate(state.numbers)]
        return {"numbers": numbers, "you": mine}

    def resample(self, state, viewer, chance):
        if self.outcome(state):
            return state
        mine = state.seat(viewer)
        numbers = [n if n is None or at == mine else chance.below(5) for at, n in enumerate(state.numbers)]
        return replace(state, numbers=tuple(numbers))

    def scene(self, state, viewer):
        legal = {event.number: event for event in self.legal_events(state, viewer)}
        return Scene(5, 1, grid(5, 1, click=legal))
'''.lstrip()


def line_of(text: str, source: str) -> int:
    return 1 + source[: source.index(text)].count("\n")


def found(source, folder):
    file = folder / "numbers.py"
    file.write_text(source)
    (checked,) = check_file(file)
    return [str(finding).replace(f"{file}:", "") for finding in checked.findings]


def test_a_game_without_a_mistake_passes(tmp_path):
    assert found(GAME, tmp_path) == []


EVEN = """        if event.number % 2:
            raise Refused("illegal_move", "only even numbers")
"""
FIRST = """class First(Game[Chosen]):
    name = 'numbers'
    display_name = 'First'
    seats = range(2, 3)
    State = Chosen

    def init(self, config, moment):
        return Chosen()


"""
UPDATE = "return Update(replace(state, numbers=numbers), (Send("

MISTAKES = {
    "seats that are a number": (
        ("seats = range(2, 3)", "seats = 2"),
        "seats = 2",
        "numbers: expected seats like range(2, 3), got 2",
    ),
    "a misspelt callback": (
        ("def handle_event", "def handle_evnt"),
        "def handle_evnt",
        "handle_evnt is never used: is handle_event meant?",
    ),
    "a misspelt declaration": (
        ("bots = {", "bot = {"),
        "bot = {",
        "bot is never used: is bots meant?",
    ),
    "a state where an Update is expected": (
        (UPDATE, "return replace(state, numbers=numbers) or ((Send("),
        "def handle_event",
        "handle_event returned a Chosen where an Update is expected: write Update(state)",
    ),
    "nothing where an Update is expected": (
        (UPDATE, "print(replace(state, numbers=numbers), (Send("),
        "def handle_event",
        "handle_event returned nothing where an Update is expected",
    ),
    "an effect that is not in a tuple": (
        ('(Send("all", {"chosen": seat}),)', '(Send("all", {"chosen": seat}))'),
        "def handle_event",
        "handle_event returned effects that are a Send; expected a tuple",
    ),
    "a scene that is no scene": (
        ("return Scene(5, 1, grid(5, 1, click=legal))", "return grid(5, 1, click=legal)"),
        "def scene",
        "scene returned a tuple where a Scene is expected",
    ),
    "winners that are no tuple": (
        ('draw(state.players, "equal") if one == two else win(state.players, int(two > one), "higher")',
         'replace(draw(()), won=state.player(int(two > one)))'),
        "def outcome",
        "outcome returned won='ann' where a tuple of players is expected",
    ),
    "a missing argument": (
        ("def view(self, state, viewer)", "def view(self, state)"),
        "def view",
        "numbers: expected view(state, viewer), got view(state)",
    ),
    "a callback that raises": (
        ("numbers = tuple(event.number if", "numbers = tuple(event.numbr if"),
        "numbers = tuple(event.numbr if",
        "raised AttributeError: 'Choose' object has no attribute 'numbr'",
    ),
    "luck that is not handed in": (
        ("numbers = tuple(event.number", "import random\n        numbers = tuple(random.getrandbits(30)"),
        "def handle_event",
        "played again, the same steps led to another state when it is replayed",
    ),
    "a state that JSON changes": (
        ("numbers: tuple[int | None, ...] = (None, None)", "numbers: object = (None, None)"),
        "State = Chosen",
        "the state changes when it is written as JSON and read back: numbers",
    ),
    "a piece on a spot that is not there": (
        ("grid(5, 1, click=legal))", 'grid(5, 1, click=legal), (Piece("p", "disc", "c7"),))'),
        "def scene",
        "the scene for ann: piece 'p' stands on spot 'c7', which is not there",
    ),
    "a fill that nobody knows": (
        ("grid(5, 1, click=legal))", 'grid(5, 1, click=legal, fill="golden"))'),
        "return Scene(5, 1",
        "scene raised ValueError: spot 'c0': expected a fill of dark, felt, light,",
    ),
    "a shape that nobody knows": (
        ("grid(5, 1, click=legal))", 'grid(5, 1, click=legal, shape="star"))'),
        "return Scene(5, 1",
        "scene raised ValueError: spot 'c0': expected a shape of down, hand, hex,",
    ),
    "a look that nobody knows": (
        ("grid(5, 1, click=legal))", 'grid(5, 1, click=legal), (Piece("p", "pawn", "c0"),))'),
        "return Scene(5, 1",
        "scene raised ValueError: piece 'p': expected a look of back, card,",
    ),
    "what is listed and refused": (
        ("        seat = state.seat(sender)\n", "        seat = state.seat(sender)\n" + EVEN),
        "def legal_events",
        'legal_events lists {"type":"choose","number":',
    ),
    "what a scene offers and the rules refuse": (
        ("        legal = {event.number: event for event in self.legal_events(state, viewer)}",
         "        legal = {n: Choose(n) for n in range(5)} if viewer else {}"),
        "def scene",
        'the scene offers {"type":"choose","number":',
    ),
    "a secret without resample": (
        ("def resample(self", "def _resample(self"),
        "def view",
        "but there is no resample, so no leak can be found",
    ),
    "a secret that is told": (
        ('{"chosen": seat}', '{"chosen": seat, "number": event.number}'),
        "def handle_event",
        "learns by the messages of step",
    ),
    "a secret that the clocks tell": (
        ("state.numbers[seat] is not None:", "state.numbers[seat] not in (None, 4):"),
        "def legal_events",
        "learns by the clocks of step",
    ),
    "a bot that breaks the rules": (
        ("return legal[-1]", 'return {"type": "choose", "number": 9}'),
        "def highest",
        "the bot highest did something that is refused: not now",
    ),
    "a bot that fails": (
        ("return legal[-1]", "return legal[9]"),
        "def highest",
        "the bot highest failed: IndexError: list index out of range",
    ),
    "a file that prints": (
        ("class Chosen", 'print("hello")\n\nclass Chosen'),
        'print("hello")',
        "prints while it is loaded: 'hello'",
    ),
    "a package that is not there": (
        ("from msgspec.structs", "import numpyy.linalg\nfrom msgspec.structs"),
        "import numpyy",
        "needs the package 'numpyy', which is not installed",
    ),
    "two games of one name": (
        ("class Numbers(Game", f"{FIRST}class Numbers(Game"),
        'name = "numbers"',
        "Numbers: expected a name of its own for each game, but First is called 'numbers', too",
    ),
    "no Python": (("frozen=True):", "frozen=True)"), "class Chosen(State", "expected ':'"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_is_found_and_its_line_is_told(mistake, tmp_path):
    (right, wrong), place, sentence = MISTAKES[mistake]
    assert right in GAME
    source = GAME.replace(right, wrong, 1)
    told = found(source, tmp_path)
    assert any(sentence in finding for finding in told), told
    assert any(
        finding.startswith(f"{line_of(place, source)}: ") for finding in told if sentence in finding
    ), told
    assert len(told) == 1 or mistake.startswith(("a misspelt", "nothing"))
    assert not any("\n" in finding for finding in told)


def test_a_helper_whose_name_is_near_a_callback_that_is_there_is_no_mistake(tmp_path):
    assert (
        found(
            GAME.replace("    def scene(", "    def scenes(self):\n        pass\n\n    def scene("), tmp_path
        )
        == []
    )


def test_a_game_that_does_not_say_what_is_legal_passes_with_a_hint(tmp_path):
    source = re.sub(r"    bots = .*\n", "", GAME)
    source = source.replace("def legal_events", "def allowed").replace("self.legal_events", "self.allowed")
    (tmp_path / "numbers.py").write_text(source)
    (checked,) = check_file(tmp_path / "numbers.py")
    assert checked.ok
    assert [hint.sentence for hint in checked.hints] == [
        "it has no legal_events: bots cannot play it, and a refusal cannot say what is allowed"
    ]


@pytest.mark.parametrize("name", list(GAMES))
def test_every_game_that_comes_with_parlour_passes_within_twenty_seconds_of_cpu(name):
    begin = process_time()
    checked = check_game(GAMES[name])
    assert checked.ok, [str(finding) for finding in checked.findings]
    assert process_time() - begin < 20


def test_the_command_tells_each_finding_on_a_line_and_exits_with_one(tmp_path):
    (tmp_path / "numbers.py").write_text(GAME.replace("range(2, 3)", "2"))
    told = CliRunner().invoke(app, ["check", str(tmp_path / "numbers.py")])
    assert told.exit_code == 1
    line = line_of("seats = ", GAME)
    assert told.stdout.splitlines() == [
        f"{tmp_path}/numbers.py:{line}: numbers: expected seats like range(2, 3), got 2",
        "numbers.py: 1 found",
    ]


def test_the_command_says_what_it_looked_at_when_a_game_passes(tmp_path):
    (tmp_path / "numbers.py").write_text(GAME)
    told = CliRunner().invoke(app, ["check", str(tmp_path / "numbers.py")])
    assert told.exit_code == 0
    assert re.fullmatch(r"numbers: passes \(24 games, .* 2 bots, \d+ comparisons for leaks\)\n", told.stdout)


def test_the_command_shows_what_it_is_at_all_the_while(tmp_path, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, stage: shown.append(stage))
    (tmp_path / "numbers.py").write_text(GAME)
    CliRunner().invoke(app, ["check", str(tmp_path / "numbers.py")])
    assert shown[:3] == [
        "Checking numbers: opening a room",
        "Checking numbers: random play",
        "Checking numbers: random play, game 1 of 12",
    ]
    assert {"Checking numbers: secrets, game 3 of 12", "Checking numbers: bot highest"} <= set(shown)


def test_the_command_says_what_it_expects():
    told = CliRunner().invoke(app, ["check", "chess"])
    assert told.exit_code == 1
    assert "expected a Python file or one of tictactoe" in " ".join(told.stderr.split())
