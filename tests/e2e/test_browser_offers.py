"""Offers at real browsers: made from the menu, answered in place, and what the end shows."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.hands import button, choose
from tests.e2e.test_browser_lobby import in_turn, is_seated, play_now, play_ranked

pytestmark = pytest.mark.e2e


BLITZ = {"kind": "increment", "seconds": 180, "extra": 2}


def yes(who):
    who.page.get_by_role("dialog").get_by_role("button", name="Yes").click()


def test_a_move_is_taken_back_and_a_draw_declined_then_agreed_by_clicking(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room())
    ann.mark("centre")
    bob.sees("Your turn")
    choose(ann, "Take my move back")
    expect(ann.page.get_by_test_id("offer")).to_have_text("You have asked to take a move back.")
    expect(bob.page.get_by_test_id("offer")).to_have_text("Ann would like to take a move back.")
    button(bob, "Agree").click()
    ann.sees("Your turn")
    expect(ann.board.locator("[data-piece]")).to_have_count(0)
    choose(ann, "Offer a draw")
    button(bob, "Decline").click()
    expect(ann.page.get_by_test_id("offer")).to_have_text("Your draw was declined.")
    ann.mark("top left")
    expect(ann.page.get_by_test_id("offer")).to_have_count(0)
    choose(bob, "Offer a draw")
    button(ann, "Agree").click()
    for who in (ann, bob):
        who.sees("A draw: both sides agreed")
        expect(who.board.get_by_role("button")).to_have_count(0)
    button(ann, "Rematch").click()
    button(bob, "Rematch").click()
    bob.sees("Your turn")


def test_whoever_resigns_at_stratego_is_asked_first_and_then_every_piece_is_shown(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    wish = {"game": "stratego", "clock": BLITZ}
    room = server.call("POST", "/api/rooms", wish).json()["id"]
    for who in (ann, bob):
        who.come_in(room)
    expect(ann.board.locator("[data-piece]")).to_have_count(80)
    pause_and_go_on(ann, bob)
    choose(bob, "Resign")
    expect(bob.page.get_by_text("Resign? You lose this game.")).to_be_visible()
    yes(bob)
    ann.sees("You win: the other side resigned")
    bob.sees("You resigned: Ann wins")
    hidden = ann.board.locator("[data-piece] .weave")
    expect(hidden).to_have_count(0)
    ann.page.get_by_text("Fair play").click()
    expect(ann.page.get_by_text(re.compile("every player added", re.IGNORECASE))).to_be_visible()
    button(ann, "Check every draw").click()
    expect(ann.page.get_by_test_id("fair-play")).to_have_text(
        re.compile(r"^All \d+ draws are what the seed says.$")
    )
    bob.page.get_by_text("Fair play").click()
    for wrong, told in (
        (plant_draw, r"^Step 3 is wrong: it drew \d+, and"),
        (plant_bytes, r"^What was added in your name before step \d+ did not come from this browser"),
    ):
        bob.page.unroute_all()
        bob.page.route("**/history?*", wrong)
        button(bob, "Check every draw").click()
        expect(bob.page.get_by_test_id("fair-play")).to_have_text(re.compile(told))


def test_strangers_who_were_paired_add_to_the_deal_and_one_click_says_that_nobody_chose_it(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    play_now(ann, "Stratego")
    bob.page.route("**/api/rooms/*", lambda route: None)  # his page does not get there yet
    play_now(bob, "Stratego")
    expect(ann.page.get_by_text("Bob is on the way")).to_be_visible()
    expect(ann.page.get_by_role("heading", name="Waiting for your friend")).to_have_count(0)
    expect(ann.board.locator("[data-piece]")).to_have_count(0)
    bob.page.unroute_all(behavior="ignoreErrors")
    bob.page.reload()
    is_seated(ann, bob)
    for who in (ann, bob):
        expect(who.board.locator("[data-piece]")).to_have_count(80)
    choose(ann, "Resign")
    yes(ann)
    for who in (ann, bob):
        who.page.get_by_text("Fair play").click()
        expect(
            who.page.get_by_text("Nobody chose this luck: the server fixed its seed first")
        ).to_be_visible()
        button(who, "Check every draw").click()
        expect(who.page.get_by_test_id("fair-play")).to_have_text(
            re.compile(r"^All \d+ draws are what the seed says.$")
        )


def pause_and_go_on(ann, bob):
    word = bob.page.get_by_test_id("offer")
    choose(ann, "Pause")
    expect(word).to_have_text("Ann would like a pause.")
    button(bob, "Agree").click()
    expect(word).to_have_text("The game is paused, and its clock with it.")
    button(bob, "Go on").click()
    expect(ann.page.get_by_test_id("offer")).to_have_text("Bob would like to go on.")
    button(ann, "Agree").click()
    expect(word).to_have_count(0)


def plant_draw(route):
    """A history in which one draw is another one than it was."""
    told = route.fetch().json()
    step = next(step for step in told["steps"] if "draws" in step)
    size, drawn = step["draws"][7]
    step["draws"][7] = [size, (drawn + 1) % size]
    route.fulfill(json=told)


def plant_bytes(route):
    """A history in which a server added what it liked in the name of its second player."""
    told = route.fetch().json()
    result = next(step["result"] for step in told["steps"] if step.get("result"))
    result["added"][1]["luck"] = "07" * 16
    route.fulfill(json=told)


def test_before_leaving_a_ranked_game_one_reads_that_it_is_lost_by_that(server, visit):
    people = [visit(server, name) for name in ("Ann", "Bob")]
    for who in people:
        play_ranked(who)
    is_seated(*people)
    first, second = in_turn(*people)
    first.mark("centre")
    second.sees("Your turn")
    button(second, "Leave").click()
    dialog = second.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This game is ranked: once somebody has played, whoever leaves has lost.")
    dialog.get_by_role("button", name="Leave").click()
    first.sees("You win: the other side resigned")


def test_a_ranked_win_shows_the_rating_before_and_after_and_a_new_opponent_is_one_click_away(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    for who in (ann, bob):
        play_ranked(who)
    is_seated(ann, bob)
    for who in (ann, bob):
        expect(who.page.locator("[data-seat]").filter(has_text="rated 1500")).to_have_count(2)
    choose(bob, "Resign")
    expect(bob.page.get_by_text("Resign? You lose this game, and it counts for your rating.")).to_be_visible()
    yes(bob)
    ann.sees("You win: the other side resigned")
    for who in (ann, bob):
        told = who.page.get_by_role("list", name="How it ended")
        expect(told.get_by_role("listitem")).to_have_count(2)
        winner = told.get_by_role("listitem").filter(has_text="Ann").get_by_test_id("rating")
        expect(winner).to_have_text(re.compile(r"1500\s+1\d\d\d\s+\+\d+"))
    button(ann, "New opponent").click()
    expect(ann.page.get_by_text("Looking for somebody of about your strength")).to_be_visible()
