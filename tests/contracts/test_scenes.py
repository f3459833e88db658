"""What the scene of every game keeps to; a game is tested by being in the registry."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from parlour.game import Chance
from parlour.room import apply as do
from parlour.scene import Patch, Scene, apply, difference
from parlour.wire import Act
from tests.contracts.test_games import SETUPS, Setup, full, wander
from tests.scenes import check_drawable, offers, same
from tests.scenes.played import Nim
from tests.table import Table

SEEN: dict[str, Setup] = {**SETUPS, "nim, which draws no scene": (Nim(), None)}


@pytest.fixture(params=list(SEEN))
def setup(request: pytest.FixtureRequest) -> Setup:
    return SEEN[request.param]


def played(setup: Setup, seed: int) -> Iterator[Table]:
    """A table again and again while it is played at random."""
    rng, table = random.Random(seed), full(*setup, luck=seed)
    yield table
    for _ in range(25):
        wander(table, rng, 2)
        yield table
        if table.why_ended():
            return


def viewers(table: Table) -> tuple[str | None, ...]:
    return (*filter(None, table.room.players), None)


@pytest.mark.parametrize("seed", range(4))
def test_a_scene_can_be_drawn(setup, seed):
    for table in played(setup, seed):
        for viewer in viewers(table):
            check_drawable(table.game.scene(table.state, viewer))


@pytest.mark.parametrize("seed", range(4))
def test_a_patch_leads_from_each_scene_to_the_next(setup, seed):
    before: dict[str | None, Scene] = {}
    for table in played(setup, seed):
        for viewer in viewers(table):
            after = table.game.scene(table.state, viewer)
            patch = difference(before.get(viewer, Scene()), after)
            if patch is not None:
                told = msgspec.json.decode(msgspec.json.encode(patch), type=Patch)
                assert same(apply(told, before.get(viewer, Scene())), after)
            before[viewer] = after


@pytest.mark.parametrize("seed", range(4))
def test_a_scene_tells_nothing_that_the_viewer_may_not_know(setup, seed):
    chance = Chance(bytes(32), seed)
    for table in played(setup, seed):
        for viewer in viewers(table):
            other = table.game.resample(table.state, viewer, chance)
            assert table.game.scene(other, viewer) == table.game.scene(table.state, viewer)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_scene_offers_is_allowed(setup, seed):
    rng = random.Random(seed)
    for table in played(setup, seed):
        for player in table.room.connected:
            events = offers(table.game.scene(table.state, player))
            for event in rng.sample(events, min(len(events), 5)):
                command = Act(player, msgspec.Raw(msgspec.json.encode(event)))
                do(table.game, table.room, command, table.instant())


def test_who_watches_is_offered_nothing(setup):
    for table in played(setup, 1):
        assert not offers(table.game.scene(table.state, None))
