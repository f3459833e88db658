"""What every game keeps to, as a suite of tests to inherit."""

import json
from typing import Any

import msgspec

from parlour.bots import bots_of
from parlour.errors import Code
from parlour.game import Game, Update
from parlour.leakcheck import check as check_leaks
from parlour.room import apply as apply_command
from parlour.room import open_room, seats_to_move
from parlour.scene import Patch, Scene, difference, scene_faults
from parlour.scene import apply as apply_patch
from parlour.sim.play import chance_of, plain, play_bots, play_on, play_to_end
from parlour.testing.play import Wanderer, check_replay, full_table, viewers
from parlour.testing.scenes import clicks, offered
from parlour.testing.table import Table, legal, refused
from parlour.wire import Act, Connect, Disconnect, Join, Leave, Rematch

JUNK = (b"", b"{", b"\xff", b"[" * 5000, b'{"type":"\\ud800"}', b"nul", b"1e999")
"""What is not even JSON."""


class GameContract:
    """Inherit it in a test file of your own, and pytest runs it all.

    ``class TestNim(GameContract): game = Nim()``
    """

    game: Game[Any]
    config: Any = None
    """The config of the rooms; one that makes short games makes quick tests."""
    seeds: range = range(5)
    """So many games are played by chance, the same ones every time."""
    slow_bots: frozenset[str] = frozenset()
    """Bots that are not let play here."""

    def table(self, luck: int = 0) -> Table:
        """A table with somebody in every seat."""
        return full_table(self.game, self.config, luck=luck)

    # How a game presents itself.

    def test_the_declaration_is_complete(self) -> None:
        assert self.game.checked() is self.game
        assert self.game.name == self.game.name.lower()
        assert self.game.name.isidentifier()
        assert self.game.display_name[0].isupper()
        assert self.game.version >= 1
        assert self.game.spectators is None or self.game.spectators >= 0

    def test_a_game_needs_no_config(self) -> None:
        assert open_room(self.game, "ABCD", None, Table(self.game).instant()).config == plain(
            self.game.Config()
        )

    def test_a_config_makes_a_form(self) -> None:
        form = msgspec.json.schema(self.game.Config)
        json.dumps(form, allow_nan=False)
        assert form["$defs"][self.game.Config.__name__]["required"] == []

    def test_a_config_with_a_field_too_many_is_refused(self) -> None:
        refused(Code.INVALID_CONFIG, Table, self.game, {"surprise": 1})

    def test_a_state_is_a_value(self) -> None:
        assert self.game.State.__struct_config__.frozen

    # Coming and going.

    def test_joining_twice_changes_nothing(self) -> None:
        table = Table(self.game).sit("ann")
        before = table.room
        refused(Code.ILLEGAL_MOVE, table.do, Join("ann", "Ann"))
        assert table.room is before

    def test_a_full_game_refuses_players_and_lets_them_watch(self) -> None:
        table = self.table()
        refused(Code.GAME_FULL, table.do, Join("late", "Late"))
        assert table.watch("late").seat is None

    def test_a_spectators_join_changes_nothing(self) -> None:
        for table in (Table(self.game), self.table()):
            joined = table.watch("zoe")
            assert joined.seat is None
            assert joined.update == Update(table.state)

    def test_who_sits_nowhere_can_do_nothing(self) -> None:
        table = self.table()
        assert not legal(self.game, table.state, "zoe")
        for command in (Connect("zoe"), Disconnect("zoe"), Leave("zoe"), Act("zoe", msgspec.Raw(b"{}"))):
            refused(Code.NOT_SEATED, table.do, command)

    # Whatever happens.

    def test_random_play_goes_well_can_be_replayed_and_shows_no_secrets(self) -> None:
        for seed in self.seeds:
            table = self.table(seed)
            wanderer = Wanderer(table, chance_of(seed))
            for pause in range(10):
                wanderer.go(10)
                check_state(table, pause)
            check_replay(table)

    def test_the_same_seed_makes_the_same_game(self) -> None:
        tables = [self.table(7), self.table(7)]
        for table in tables:
            Wanderer(table, chance_of(7)).go(50)
        first, second = ([step.body for step in table.steps] for table in tables)
        assert first == second

    def test_random_legal_play_comes_to_an_end(self) -> None:
        for seed in self.seeds:
            table = self.table(seed)
            play_to_end(table, chance_of(seed))
            check_state(table, 1)
            check_replay(table)

    def test_a_game_without_draws_never_ends_in_one(self) -> None:
        if not self.game.has_draws(self.game.read_config(self.table().room.config)):
            for seed in self.seeds:
                outcome = play_to_end(self.table(seed), chance_of(seed))
                assert not outcome.drew, f"has_draws says that there are none, and {outcome.drew} drew"

    def test_whose_clock_runs_has_something_to_do(self) -> None:
        for seed in self.seeds:
            table = self.table(seed)
            wanderer = Wanderer(table, chance_of(seed))
            for _ in range(50):
                check_to_move(table)
                wanderer.go(2)

    def test_an_outcome_speaks_of_those_who_played_and_stays_when_they_leave(self) -> None:
        table = self.table()
        players = [player for player in table.room.players if player]
        outcome = play_to_end(table, chance_of(1))
        assert sorted((*outcome.won, *outcome.lost, *outcome.drew)) == players
        assert outcome.why
        for player in players:
            table.leave(player)
        if None in table.room.seats:  # else a seat stays with whoever gave it up
            table.sit("zoe")
        assert table.outcome == outcome

    def test_a_rematch_begins_a_new_game(self) -> None:
        table = self.table()
        play_to_end(table, chance_of(2))
        for player in table.room.connected:
            table.do(Rematch(player))
        assert table.outcome is None
        assert play_on(table, chance_of(3))
        check_replay(table)

    def test_what_is_not_even_json_is_refused(self) -> None:
        table = self.table()
        player = table.room.connected[0]
        for junk in JUNK:
            refused(Code.MALFORMED, table.do, Act(player, msgspec.Raw(junk)))

    def test_bots_play_to_the_end_by_the_rules(self) -> None:
        for name, bot in bots_of(self.game).items():
            if name not in self.slow_bots:
                table = self.table(1)
                for _ in play_bots(table, [bot] * len(table.room.seats), luck=1):
                    pass
                assert table.outcome is not None

    # What a browser draws.

    def test_scenes_can_be_drawn_and_what_they_offer_is_allowed(self) -> None:
        for seed in self.seeds:
            table = self.table(seed)
            wanderer = Wanderer(table, chance_of(seed))
            for _ in range(25):
                check_scenes(table, seed)
                wanderer.go(2)

    def test_a_patch_leads_from_each_scene_to_the_next(self) -> None:
        table, before = self.table(), dict[str | None, Scene]()
        wanderer = Wanderer(table, chance_of(0))
        for _ in range(25):
            for viewer in viewers(table):
                after = table.scene(viewer)
                check_patch(before.get(viewer, Scene()), after)
                before[viewer] = after
            wanderer.go(2)

    def test_nobody_receives_what_they_may_not_know(self) -> None:
        report = check_leaks(self.game, self.config, games=2, steps=50)
        assert report.ok, str(report)


def check_state(table: Table, luck: int) -> None:
    """A state can be kept as JSON, every view is plain data, and what is hidden makes no difference."""
    game, state, chance = table.game, table.state, chance_of(luck)
    assert msgspec.json.decode(msgspec.json.encode(state), type=game.State) == state
    for viewer in viewers(table):
        view = game.view(state, viewer)
        json.dumps(msgspec.to_builtins(view), allow_nan=False)
        other = game.resample(state, viewer, chance)
        assert game.view(other, viewer) == view
        assert game.scene(other, viewer) == game.scene(state, viewer)
        assert game.observe(other, viewer) == game.observe(state, viewer)
        if viewer is not None:
            assert legal(game, other, viewer) == legal(game, state, viewer)


def check_to_move(table: Table) -> None:
    """Whoever is to move has a legal event, unless the game lists none or has ended."""
    game, state, players = table.game, table.state, table.room.players
    if table.outcome is None and None not in players:
        for seat in seats_to_move(game, state, players):
            events = game.legal_events(state, players[seat] or "")
            assert events is None or list(events), f"{players[seat]} is to move and can do nothing: {state}"


def check_scenes(table: Table, luck: int) -> None:
    """Each viewer's scene can be drawn, and a click in it is accepted; who watches is offered nothing."""
    for viewer in viewers(table):
        scene = table.scene(viewer)
        assert not list(scene_faults(scene))
    assert not clicks(table.scene(None))
    stopped = table.room.verdict is not None or table.room.offers.paused is not None
    for player in () if stopped or table.why_ended() else table.room.connected:
        events = offered(table, player)
        for event in chance_of(luck).sample(events, min(len(events), 5)):
            command = Act(player, msgspec.Raw(msgspec.json.encode(event)))
            apply_command(table.game, table.room, command, table.instant())


def check_patch(before: Scene, after: Scene) -> None:
    """What is told of a change, as JSON, turns one scene into the next; the order of pieces means nothing."""
    patch = difference(before, after)
    if patch is not None:
        told = msgspec.json.decode(msgspec.json.encode(patch), type=Patch)
        one, other = plain(apply_patch(told, before)), plain(after)
        for scene in (one, other):
            scene.get("pieces", []).sort(key=lambda piece: piece["id"])
        assert one == other
