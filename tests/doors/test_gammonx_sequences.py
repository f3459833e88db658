"""GammonX' boards in play: both see one game, each as white, and find their moves in the sequences."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from parlour.doors.gammonx.board import board_state, field_of, move_sequences, place_of
from parlour.game import Chance
from parlour.games.backgammon.match import (
    Match,
    MatchConfig,
    end_turn,
    move,
    new_match,
    roll,
    route_of,
    say_ready,
)
from tests.doors.plain import plain_view

VARIANTS = ["backgammon", "tavla", "portes", "plakoto", "fevga"]
FIELDS = range(24)


def positions(variant: str, seed: int) -> Iterator[Match]:
    """A game at random, at every moment at which there is something to move."""
    match = replace(new_match(MatchConfig(variant=variant)), players=("ann", "bob"))  # type: ignore[arg-type]
    rng, chance = random.Random(seed), Chance(bytes([seed]) * 32, 0)
    match = say_ready(say_ready(match, 0, chance), 1, chance)
    while match.phase in ("roll", "move"):
        if match.phase == "roll":
            match = roll(match, chance)
        elif match.routes:
            yield match
            match = move(match, match.routes[rng.choice(sorted(match.routes))])
        else:
            match = end_turn(match)


def boards(match: Match) -> list[dict[str, Any]]:
    """What each of the two is shown."""
    return [board_state(plain_view(match, name), seat) for seat, name in enumerate(("ann", "bob"))]


def turned(field: int, variant: str) -> int:
    """The same field, as the other one counts."""
    special = {-1: 24, 24: -1, -100: 100, 100: -100}
    return special.get(field, (field + 12) % 24 if variant == "fevga" else 23 - field)


@pytest.mark.parametrize("variant", VARIANTS)
def test_at_every_moment_the_other_sees_the_same_board_turned_with_the_colours_swapped(variant):
    for match in positions(variant, 1):
        ann, bob = boards(match)
        assert bob["fields"] == [-ann["fields"][turned(field, variant)] for field in FIELDS]
        for what in ("bearOffCount", "homeBarCount", "pipCount"):
            assert (bob[f"{what}White"], bob[f"{what}Black"]) == (ann[f"{what}Black"], ann[f"{what}White"])
        if variant == "plakoto":
            assert bob["pinnedFields"] == [-ann["pinnedFields"][turned(field, variant)] for field in FIELDS]
        else:
            assert ann["pinnedFields"] is bob["pinnedFields"] is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_at_every_moment_both_have_fifteen_checkers(variant):
    for match in positions(variant, 2):
        for board in boards(match):
            pinned = board["pinnedFields"] or []
            for colour, sign in (("White", -1), ("Black", 1)):
                standing = sum(count * sign for count in (*board["fields"], *pinned) if count * sign > 0)
                assert standing + board[f"bearOffCount{colour}"] + board[f"homeBarCount{colour}"] == 15


@pytest.mark.parametrize("variant", VARIANTS)
def test_whoever_moves_as_white_sees_the_checker_go_from_the_one_field_to_the_other(variant):
    for match in positions(variant, 3):
        seat = match.turn
        start, end = (field_of(place) for place in min(match.routes))
        before = boards(match)[seat]
        after = boards(move(match, route_of(match, place_of(start, "from"), place_of(end, "to"))))[seat]
        assert standing(after, start) == standing(before, start) - 1
        assert standing(after, end) == standing(before, end) + 1


def standing(board: dict[str, Any], field: int) -> int:
    """How many of one's own are there."""
    if field in (-1, -100):
        return int(board["homeBarCountWhite" if field == -1 else "bearOffCountWhite"])
    pinned = board["pinnedFields"] or [0] * 24
    return int(max(0, -board["fields"][field]) + max(0, -pinned[field]))


# The document's own search for where a checker may go.


def legal_to(start: int, sequences: list[dict[str, Any]]) -> set[int]:
    """Where a checker of this field may go: by a move of a sequence, and on by those chained to it."""
    found: set[int] = set()
    for moves in (one["moves"] for one in sequences):
        for number, first in enumerate(moves):
            if first["from"] == start:
                reached = first["to"]
                found.add(reached)
                for later in moves[number + 1 :]:
                    if later["from"] != reached:
                        break
                    reached = later["to"]
                    found.add(reached)
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_client_finds_every_move_in_the_sequences_by_one_die_or_several(variant):
    for match in positions(variant, 4):
        sequences = move_sequences(plain_view(match, match.player(match.turn)), match.turn)
        for start, end in match.routes:
            assert field_of(end) in legal_to(field_of(start), sequences)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_first_move_of_every_sequence_and_all_chained_to_it_can_be_made(variant):
    for match in positions(variant, 5):
        sequences = move_sequences(plain_view(match, match.player(match.turn)), match.turn)
        for moves in (one["moves"] for one in sequences):
            reached = moves[0]["from"]
            for step in moves:
                if step["from"] != reached:
                    break
                reached = step["to"]
                way = (place_of(moves[0]["from"], "from"), place_of(reached, "to"))
                assert way in match.routes
