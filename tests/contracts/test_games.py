"""What every game keeps to; a game is tested by being in the registry."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.errors import Code, Refused
from parlour.game import Chance, Game, Outcome, Update
from parlour.games import GAMES
from parlour.offers import Answer, Offer, Resign, What
from parlour.room import Room, apply, open_room, replay
from parlour.wire import Act, Chat, Command, Connect, Disconnect, Join, Leave, Rematch, read_step
from tests.samples import first_of
from tests.table import SMALL, Table, legal

WHATS: tuple[What, ...] = ("draw", "takeback", "pause", "resume", "resume")
PLAYERS = ("ann", "bob", "cat", "dan", "eve")

Setup = tuple[Game[Any], Any]
SETUPS: dict[str, Setup] = {name: (game, None) for name, game in GAMES.items()}
SETUPS |= {f"{name}-small": (GAMES[name], config) for name, config in SMALL.items()}
"""Every game as it comes, and those that have long games also with short ones."""


@pytest.fixture(params=list(GAMES))
def game(request: pytest.FixtureRequest) -> Game[Any]:
    return GAMES[request.param]


@pytest.fixture(params=list(SETUPS))
def setup(request: pytest.FixtureRequest) -> Setup:
    return SETUPS[request.param]


def full(game: Game[Any], config: Any = None, *, luck: int = 0) -> Table:
    """A table with somebody in every seat."""
    table = Table(game, config, luck=luck)
    return table.sit(*PLAYERS[: len(table.room.seats)])


# How a game presents itself.


def test_a_game_has_a_name_for_programs_and_one_for_people(game):
    assert game.name == game.name.lower()
    assert game.name.isidentifier()
    assert GAMES[game.name] is game
    assert game.display_name[0].isupper()


def test_a_game_says_how_many_can_play(game):
    assert 1 <= game.seats.start < game.seats.stop
    assert game.seats.step == 1
    assert game.version >= 1
    assert game.spectators is None or game.spectators >= 0


def test_a_game_needs_no_config(game):
    assert open_room(game, "ABCD", None, Table(game).instant()).config == msgspec.to_builtins(game.Config())


def test_a_config_makes_a_form(game):
    form = msgspec.json.schema(game.Config)
    json.dumps(form, allow_nan=False)
    fields = form["$defs"][game.Config.__name__]
    assert fields["required"] == []


def test_a_config_with_a_field_too_many_is_refused(game):
    with pytest.raises(Refused, match="invalid_config"):
        Table(game, {"surprise": 1})


def test_a_state_is_a_value(game):
    assert game.State.__struct_config__.frozen


# Coming and going.


def test_joining_twice_changes_nothing(game):
    table = Table(game).sit("ann")
    before = table.room
    with pytest.raises(Refused):
        table.do(Join("ann", "Ann"))
    assert table.room is before


def test_a_full_game_refuses_players_and_lets_them_watch(game):
    table = full(game)
    with pytest.raises(Refused) as caught:
        table.do(Join("late", "Late"))
    assert caught.value.code == Code.GAME_FULL
    assert table.watch("late").seat is None


def test_a_spectators_join_changes_nothing(game):
    for table in (Table(game), full(game)):
        joined = table.watch("zoe")
        assert joined.seat is None
        assert joined.update == Update(table.state)


def test_who_sits_nowhere_can_do_nothing(game):
    table = full(game)
    assert not legal(game, table.state, "zoe")
    commands = (Connect("zoe"), Disconnect("zoe"), Leave("zoe"), Act("zoe", msgspec.Raw(b"{}")))
    for command in commands:
        with pytest.raises(Refused, match="not_seated"):
            table.do(command)


# Whatever happens.


def wander(table: Table, rng: random.Random, steps: int) -> None:
    """So many things that can happen in a room, mostly legal play; stops when the room ends."""
    for _ in range(steps):
        anybody = rng.choice(PLAYERS)
        match rng.choices(("play", "come", "go", "wait", "offer"), weights=(20, 4, 1, 1, 2))[0]:
            case "play":
                play_on(table, rng)
            case "come":
                attempt(
                    table, rng.choice((Join(anybody, "Any"), Connect(anybody), Chat(anybody, "Any", "hi")))
                )
            case "go":
                attempt(table, rng.choice((Disconnect(anybody), Leave(anybody), Rematch(anybody))))
            case "wait":
                table.wait(rng.choice((0, 1, 10, 70)))
            case "offer":
                attempt(table, offer(anybody, rng))
        if table.why_ended():
            return


def offer(player: str, rng: random.Random) -> Command:
    """Something that players offer, answer or give up by."""
    what = rng.choice(WHATS)
    answers: list[Command] = [Answer(player, what, accept=accept) for accept in (True, True, False)]
    return rng.choice([*answers, Offer(player, what), Offer(player, what), Resign(player)])


def attempt(table: Table, command: Command) -> None:
    """What may be refused; nothing else may go wrong."""
    before = table.room
    try:
        table.do(command)
    except Refused:
        assert table.room is before


def play_on(table: Table, rng: random.Random) -> None:
    """A legal event of somebody who is here, which is accepted unless the room has stopped the game."""
    room = table.room
    here = [] if room.verdict is not None or room.offers.paused is not None else room.connected
    for player in rng.sample(here, len(here)):
        if choices := legal(table.game, table.state, player):
            table.act(player, rng.choice(choices))
            return


def play_to_the_end(table: Table, rng: random.Random, look: Callable[[], None] = lambda: None) -> Outcome:
    """Legal play until there is an outcome, with a look after every move."""
    while table.room.outcome is None:
        assert len(table.steps) < 20_000
        play_on(table, rng)
        look()
    return table.room.outcome


def check_play(setup: Setup, seed: int) -> None:
    """Random play goes well, can be kept and played again, and shows no secrets."""
    rng, table = random.Random(seed), full(*setup, luck=seed)
    for pause in range(10):
        wander(table, rng, 10)
        check_state(table, Chance(bytes(32), pause))
        if table.why_ended():
            break
    check_replay(table)


def check_state(table: Table, chance: Chance) -> None:
    game, state = table.game, table.state
    assert msgspec.json.decode(msgspec.json.encode(state), type=game.State) == state
    for viewer in (*filter(None, table.room.players), None):
        view = game.view(state, viewer)
        json.dumps(msgspec.to_builtins(view), allow_nan=False)
        other = game.resample(state, viewer, chance)
        assert game.view(other, viewer) == view
        if viewer is not None:
            assert legal(game, other, viewer) == legal(game, state, viewer)


def check_replay(table: Table) -> None:
    kept: Any = Room
    room = msgspec.json.decode(msgspec.json.encode(table.opening), type=kept[table.game.State])
    assert room == table.opening
    for body in [step.body for step in table.steps]:
        room = replay(table.game, room, read_step(body))
    assert room == table.room
    assert msgspec.json.decode(msgspec.json.encode(room), type=kept[table.game.State]) == table.room


@pytest.mark.parametrize("seed", range(15))
def test_random_play_goes_well_can_be_replayed_and_shows_no_secrets(setup, seed):
    check_play(setup, seed)


@pytest.mark.play
@pytest.mark.parametrize("hundred", first_of(range(1, 6)))
def test_a_lot_of_random_play_goes_well_too(setup, hundred):
    for seed in range(hundred * 100, hundred * 100 + 100):
        check_play(setup, seed)


def test_the_same_seed_makes_the_same_game(setup):
    tables = [full(*setup, luck=7) for _ in range(2)]
    for table in tables:
        wander(table, random.Random(7), 50)
    first, second = ([step.body for step in table.steps] for table in tables)
    assert first == second


@pytest.mark.parametrize("seed", range(5))
def test_random_legal_play_comes_to_an_end(setup, seed):
    table = full(*setup, luck=seed)
    play_to_the_end(table, random.Random(seed))
    check_state(table, Chance(bytes(32), 1))
    check_replay(table)


def test_an_outcome_speaks_of_those_who_played_and_stays_when_they_leave(setup):
    table = full(*setup)
    players = [player for player in table.room.players if player]
    outcome = play_to_the_end(table, random.Random(1))
    assert sorted((*outcome.won, *outcome.lost, *outcome.drew)) == players
    assert outcome.why
    for player in players:
        table.leave(player)
    if None in table.room.seats:  # else a seat stays with whoever gave it up, as in Stratego
        table.sit("dan")
    assert table.room.outcome == outcome


def test_a_rematch_begins_a_new_game(setup):
    game, _ = setup
    table = full(*setup)
    play_to_the_end(table, random.Random(2))
    for player in table.room.connected:
        table.do(Rematch(player))
    assert table.room.outcome is None
    assert any(legal(game, table.state, player) for player in table.room.connected)
    check_replay(table)


# Whatever a client sends.


def words(game: Game[Any]) -> list[str]:
    """The words that the events of a game are made of, and a strange one."""
    kinds = [kind for kind in get_args(game.Event) or (game.Event,) if hasattr(kind, "__struct_config__")]
    fields = {field for kind in kinds for field in kind.__struct_fields__}
    return sorted({"type", "gibberish", *fields, *(kind.__struct_config__.tag for kind in kinds)})


def json_made_of(words: list[str]) -> "st.SearchStrategy[Any]":
    """Anything that JSON can say with these words, most often an object that resembles an event."""
    word = st.sampled_from(words)
    scalar = st.none() | st.booleans() | st.integers(-2, 10) | st.sampled_from([2**53, 0.5, ""]) | word
    thing = scalar | st.lists(scalar, max_size=2) | st.dictionaries(word, scalar, max_size=2)
    likely = st.dictionaries(word, st.integers(0, 10) | thing, max_size=4)
    return thing | st.builds(lambda kind, rest: {**rest, "type": kind}, word, likely)


@pytest.mark.parametrize("name", list(GAMES))
def test_whatever_json_comes_is_played_or_refused(name):
    game = GAMES[name]

    @settings(max_examples=200)
    @given(events=st.lists(json_made_of(words(game)), min_size=1, max_size=8), luck=st.integers(0, 9))
    def send(events: list[Any], luck: int) -> None:
        table = full(game, SMALL.get(name), luck=luck)
        wander(table, random.Random(luck), 4 * luck)
        for event in events:
            for player in filter(None, table.room.players):
                attempt(table, Act(player, msgspec.Raw(json.dumps(event).encode())))
        check_replay(table)

    send()


@pytest.mark.parametrize("junk", [b"", b"{", b"\xff", b"[" * 5000, b'{"type":"\\ud800"}', b"nul", b"1e999"])
def test_what_is_not_even_json_is_refused(game, junk):
    table = full(game)
    with pytest.raises(Refused, match="malformed"):
        apply(game, table.room, Act("ann", msgspec.Raw(junk)), table.instant())


@pytest.mark.parametrize("name", list(GAMES))
def test_whatever_config_comes_is_taken_or_refused(name):
    game = GAMES[name]
    fields = ["gibberish", *game.Config.__struct_fields__]

    @settings(max_examples=100)
    @given(config=json_made_of(fields))
    def open_with(config: Any) -> None:
        with suppress(Refused):
            Table(game, config)

    open_with()
