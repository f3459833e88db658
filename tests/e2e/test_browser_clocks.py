"""Clocks at real browsers: chosen in the set up, told at the door, drawn beside names, and over at last."""

import re
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from tests.e2e.seconds import furthest_apart, milliseconds_apart
from tests.e2e.slow_line import SlowLine
from tests.e2e.test_browser_invite import leave
from tests.e2e.test_browser_set_up import arrive, open_room

pytestmark = pytest.mark.e2e


def seconds(who, seat):
    """What the clock of a seat shows."""
    minutes, rest = who.page.locator(f"[data-seat='{seat}'] time").inner_text().split(":")
    return 60 * int(minutes) + int(rest)


def test_a_clock_is_chosen_told_at_the_door_and_runs_for_who_is_to_move(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Clock").select_option("5 minutes and 3 seconds more a turn")
    room = open_room(ann)
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_text("5 minutes and 3 seconds more a turn")).to_be_visible()
    bob.come_in(room)
    mine = ann.page.locator("[data-seat='0'] time")
    expect(mine).to_have_text(re.compile("4:5[0-9]"))
    expect(bob.page.locator("[data-seat='1'] time")).to_have_text("5:00")
    assert abs(seconds(ann, 0) - seconds(bob, 0)) <= 1
    ann.mark("centre")
    bob.sees("Your turn")
    expect(bob.page.locator("[data-seat='1'] time")).to_have_text(re.compile("4:5[0-9]"))


def test_before_leaving_a_game_with_a_clock_one_reads_that_it_is_lost_by_that(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = server.open_room(clock={"kind": "increment", "seconds": 300, "extra": 3})["id"]
    for who in (ann, bob):
        who.come_in(room)
    ann.mark("centre")
    bob.sees("Your turn")
    bob.page.get_by_role("button", name="Leave").click()
    dialog = bob.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This game has a clock: once somebody has played")
    dialog.get_by_role("button", name="Leave").click()
    ann.sees("You win: the other side resigned")


SET = "(() => { const real = Date.now; Date.now = () => real() + 3600000; })()"
"""Somebody sets the clock of the computer."""

SLEPT = (
    "(() => { const real = performance.now.bind(performance); performance.now = () => real() - 60000; })()"
)
"""A computer that slept for a minute: many a browser has counted none of it."""


@pytest.mark.parametrize("what", [SET, SLEPT], ids=["set", "slept"])
def test_a_running_clock_is_right_whatever_became_of_the_computers_own(server, visit, what):
    room = server.open_room(clock={"kind": "increment", "seconds": 300, "extra": 3})["id"]
    ann, bob = (visit(server, name).come_in(room) for name in ("Ann", "Bob"))
    mine = ann.page.locator("[data-seat='0'] time")
    expect(mine).to_have_text(re.compile("4:5[0-9]"))
    heard = len(ann.frames)
    ann.page.evaluate(what)
    expect(mine).to_have_text(re.compile("4:[1-5][0-9]"))
    while not any(frame[3] == "sync" for frame in ann.frames[heard:]):
        ann.page.evaluate("1")  # it asks what the time is
    expect(mine).to_have_text(re.compile("4:[1-5][0-9]"))
    assert abs(seconds(ann, 0) - seconds(bob, 0)) <= 1
    ann.mark("centre")
    bob.sees("Your turn")


def test_a_room_that_has_closed_is_not_entered_again_by_a_clock_that_was_set(server, visit):
    ann, eve = visit(server, "Ann"), visit(server, "Eve")
    eve.context.clock.install()
    joins = []
    eve.page.on("websocket", lambda line: line.on("framesent", lambda sent: joins.append("phx_join" in sent)))
    eve.come_in(ann.open_room("Minesweeper"), "Watch")
    leave(ann)
    eve.sees("This room has closed.")
    came = sum(joins)
    eve.page.evaluate(SET)
    eve.context.clock.run_for(15_000)  # it looks at the clock, and what it asks then takes a moment
    eve.page.evaluate("fetch('/health')")
    assert sum(joins) == came


HEARD = """
window.heard = [];
const Real = window.OscillatorNode;
window.OscillatorNode = class extends Real {
    constructor(context, how) { super(context, how); heard.push(how.frequency); }
};
"""
LOW = 900
"""The tone of the two knocks that say that time is low."""


def test_low_time_is_seen_and_heard_and_whose_time_is_over_has_lost(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    ann.context.add_init_script(HEARD)
    clock = {"kind": "turn", "seconds": 12}
    room = server.call("POST", "/api/rooms", {"game": "tictactoe", "clock": clock}).json()["id"]
    for who in (ann, bob):
        who.go(f"/r/{room}")
        who.come_in(room)
    expect(ann.page.locator("[data-seat='0'] time.hurry")).to_be_visible(timeout=20_000)
    ann.page.wait_for_function("tone => heard.filter(one => one === tone).length === 2", arg=LOW)
    expect(bob.page.locator("[data-seat='0'] time.hurry")).to_be_visible()
    expect(bob.status).to_have_text("You win: Ann ran out of time", timeout=20_000)
    ann.sees("You ran out of time: Bob wins")


def test_a_clock_of_ones_own_and_what_becomes_of_whoever_is_gone(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Clock").select_option("Another clock")
    dialog.get_by_label("Time for the game").fill("-3")
    dialog.get_by_role("button", name="Open the room").click()
    time = dialog.get_by_label("Time for the game")
    expect(time).to_have_accessible_description(re.compile("6 seconds to 30 days"))
    expect(time).to_be_focused()
    time.fill("7")
    dialog.get_by_label("More for each turn").fill("4")
    dialog.get_by_label("A player who is gone").select_option("The win can be claimed")
    dialog.get_by_label("After").select_option("30 seconds")
    room = open_room(ann)
    assert server.room(room)["clock"] == {
        "kind": "increment", "seconds": 420, "extra": 4, "away": {"seconds": 30, "at_zero": "claim"}
    }  # fmt: skip
    bob.go(f"/r/{room}")
    accepted = bob.page.get_by_role("list", name="What is played here").get_by_role("listitem")
    expect(accepted).to_have_text([
        "7 minutes and 4 seconds more a turn",
        "The win can be claimed after 30 seconds away",
    ])  # fmt: skip
    bob.come_in(room)
    bob.sees("Waiting for Ann")
    ann.page.close()
    expect(bob.page.get_by_text(re.compile("away, 0:[0-9]+ left"))).to_be_visible()
    stood = seconds(bob, 0)
    claim = bob.page.get_by_role("button", name="Claim the win")
    expect(claim).to_be_visible(timeout=60_000)
    assert stood - seconds(bob, 0) <= 2, "the clock stood still meanwhile"
    expect(bob.page.get_by_text("Ann has been away for too long.")).to_be_visible()
    claim.click()
    bob.sees("You win: Ann was away too long")


# The same second at the same time: what two pages show is compared by the clock of their machine.

APART = 200
"""Milliseconds that two pages may be apart."""
MARKS = ("centre", "top", "left", "right", "bottom left")
"""Nobody wins by these."""


@pytest.fixture
def slow(server):
    """To the server, by a line that takes 300 milliseconds more in each direction."""
    with closing(SlowLine(server, 0.3)) as line:
        yield line


def table_with_clocks(server, *players):
    """A room whose players have five minutes each."""
    room = server.open_room(clock={"kind": "increment", "seconds": 300})["id"]
    for who in players:
        who.come_in(room)
    return room


def show_the_same_seconds(one, other, *players):
    """At most 200 milliseconds apart in each turn."""
    apart = []
    for turn, mark in enumerate((*MARKS, None)):
        seat = turn % 2
        apart.append(milliseconds_apart(one, other, seat))
        if mark:
            players[seat].sees("Your turn")
            players[seat].mark(mark)
    assert furthest_apart(apart) <= APART, apart


NOISE = st.integers(-5000, 5000)
ABOUT = st.integers(-40, 40)


@given(st.lists(st.tuples(ABOUT, ABOUT, NOISE).flatmap(st.permutations), min_size=1, max_size=6))
def test_one_second_of_each_turn_that_came_late_says_nothing_of_the_clocks(turns):
    assert furthest_apart(turns) <= APART


@given(
    st.lists(st.tuples(ABOUT, ABOUT, NOISE).flatmap(st.permutations), max_size=5),
    st.tuples(ABOUT, ABOUT, NOISE).flatmap(st.permutations),
    st.sampled_from([-1, 1]),
)
def test_clocks_that_are_apart_in_one_turn_are_found_whatever_one_second_of_it_and_the_other_turns_say(
    turns, turn, sign
):
    apart = [sign * (APART + 41) + seconds for seconds in turn]
    assert furthest_apart([*turns, apart]) > APART


def test_two_players_see_the_same_second_within_a_fifth_of_a_second(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    table_with_clocks(server, ann, bob)
    show_the_same_seconds(ann, bob, ann, bob)


def test_a_player_on_a_slow_line_sees_the_same_second_as_the_other(server, slow, visit):
    ann, bob = visit(slow, "Ann"), visit(server, "Bob")
    table_with_clocks(server, ann, bob)
    show_the_same_seconds(ann, bob, ann, bob)


def test_a_spectator_on_a_slow_line_sees_the_same_second_as_the_players(server, slow, visit):
    ann, bob, cid = visit(server, "Ann"), visit(server, "Bob"), visit(slow, "Cid")
    cid.come_in(table_with_clocks(server, ann, bob), "Watch")
    show_the_same_seconds(ann, cid, ann, bob)


def test_the_other_claims_the_win_or_a_bot_moves_where_the_room_was_set_up_so(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Clock").select_option("30 seconds a turn")
    dialog.get_by_label("Whose time is over").select_option("A bot makes the move")
    room = open_room(ann)
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_text("30 seconds a turn; then a bot makes the move")).to_be_visible()
    clock = {"kind": "turn", "seconds": 5, "at_zero": "claim"}
    room = server.call("POST", "/api/rooms", {"game": "tictactoe", "clock": clock}).json()["id"]
    for who in (ann, bob):
        who.go(f"/r/{room}")
        who.come_in(room)
    expect(ann.page.get_by_text("until you move, the game can be claimed")).to_be_visible(timeout=20_000)
    bob.page.get_by_role("button", name="Claim the win").click()
    bob.sees("You win: Ann ran out of time")
