"""The leak check finds what was planted, says where, and lets a game alone that reveals by its view."""

from typing import Annotated, Any

import pytest
from msgspec import Meta
from msgspec.structs import replace
from typer.testing import CliRunner

from parlour import Cancel, End, Event, Game, Joined, Later, Moment, Outcome, Refused, Send, State, Update
from parlour.cli import app
from parlour.game import Chance
from parlour.games.minesweeper import Field, Minesweeper
from parlour.leakcheck import Leak, Report, check
from parlour.scene import Scene, grid
from parlour.sim.records import with_views

RANKS = 6


class Hands(State, frozen=True):
    """Everybody has one card, which the others do not see before it is shown."""

    cards: tuple[int, ...]
    shown: tuple[bool, ...] = (False, False)
    passes: int = 0


class Show(Event, frozen=True):
    """Show my card."""


class Pass(Event, frozen=True):
    """Do nothing."""


class Bet(Event, frozen=True):
    """Always refused in the honest game."""

    on: Annotated[int, Meta(ge=0, le=RANKS - 1)] = 0


class TimeUp(Event, frozen=True):
    """Whoever waits has passed."""

    note: int = 0


class HighCard(Game[Hands]):
    """An honest game: a card is told to everybody in the step in which the view shows it."""

    name = "highcard"
    display_name = "High card"
    seats = range(2, 3)
    State = Hands
    Event = Show | Pass | Bet
    Timer = TimeUp

    def init(self, config: object, moment: Moment) -> Hands:
        return Hands((moment.chance.below(RANKS), moment.chance.below(RANKS)))

    def handle_event(self, state: Hands, sender: str, event: Any, moment: Moment) -> Update[Hands]:
        seat = state.seat(sender)
        if isinstance(event, Pass | TimeUp) or seat is None:
            passed = replace(state, passes=state.passes + 1)
            return Update(passed, (Send("all", {"passed": seat}), *self.plan(state)))
        if isinstance(event, Bet):
            raise Refused("illegal_move", self.no(state, 1 - seat))
        if state.shown[seat]:
            raise Refused("illegal_move", "your card is on the table")
        shown = tuple(already or number == seat for number, already in enumerate(state.shown))
        return Update(replace(state, shown=shown), (self.tell(state, seat), Cancel("hurry")))

    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Later("hurry", 10, TimeUp()),)

    def no(self, state: Hands, other: int) -> str:
        return "no bets here"

    def tell(self, state: Hands, seat: int) -> Send:
        return Send("all", {"shown": state.cards[seat]})

    def view(self, state: Hands, viewer: str | None) -> Any:
        mine = state.seat(viewer)
        seen = [
            summary if shown or seat == mine else None
            for seat, (summary, shown) in enumerate(zip(state.cards, state.shown, strict=True))
        ]
        return {"cards": seen, "passes": state.passes}

    def legal_events(self, state: Hands, player: str) -> list[Any]:
        seat = state.seat(player)
        if seat is None:
            return []
        return [Pass()] if state.shown[seat] else [Show(), Pass()]

    def outcome(self, state: Hands) -> Outcome | None:
        if not all(state.shown):
            return None
        return Outcome(drew=tuple(player for player in state.players if player), why="all cards are shown")

    def resample(self, state: Hands, viewer: str | None, chance: Chance) -> Hands:
        mine = state.seat(viewer)
        cards = tuple(
            summary if shown or seat == mine else chance.below(RANKS)
            for seat, (summary, shown) in enumerate(zip(state.cards, state.shown, strict=True))
        )
        return replace(state, cards=cards)


def found_in(game: Game[Any], config: Any = None) -> Leak:
    report = check(game, config, games=10, steps=40)
    assert report.leak is not None, str(report)
    assert not report.ok
    return report.leak


# An honest game passes.


def test_a_game_that_reveals_by_its_view_has_no_leak():
    report = check(HighCard(), games=10, steps=40)
    assert report.ok, str(report)
    assert (report.games, report.leak) == (10, None)
    assert min(report.steps, report.comparisons, report.refusals, report.reveals) > 50
    assert report.by_viewer.keys() == {"seat 0", "seat 1", "without a seat"}
    assert report.resampled == {"cards": True, "shown": False, "passes": False, "players": False}


def test_the_same_seed_plays_the_same_games():
    one, same, other = (str(check(HighCard(), games=1, steps=40, seed=seed)) for seed in (3, 3, 4))
    assert one == same != other


def test_secret_events_of_timers_and_secret_draws_are_no_leak():
    class Quiet(HighCard):
        def handle_event(self, state: Hands, sender: str, event: Any, moment: Moment) -> Update[Hands]:
            for _ in range(max(state.cards)):
                moment.chance.die()
            return super().handle_event(state, sender, event, moment)

        def plan(self, state: Hands) -> tuple[Any, ...]:
            return (Later("hurry", 10, TimeUp(state.cards[0])), Send("nobody", state.cards))

    report = check(Quiet(), games=10, steps=40)
    assert report.ok, str(report)


def test_where_nobody_may_watch_nobody_without_a_seat_learns_anything():
    class Closed(HighCard):
        def join_game(self, state: Hands, player: str, spectate: bool, moment: Moment) -> Joined[Hands]:
            if spectate:
                raise Refused("private", "not for watching")
            return super().join_game(state, player, spectate, moment)

        def view(self, state: Hands, viewer: str | None) -> Any:
            return state.cards if viewer is None else super().view(state, viewer)

    report = check(Closed(), games=5, steps=40)
    assert report.ok, str(report)
    assert report.by_viewer.keys() == {"seat 0", "seat 1"}


# No false green.


def test_a_game_without_resample_is_not_called_clean():
    class Open(HighCard):
        resample = Game.resample

    report = check(Open(), games=5)
    assert report.ok
    assert "nothing is hidden, so nothing was compared" in str(report)
    assert (report.games, report.comparisons) == (0, 0)


def test_a_resample_that_never_gives_another_state_is_no_success():
    class Lazy(HighCard):
        def resample(self, state: Hands, viewer: str | None, chance: Chance) -> Hands:
            return state

    report = check(Lazy(), games=2)
    assert not report.ok
    assert "nothing could be compared" in str(report)


def test_a_viewer_for_whom_nothing_was_compared_is_listed_with_a_nought():
    class Spectacle(HighCard):
        def view(self, state: Hands, viewer: str | None) -> Any:
            return state.cards if viewer is None else super().view(state, viewer)

        def resample(self, state: Hands, viewer: str | None, chance: Chance) -> Hands:
            return state if viewer is None else super().resample(state, viewer, chance)

    report = check(Spectacle(), games=5)
    assert report.ok, str(report)
    assert report.by_viewer["without a seat"] == 0
    assert "without a seat: 0" in str(report)


def test_a_game_that_fails_stops_the_check_and_says_at_what():
    class Broken(HighCard):
        def view(self, state: Hands, viewer: str | None) -> Any:
            if max(state.cards) >= RANKS:
                raise IndexError("no such card")
            return super().view(state, viewer)

        def resample(self, state: Hands, viewer: str | None, chance: Chance) -> Hands:
            return replace(state, cards=(RANKS, RANKS))

    with pytest.raises(IndexError) as caught:
        check(Broken())
    assert "in a world that resample made" in "".join(caught.value.__notes__)


# Planted leaks are found where they are.


class InTheView(HighCard):
    def view(self, state: Hands, viewer: str | None) -> Any:
        return {**super().view(state, viewer), "highest": max(state.cards)}


class InTheViewOfSpectators(HighCard):
    def view(self, state: Hands, viewer: str | None) -> Any:
        return super().view(state, viewer) if viewer is not None else state.cards


class InTheOrderOfPieces(HighCard):
    def view(self, state: Hands, viewer: str | None) -> Any:
        order = sorted(range(2), key=lambda seat: state.cards[seat])
        return {**super().view(state, viewer), "pieces": [{"id": f"card-{seat}"} for seat in order]}


class InTheSizeOfTheView(HighCard):
    def view(self, state: Hands, viewer: str | None) -> Any:
        return {**super().view(state, viewer), "back": "x" * sum(state.cards)}


class ToTheWrongTopic(HighCard):
    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Send("all", {"cards": state.cards}),)


class BesideAReveal(HighCard):
    def tell(self, state: Hands, seat: int) -> Send:
        return Send("all", {"shown": state.cards[seat], "next": state.cards[1 - seat]})


class ByTheNumberOfMessages(HighCard):
    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Send("all", "tell"),) * (1 + (state.cards[0] > 2))


class InTheTextOfARefusal(HighCard):
    def no(self, state: Hands, other: int) -> str:
        return f"you would lose against a {state.cards[other]}"


class ByRefusingAtAll(HighCard):
    def handle_event(self, state: Hands, sender: str, event: Any, moment: Moment) -> Update[Hands]:
        seat = state.seat(sender)
        if isinstance(event, Bet) and seat is not None and state.cards[1 - seat] == event.on:
            return Update(replace(state, passes=state.passes + 1))
        return super().handle_event(state, sender, event, moment)


class InLegalEvents(HighCard):
    def legal_events(self, state: Hands, player: str) -> list[Any]:
        legal = super().legal_events(state, player)
        return legal[::-1] if max(state.cards) > 3 else legal


class ByATimerThatRingsEarlier(HighCard):
    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Later("hurry", 10 + max(state.cards), TimeUp()),)


class ByTheEndOfTheRoom(HighCard):
    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (End(20 + sum(state.cards)),)


class ByAStepTooMany(HighCard):
    """The view does not count passes, but every step has its number."""

    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Later("again", 0, TimeUp()),) if state.cards[1] > 3 and state.passes % 2 == 0 else ()


class InTheOutcomesWhy(HighCard):
    def outcome(self, state: Hands) -> Outcome | None:
        return None if state.passes < 3 else Outcome(drew=("player1",), why=f"they had {state.cards}")


class ByTheOutcomeItself(HighCard):
    def outcome(self, state: Hands) -> Outcome | None:
        return Outcome(why="decided") if state.passes >= 3 and state.cards[0] > 2 else None


class InTheAnswerToWhoKnocks(HighCard):
    def join_game(self, state: Hands, player: str, spectate: bool, moment: Moment) -> Joined[Hands]:
        if None not in moment.seats and not spectate:
            raise Refused("game_full", f"no seat; the cards are {state.cards}")
        return super().join_game(state, player, spectate, moment)


class OnLeaving(HighCard):
    def leave_game(self, state: Hands, player: str, why: str, moment: Moment) -> Update[Hands]:
        seat = state.seat(player) or 0
        left = super().leave_game(state, player, why, moment)
        return Update(left.state, (Send("all", {"had": state.cards[seat]}),))


class OnDisconnecting(HighCard):
    def player_disconnected(self, state: Hands, player: str, moment: Moment) -> Update[Hands]:
        return Update(state, (Send("all", {"sum": sum(state.cards)}),))


class AtTheShutdown(HighCard):
    def handle_game_shutdown(self, state: Hands, moment: Moment) -> Update[Hands]:
        return Update(state, (Send("all", {"cards": state.cards}),))


class Late(HighCard):
    """What was drawn in secret is told three passes later."""

    def plan(self, state: Hands) -> tuple[Any, ...]:
        return (Send("all", {"cards": state.cards}),) if state.passes > 3 else ()


class InTheObservation(HighCard):
    def observe(self, state: Hands, viewer: str | None) -> Any:
        return {"cards": state.cards}


class InALabel(HighCard):
    """Only those who have the board read out, and language models, come to know it."""

    def scene(self, state: Hands, viewer: str | None) -> Any:
        return Scene(1, 1, spots=grid(1, 1, labels=[f"deck: {sum(state.cards)}"]))


class InTheScene(HighCard):
    def scene(self, state: Hands, viewer: str | None) -> Any:
        return {"pieces": [{"id": summary} for summary in state.cards]}


class ByWhoIsCalled(HighCard):
    def to_move(self, state: Hands) -> list[str]:
        one, other = state.cards
        return [player for player in state.players if player is not None and one > other]


@pytest.mark.parametrize(
    ("game", "part"),
    [
        (InTheView(), "view"),
        (InTheViewOfSpectators(), "view"),
        (InTheOrderOfPieces(), "view"),
        (InTheSizeOfTheView(), "view"),
        (InTheScene(), "scene"),
        (InTheObservation(), "observation"),
        (InALabel(), "text for language models"),
        (ToTheWrongTopic(), "messages"),
        (BesideAReveal(), "messages"),
        (ByTheNumberOfMessages(), "messages"),
        (OnLeaving(), "messages"),
        (OnDisconnecting(), "messages"),
        (AtTheShutdown(), "messages"),
        (Late(), "messages"),
        (InTheTextOfARefusal(), "reply"),
        (ByRefusingAtAll(), "reply"),
        (InLegalEvents(), "legal events"),
        (ByATimerThatRingsEarlier(), "time of the next alarm"),
        (ByTheEndOfTheRoom(), "time of the next alarm"),
        (ByAStepTooMany(), "time of the next alarm"),
        (InTheOutcomesWhy(), "outcome"),
        (ByTheOutcomeItself(), "outcome"),
        (InTheAnswerToWhoKnocks(), "answer to who knocks"),
        (ByWhoIsCalled(), "when told, while away, of the turn"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Game) else "",
)
def test_a_planted_leak_is_found_where_it_is(game, part):
    assert found_in(game).what.part == part


def test_an_export_that_says_of_a_seat_what_another_saw_is_found(monkeypatch):
    def swapped(record, game):
        told = with_views(record, game)
        steps = [replace(step, views=step.views[::-1]) for step in told.steps]
        return replace(told, steps=tuple(steps))

    assert check(HighCard(), games=1).exports > 10
    monkeypatch.setattr("parlour.sim.records.with_views", swapped)
    assert found_in(HighCard()).what.part == "exported view"


def test_an_export_that_lists_as_legal_what_only_the_truth_allows_is_found(monkeypatch):
    def knowing(record, game):
        told = with_views(record, game)
        steps = [replace(step, legal=step.legal[: len(step.draws)]) for step in told.steps]
        return replace(told, steps=tuple(steps))

    monkeypatch.setattr("parlour.sim.records.with_views", knowing)
    assert found_in(HighCard()).what.part == "exported legal events"


def test_a_resample_that_changes_what_a_viewer_knows_is_found_and_may_be_meant():
    class Forgetful(HighCard):
        def resample(self, state: Hands, viewer: str | None, chance: Chance) -> Hands:
            return replace(state, cards=tuple(map(chance.below, (RANKS, RANKS))))

    leak = found_in(Forgetful())
    assert leak.what.part == "view"
    assert leak.at_once
    assert "Either the view shows what resample takes for hidden, or resample changes" in str(leak)


# Minesweeper, whose secrets are real.


def test_a_minesweeper_that_says_whether_a_flag_is_right_is_found():
    class Leaky(Minesweeper):
        def handle_event(self, state: Field, sender: str, event: Any, moment: Moment) -> Update[Field]:
            update = super().handle_event(state, sender, event, moment)
            flags = update.state.cells.count("F")
            return replace(update, effects=(*update.effects, Send("audience", {"right": flags})))

    leak = found_in(Leaky())
    assert (leak.what.part, leak.viewer) == ("messages", "watcher, without a seat,")


def test_a_minesweeper_whose_legal_events_know_the_mines_is_found():
    class Leaky(Minesweeper):
        def legal_events(self, state: Field, player: str) -> list[Any]:
            legal = super().legal_events(state, player)
            return sorted(
                legal, key=lambda move: state.cells[state.cell(move.x, move.y)] if hasattr(move, "x") else ""
            )

    assert found_in(Leaky()).what.part == "legal events"


# What its author reads.


def test_a_leak_says_which_step_which_viewer_which_bytes_and_what_was_hidden():
    leak = found_in(ToTheWrongTopic())
    text = str(leak)
    here, there = leak.what.here, leak.what.there
    first = next(at for at in range(len(here)) if here[at] != there[at])
    assert f"LEAK in highcard, game 0, step {leak.seq}: {leak.viewer} can tell two worlds apart" in text
    assert f"messages, from byte {first} on" in text
    assert '"type":"pass"' in text or '"type":"time_up"' in text
    assert "$[1].payload.cards[" in text
    assert "$.cards[" in text
    assert f"after step {leak.resampled}" in text


@pytest.mark.parametrize(
    ("game", "advice"),
    [
        (InTheTextOfARefusal(), "A refusal must not depend on a secret"),
        (ByATimerThatRingsEarlier(), "time tells the secret"),
        (InLegalEvents(), "for the same view the same, in the same order"),
        (ToTheWrongTopic(), "must be in the view of the same step"),
    ],
)
def test_a_leak_comes_with_advice(game, advice):
    assert advice in str(found_in(game))


# The command.


FILE = """
from msgspec.structs import replace
from parlour import Event, Game, Send, State, Update

class Hidden(State, frozen=True):
    number: int = 0
    taps: int = 0

class Tap(Event, frozen=True):
    pass

class Box(Game[Hidden]):
    name = "box"
    display_name = "Box"
    seats = range(1, 2)
    State = Hidden
    Event = Tap

    def init(self, config, moment):
        return Hidden(number=moment.chance.below(9))

    def handle_event(self, state, sender, event, moment):
        return Update(replace(state, taps=state.taps + 1), (Send("all", SAID),))

    def view(self, state, viewer):
        return {"taps": state.taps}

    def resample(self, state, viewer, chance):
        return replace(state, number=chance.below(9))
"""


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["leakcheck", *arguments])
    return result.exit_code, result.output


def test_the_command_checks_a_file_and_exits_with_1_on_a_leak(tmp_path):
    path = tmp_path / "box.py"
    path.write_text(FILE.replace("SAID", "state.number"))
    code, output = run(str(path), "--games", "2")
    assert code == 1
    assert "LEAK in box, game 0" in output
    assert "box: 1 leak after 1 game" in output


def test_the_command_exits_with_0_and_says_how_much_was_compared(tmp_path):
    path = tmp_path / "box.py"
    path.write_text(FILE.replace("SAID", '"tap"'))
    code, output = run(str(path), "--games", "2", "--steps", "10", "--seed", "5")
    assert code == 0
    assert output.startswith("box: no leak in 2 games, ")
    for word in (" steps", " viewers", " comparisons", "resample changed: number"):
        assert word in output


def test_the_command_takes_a_games_name_and_a_config():
    code, output = run(
        "minesweeper", "--games", "1", "--steps", "20", "--config", '{"width": 8, "mines": 12}'
    )
    assert code == 0
    assert output.startswith("minesweeper: no leak in 1 game, ")


def test_the_command_says_when_nothing_is_hidden():
    code, output = run("tictactoe")
    assert code == 0
    assert output.startswith("tictactoe: nothing is hidden, so nothing was compared")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chess"], "expected a Python file or one of tictactoe"),
        (["none.py"], "expected a Python file with a game, got none.py"),
        (["minesweeper", "--config", "{"], "--config: expected JSON"),
        (["minesweeper", "--config", '{"mines": 0}'], "$.config.mines: expected int >= 1"),
    ],
)
def test_what_the_command_cannot_do_it_refuses_with_a_sentence(arguments, sentence):
    code, output = run(*arguments)
    assert code == 1
    assert sentence in " ".join(output.split())


def test_a_report_counts_in_words_that_fit():
    one = Report("box", games=1, steps=1, worlds=1, comparisons=1, by_viewer={"seat 0": 1})
    assert str(one).startswith("box: no leak in 1 game, 1 step, 1 viewer, 1 comparison\n")
