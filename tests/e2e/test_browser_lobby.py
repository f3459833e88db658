"""Strangers at real browsers: they find each other or a bot, climb a ladder, and see what they played."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, PHONE
from tests.e2e.test_browser_access import serious_faults

pytestmark = pytest.mark.e2e

NOUGHTS = "Noughts and crosses"
CELLS = ("centre", "top left", "top", "top right", "left", "right", "bottom left", "bottom", "bottom right")


@pytest.fixture(scope="module")
def hall(serve_all):
    """A server for all who leave no ticket behind."""
    return serve_all()


def button(visitor, name):
    return visitor.page.get_by_role("button", name=name, exact=True)


def arrive(visitor):
    visitor.go("/")
    visitor.page.get_by_label("Your name").fill(visitor.name)
    return visitor


def play_now(visitor, game=NOUGHTS):
    button(arrive(visitor), f"Play now: {game}").click()


def choose(visitor, way):
    """Of the ways to play, in the dialog."""
    visitor.page.get_by_role("dialog").get_by_text(way, exact=True).click()


def play_ranked(visitor, game=NOUGHTS):
    arrive(visitor).page.get_by_role("button", name=f"Set up {game}").click()
    choose(visitor, "Ranked")
    button(visitor, "Play now").click()


def waits(visitor, game=NOUGHTS):
    expect(visitor.page.get_by_text(f"Looking for somebody to play with: {game}")).to_be_visible()


def is_seated(*visitors):
    """In the same room, which is told by its link."""
    for visitor in visitors:
        visitor.page.wait_for_url(re.compile(r"/r/\w+$"))
    assert len({visitor.page.url for visitor in visitors}) == 1


def in_turn(ann, bob):
    """Whoever begins, first: seats are given by lot."""
    expect(ann.status).to_have_text(re.compile("Your turn|Waiting for Bob"))
    return (ann, bob) if ann.status.text_content() == "Your turn" else (bob, ann)


def win(first, second):
    for mine, yours in (("centre", "top left"), ("top right", "right")):
        first.mark(mine)
        second.sees("Your turn")
        second.mark(yours)
        first.sees("Your turn")
    first.mark("bottom left")
    first.sees("You win: three in a row")
    second.sees(f"{first.name} wins: three in a row")


def play_the_bot(visitor):
    """Mark what is free until it is over."""
    for _ in range(5):
        expect(visitor.status).to_have_text(re.compile("Your turn|wins?:|draw"))
        if visitor.status.text_content() != "Your turn":
            return
        free = next(cell for cell in CELLS if visitor.spot(cell).count())
        visitor.mark(free)
        expect(visitor.spot(free)).to_have_count(0)
    expect(visitor.status).to_have_text(re.compile("wins?:|draw"))


def test_two_who_press_play_now_meet_though_the_page_is_reloaded_and_the_server_falls_over(serve, visit):
    server = serve()
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    play_now(ann)
    waits(ann)
    expect(button(ann, f"Play now: {NOUGHTS}")).to_be_disabled()
    ann.page.reload()
    waits(ann)
    server.kill()
    expect(ann.page.get_by_text(re.compile("Reconnecting.*Your place is kept"))).to_be_visible()
    server.start()
    expect(ann.page.get_by_text("Your place is kept")).to_have_count(0)
    play_now(bob)
    is_seated(ann, bob)
    win(*in_turn(ann, bob))


def test_whoever_cancels_is_paired_with_nobody_and_whoever_waits_can_have_a_bot_instead(hall, visit):
    ann, bob = visit(hall, "Ann"), visit(hall, "Bob")
    play_now(ann)
    button(ann, f"Cancel: {NOUGHTS}").click()
    expect(ann.page.get_by_role("region", name="Waiting")).to_have_count(0)
    play_now(bob)
    waits(bob)
    bob.page.get_by_role("link", name="Leaderboard").click()
    expect(bob.page.get_by_text("Nobody has played a ranked game")).to_be_visible()
    waits(bob)  # on every page
    button(bob, "Play a bot instead").click()
    is_seated(bob)
    expect(bob.page.locator("[data-seat]").get_by_role("img", name="a bot")).to_have_count(1)
    expect(button(ann, f"Play now: {NOUGHTS}")).to_be_enabled()


def test_whoever_goes_to_a_room_waits_no_more(hall, visit):
    ann = visit(hall, "Ann")
    play_now(ann)
    waits(ann)
    ann.page.get_by_role("button", name=f"A friend to play {NOUGHTS} with").click()
    is_seated(ann)
    ann.page.get_by_role("link", name="Parlour").click()
    expect(button(ann, f"Play now: {NOUGHTS}")).to_be_enabled()


def test_a_second_window_that_wants_the_same_waits_with_the_first(hall, visit):
    ann = visit(hall, "Ann")
    ann.provoked.add(409)
    ann.go("/")
    expect(button(ann, f"Play now: {NOUGHTS}")).to_be_visible()  # known to the server, so both are the same
    other = ann.context.new_page()
    other.goto(f"http://{hall.address}/")
    waiting = re.compile("Looking for somebody to play with")
    for page in (other, ann.page):
        page.get_by_role("button", name=f"Play now: {NOUGHTS}").click()
        expect(page.get_by_text(waiting)).to_be_visible()
    ann.page.get_by_role("button", name="Cancel").click()
    expect(ann.page.get_by_text(waiting)).to_have_count(0)


def test_a_setting_that_makes_no_sense_is_refused_before_anybody_waits_with_it(hall, visit):
    ann = visit(hall, "Ann")
    dialog = arrive(ann).set_up("Backgammon")
    choose(ann, "Anybody")
    dialog.get_by_label("Clock").select_option("Another clock")
    dialog.get_by_label("The time is").select_option("For each turn")
    seconds = dialog.get_by_role("textbox", name="Time for a turn")
    seconds.fill("many")
    button(ann, "Play now").click()
    expect(seconds).to_have_accessible_description(re.compile("Type a number here: 5 seconds to 30 days"))
    seconds.fill("60")
    choose(ann, "Fevga")
    button(ann, "Play now").click()
    waits(ann, "Backgammon: Fevga (1 minute a turn)")
    button(ann, "Cancel: Backgammon: Fevga (1 minute a turn)").click()
    expect(ann.page.get_by_role("region", name="Waiting")).to_have_count(0)


def test_a_lone_visitor_plays_a_bot_to_the_end_and_finds_the_game_on_their_page(hall, visit):
    ann = visit(hall, "Ann")
    button(arrive(ann), f"A bot to play {NOUGHTS} with").click()
    ann.page.get_by_label("Which bot").select_option("Perfect")
    button(ann, "Play the bot").click()
    is_seated(ann)
    play_the_bot(ann)
    moves = ann.page.get_by_role("region", name="Moves")
    expect(moves.get_by_role("img", name="a bot").first).to_be_attached()
    ann.page.get_by_role("link", name="Parlour").click()
    ann.page.get_by_role("link", name="Your games").click()
    game = ann.page.get_by_role("region", name="Games").get_by_role("listitem")
    expect(game).to_have_count(1)
    expect(game).to_contain_text(re.compile("(Lost|Drew) against Perfect bot"))
    expect(game.get_by_role("img", name="a bot")).to_be_visible()
    expect(ann.page.get_by_text("You have no rating yet.")).to_be_visible()
    game.get_by_role("link", name="Perfect bot", exact=True).click()
    expect(ann.page.get_by_role("heading", name="Perfect bot")).to_be_visible()
    ann.page.go_back()
    game.get_by_role("link", name=re.compile("[Rr]eplay")).click()
    moves = ann.page.get_by_role("region", name="Moves")
    expect(moves.get_by_role("img", name="a bot").first).to_be_attached()


def test_a_bot_takes_the_empty_seat_of_a_room(hall, visit):
    ann = visit(hall, "Ann")
    ann.open_room()
    button(ann, "Add a bot").click()
    button(ann, "Random").click()
    expect(ann.page.locator("[data-seat='1']")).to_contain_text("Random bot")
    ann.sees("Your turn")
    ann.mark("centre")
    expect(ann.board.locator("[data-piece]")).to_have_count(2)
    button(ann, "Hint").click()
    expect(ann.page.get_by_text(re.compile("^Try (top|bottom|left|right)"))).to_be_visible()


def test_the_solver_gives_a_hint_at_minesweeper(hall, visit):
    ann = visit(hall, "Ann")
    ann.open_room("Minesweeper")
    ann.spot("column 5, row 5: closed").click()
    expect(ann.spot("column 5, row 5: closed")).to_have_count(0)
    button(ann, "Hint").click()
    expect(ann.page.get_by_text(re.compile(r"^Try column \d, row \d$"))).to_be_visible()
    expect(ann.board.locator(".hint")).to_have_count(1)


def test_a_ranked_game_moves_the_leaderboard_and_is_on_the_players_page(serve, visit):
    server = serve()
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    play_ranked(ann)
    expect(ann.page.get_by_text(f"{NOUGHTS}, ranked")).to_be_visible()
    play_ranked(bob)
    is_seated(ann, bob)
    first, second = in_turn(ann, bob)
    win(first, second)
    first.go("/leaderboard/tictactoe")
    rows = first.page.get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text(re.compile(rf"1\s*{first.name}\s*you.*1 won.*1662"))
    expect(rows.nth(2)).to_contain_text(re.compile(rf"2\s*{second.name}.*1 lost.*1338"))
    rows.nth(2).get_by_role("link", name=second.name).click()
    expect(first.page.get_by_role("heading", name=second.name)).to_be_visible()
    ratings = first.page.get_by_role("region", name="Ratings")
    expect(ratings).to_contain_text("1338")
    curve = ratings.get_by_role("img", name="The rating over 1 game: from 1500 to 1338", exact=True)
    expect(curve).to_be_visible()
    falls = "line => line.getPointAtLength(0).y < line.getPointAtLength(line.getTotalLength()).y"
    assert curve.locator(".line").evaluate(falls)
    expect(first.page.get_by_role("region", name="Games")).to_contain_text(f"Lost against {first.name}")
    first.page.get_by_role("link", name="Replay").click()
    slider = first.page.get_by_role("slider", name="Moment")
    expect(slider).to_have_attribute("max", re.compile("[56]"))


def test_what_stands_beside_my_name_in_a_ranked_game_is_what_its_end_makes_of_my_rating(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob", viewport=PHONE, has_touch=True)
    for who in (ann, bob):
        play_ranked(who)
    is_seated(ann, bob)
    for who in (ann, bob):
        stake = who.page.get_by_test_id("stake")  # mine alone
        expect(stake).to_have_text(re.compile(r"^\+\d+ / ±0 / \u2212\d+$"))
    first, second = in_turn(ann, bob)
    gains, draw, loses = first.page.get_by_test_id("stake").inner_text().split(" / ")
    mine = first.page.locator("[data-seat]").filter(has_text="you")
    expect(mine).to_contain_text(f"a win {gains}, a draw {draw}, a loss {loses}")
    win(first, second)
    for who in (first, second):
        expect(who.page.get_by_test_id("stake")).to_have_count(0)
        told = who.page.get_by_role("list", name="How it ended").get_by_role("listitem")
        for player, points in ((first, gains), (second, loses)):
            rating = told.filter(has_text=player.name).get_by_test_id("rating")
            expect(rating).to_have_text(re.compile(rf"1500\s+\d+\s+{re.escape(points)}$"))


def test_what_is_at_stake_is_asked_anew_after_the_line_was_gone(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    lines = []

    def note(line):
        line.connect_to_server()
        lines.append(line)

    def tell(route):
        answer = route.fetch()
        told = (
            [{**one, "won": (one["won"] or 0) + 1} for one in answer.json()]
            if len(lines) > 1
            else answer.json()
        )
        route.fulfill(response=answer, json=told)

    ann.page.route_web_socket(re.compile("/socket/"), note)
    ann.page.route("**/stakes", tell)
    for who in (ann, bob):
        play_ranked(who)
    is_seated(ann, bob)
    stake = ann.page.get_by_test_id("stake")
    gains = int(stake.inner_text().split(" / ")[0])
    lines[-1].close(code=1011)
    expect(stake).to_have_text(re.compile(rf"^\+{gains + 1} / "))


LOOKS = [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]
"""On a desk and on a phone, in light and dark."""
TWO_LOOKS = LOOKS[::3]
"""Each of these once, for pages with much on them."""


def looked_at(visitor, looks=LOOKS):
    """What axe-core finds; and nothing may stick out at the side."""
    faults = []
    for size, scheme in looks:
        visitor.page.set_viewport_size(size)
        visitor.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        faults += serious_faults(visitor)
        wide = visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, (visitor.page.url, size, wide)
    return faults


def test_axe_finds_no_serious_fault_where_strangers_meet(hall, visit):
    ann, bob = visit(hall, "Ann"), visit(hall, "Bob")
    ann.go("/leaderboard/backgammon/fevga")
    expect(ann.page.get_by_text("Nobody has played a ranked game of Backgammon: Fevga yet.")).to_be_visible()
    assert looked_at(ann) == []
    play_ranked(ann)
    expect(ann.page.get_by_text(f"{NOUGHTS}, ranked")).to_be_visible()
    button(ann, f"A bot to play {NOUGHTS} with").click()
    assert looked_at(ann, TWO_LOOKS) == []
    play_ranked(bob)
    is_seated(ann, bob)
    win(*in_turn(ann, bob))
    expect(ann.page.get_by_test_id("rating")).to_have_count(2)
    assert looked_at(ann, TWO_LOOKS) == []
    ann.go("/leaderboard")
    mine = ann.page.get_by_role("row").filter(has_text="you")
    expect(mine).to_be_visible()
    assert looked_at(ann) == []
    mine.get_by_role("link").click()
    expect(ann.page.get_by_role("link", name="Replay")).to_be_visible()
    assert looked_at(ann) == []
    bob.open_room()
    button(bob, "Add a bot").click()
    assert looked_at(bob, TWO_LOOKS) == []
    button(bob, "Perfect").click()
    bob.sees("Your turn")
    assert looked_at(bob, TWO_LOOKS) == []
