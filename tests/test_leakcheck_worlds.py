"""Whether what a game imagines for a viewer is as likely as it is: found by playing on fresh luck."""

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from parlour import Event, Game, State, Update
from parlour.cli import app
from parlour.games import GAMES
from parlour.leakcheck import judge
from tests.dishonest import Peeping

SMALL = {"width": 5, "height": 4, "mines": 4}


def test_a_resample_that_favours_the_truth_is_found():
    judgement = judge(Peeping(), SMALL, games=1, steps=12)
    assert judgement.code == 1
    assert judgement.dishonest > judgement.judged / 2
    assert "DISHONEST resample" in str(judgement)
    assert "$.cells[" in str(judgement), "it says what gives itself away"


def test_minesweeper_draws_what_is_possible_as_likely_as_it_is():
    judgement = judge(GAMES["minesweeper"], SMALL, games=2, steps=12)
    assert judgement.code == 0, str(judgement)
    assert judgement.judged > 10


@pytest.mark.parametrize(
    ("name", "config", "steps"),
    [
        ("goofspiel", {"players": 3, "cards": 4}, 2),
        pytest.param("hearts", {"players": 3, "passing": False}, 3, marks=pytest.mark.long),
    ],
)
def test_decks_and_hands_are_drawn_as_likely_as_they_are_until_somebody_chooses(name, config, steps):
    judgement = judge(GAMES[name], config, games=1, steps=steps)
    assert judgement.dishonest == 0, str(judgement)
    assert judgement.judged >= 4


class Pick(Event, frozen=True):
    number: int


class Picked(State, frozen=True):
    numbers: tuple[int, ...] = (0, 0)


class Secretly(Game[Picked]):
    """Each of two players picks a number that the other does not see."""

    name = "secretly"
    display_name = "Secretly"
    seats = range(2, 3)
    State = Picked
    Event = Pick

    def init(self, config, moment):
        return Picked()

    def handle_event(self, state, sender, event, moment):
        seat = moment.seats.index(sender)
        numbers = tuple(event.number if at == seat else was for at, was in enumerate(state.numbers))
        return Update(replace(state, numbers=numbers))

    def legal_events(self, state, player):
        return [Pick(number) for number in range(1, 4)]

    def view(self, state, viewer):
        return [n if at == state.seat(viewer) else n > 0 for at, n in enumerate(state.numbers)]

    def resample(self, state, viewer, chance):
        hidden = [at for at, n in enumerate(state.numbers) if n and at != state.seat(viewer)]
        numbers = [chance.die(3) if at in hidden else n for at, n in enumerate(state.numbers)]
        return replace(state, numbers=tuple(numbers))


@pytest.fixture
def fewer_replays(monkeypatch):
    """For what a tenth of the replays shows as well."""
    monkeypatch.setattr("parlour.leakcheck.worlds.REPLAYS", 300)


@pytest.mark.usefixtures("fewer_replays")
def test_what_somebody_chose_in_secret_is_not_judged_and_that_is_no_pass():
    judgement = judge(Secretly(), games=1, steps=12)
    assert judgement.code == 3, str(judgement)
    assert "NOT JUDGED, which is no pass" in str(judgement)
    assert "seat 1 cannot see what player1 chose" in str(judgement)


@pytest.mark.usefixtures("fewer_replays")
def test_where_too_few_replays_look_the_same_nothing_is_judged():
    judgement = judge(GAMES["minesweeper"], {"preset": "beginner"}, games=1, steps=12)
    assert judgement.code == 3, str(judgement)
    assert "try a smaller config" in str(judgement)


def test_the_command_exits_with_a_code_of_its_own_where_nothing_was_judged():
    result = CliRunner().invoke(app, ["leakcheck", "tictactoe", "--worlds"])
    assert result.exit_code == 3
    assert "nothing is hidden" in result.output
