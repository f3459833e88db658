"""Evenings at real browsers: open, share, join, play, talk, break, come back, look again."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

X_WINS = (("centre", "top left"), ("top right", "right"))
"""What X and O mark in turn; then X wins at the bottom left."""


@pytest.fixture
def table(server, visit):
    """Ann and Bob at noughts and crosses, and Eve, who watches."""
    ann, bob, eve = (visit(server, name) for name in ("Ann", "Bob", "Eve"))
    room = ann.open_room()
    ann.sees("Waiting for another player")
    bob.come_in(room)
    eve.come_in(room, "Watch")
    ann.sees("Your turn")
    return room, ann, bob, eve


def play(ann, bob):
    """Everything but the last move."""
    for mine, yours in X_WINS:
        ann.mark(mine)
        bob.sees("Your turn")
        bob.mark(yours)
        ann.sees("Your turn")


def win(ann, bob):
    play(ann, bob)
    ann.mark("bottom left")
    ann.sees("You win: three in a row")


def test_two_play_to_the_end_while_a_third_watches(table):
    _, ann, bob, eve = table
    win(ann, bob)
    for visitor in (bob, eve):
        visitor.sees("Ann wins: three in a row")
        expect(visitor.board.locator("[data-piece]")).to_have_count(5)
    expect(eve.page.get_by_text("1 person is watching")).to_be_visible()
    expect(eve.page.get_by_role("region", name="Moves").get_by_role("listitem")).to_have_text(
        ["1 Ann: centre", "2 Bob: top left", "3 Ann: top right", "4 Bob: right", "5 Ann: bottom left"]
    )


def test_a_spectator_cannot_play(table):
    _, _, _, eve = table
    expect(eve.board.get_by_role("button")).to_have_count(0)
    eve.board.click()
    eve.sees("Waiting for Ann")
    assert not [frame for frame in eve.frames if frame[3] == "phx_reply" and frame[4]["status"] == "error"]


def test_whoever_comes_to_a_full_table_is_offered_to_watch(table, server, visit):
    room, *_ = table
    fay = visit(server, "Fay").go(f"/r/{room}")
    expect(fay.page.get_by_text("Every seat is taken, but you can watch.")).to_be_visible()
    expect(fay.page.get_by_role("button", name="Sit down")).to_have_count(0)
    fay.page.get_by_role("button", name="Watch").click()
    fay.sees("Waiting for Ann")


def test_everybody_hears_what_is_said_and_markup_stays_text(table):
    _, ann, bob, eve = table
    words = "<img src=x onerror=alert(1)><script>alert(2)</script> & good luck"
    eve.say(words)
    for visitor in (ann, bob, eve):
        expect(visitor.page.get_by_role("log").get_by_text(words)).to_be_visible()
        assert visitor.page.locator("img").count() == 0


def test_a_name_of_markup_is_a_name(server, visit):
    name = "<b onclick=alert(1)>Mallory"
    mallory, ann = visit(server, name), visit(server, "Ann")
    room = mallory.open_room()
    ann.come_in(room)
    expect(ann.page.get_by_text(name, exact=True)).to_be_visible()
    assert ann.page.locator("b").count() == 0


def test_a_page_that_is_loaded_anew_in_the_middle_goes_on_with_the_game_and_the_talk(table):
    _, ann, bob, eve = table
    bob.say("a moment, please")
    expect(ann.page.get_by_text("a moment, please")).to_be_visible()
    play(ann, bob)
    for visitor in (ann, bob, eve):
        visitor.page.reload()
        expect(visitor.board.locator("[data-piece]")).to_have_count(4)
        expect(visitor.page.get_by_text("a moment, please")).to_be_visible()
    ann.mark("bottom left")
    bob.sees("Ann wins: three in a row")


def test_the_game_goes_on_in_all_browsers_after_the_server_was_killed_and_started_again(serve, visit):
    server = serve()
    ann, bob, eve = (visit(server, name) for name in ("Ann", "Bob", "Eve"))
    room = ann.open_room()
    bob.come_in(room)
    eve.come_in(room, "Watch")
    play(ann, bob)
    for visitor in (ann, bob, eve):
        visitor.page.evaluate("window.stayed = true")
    server.kill()
    expect(ann.page.get_by_text(re.compile("Reconnecting.*: your game is safe"))).to_be_visible()
    expect(eve.page.get_by_text(re.compile("^Reconnecting"))).to_be_visible()
    server.start()
    for visitor in (ann, bob, eve):
        expect(visitor.page.get_by_text("Reconnecting")).to_have_count(0)
    ann.mark("bottom left")
    ann.sees("You win: three in a row")
    for visitor in (bob, eve):
        visitor.sees("Ann wins: three in a row")
    assert all(visitor.page.evaluate("window.stayed") for visitor in (ann, bob, eve))


def test_a_move_that_was_made_while_the_server_was_away_is_made_once(serve, visit):
    server = serve()
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    bob.come_in(room)
    ann.sees("Your turn")
    server.kill()
    expect(ann.page.get_by_text(re.compile("Reconnecting"))).to_be_visible()
    ann.mark("centre")
    server.start()
    bob.sees("Your turn")
    bob.mark("top left")
    ann.sees("Your turn")
    expect(bob.board.locator("[data-piece]")).to_have_count(2)


def test_a_rematch_begins_when_both_have_asked(table):
    _, ann, bob, eve = table
    win(ann, bob)
    ann.page.get_by_role("button", name="Rematch").click()
    expect(ann.page.get_by_role("button", name="Asked for a rematch")).to_be_disabled()
    expect(bob.page.get_by_text("Ann would like a rematch")).to_be_visible()
    bob.page.get_by_role("button", name="Rematch").click()
    bob.sees("Your turn")
    eve.sees("Waiting for Bob")
    bob.mark("centre")
    ann.sees("Your turn")
    expect(ann.page.get_by_role("button", name="Rematch")).to_have_count(0)


def test_after_the_end_the_game_can_be_seen_again_with_the_seed(table, server):
    room, ann, bob, eve = table
    win(ann, bob)
    eve.page.get_by_role("link", name="Replay").click()
    slider = eve.page.get_by_role("slider", name="Moment")
    expect(slider).to_have_attribute("max", "6")
    pieces = eve.board.locator("[data-piece]")
    expect(pieces).to_have_count(0)
    slider.fill("3")
    expect(pieces).to_have_count(2)
    slider.press("End")
    expect(pieces).to_have_count(5)
    expect(eve.page.get_by_text("Ann wins: three in a row")).to_be_visible()
    eve.page.get_by_text("Fair play").click()
    expect(eve.page.get_by_text(server.room(room)["seeds"][0]["seed"])).to_be_visible()


def leave(who):
    """Give the seat up, and say that it is meant."""
    who.page.get_by_role("button", name="Leave").click()
    who.page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    who.page.wait_for_url(re.compile("/$"))


def test_whoever_leaves_gives_the_seat_up_and_somebody_else_can_take_it(table):
    _, ann, bob, eve = table
    leave(bob)
    expect(ann.page.get_by_text("Nobody yet")).to_be_visible()
    eve.page.get_by_role("button", name="Sit here").click()
    expect(ann.page.locator("[data-seat='1']")).to_contain_text("Eve")


def test_whoever_stays_is_told_that_the_other_has_left_and_who_comes_instead(table):
    _, ann, bob, eve = table
    leave(bob)
    expect(ann.page.get_by_text("Bob has left the table.")).to_be_visible()
    expect(ann.page.get_by_role("log").get_by_text("Bob has left the table")).to_be_visible()
    eve.page.get_by_role("button", name="Sit here").click()
    expect(ann.page.get_by_role("log").get_by_text("Eve sits down")).to_be_visible()
    expect(ann.page.get_by_text("Bob has left the table.")).to_have_count(0)


def test_two_people_of_one_name_are_told_apart(server, visit):
    ann, other, watcher = (visit(server, "Ann") for _ in range(3))
    room = ann.open_room()
    other.come_in(room)
    watcher.come_in(room, "Watch")
    ann.sees("Your turn")
    other.sees("Waiting for Ann")
    for visitor in (ann, other, watcher):
        names = visitor.page.locator("[data-seat]").get_by_role("link")
        assert sorted(names.all_inner_texts()) == ["Ann", "Ann 2"]
    for visitor, words in ((other, "hello"), (watcher, "good luck")):
        visitor.say(words)
    lines = ann.page.get_by_role("log").get_by_role("listitem")
    expect(lines).to_have_text(["Ann 2 sits down", "Ann 2 guest hello", "Ann guest (watching) good luck"])


def test_a_seat_that_changes_hands_while_the_page_looks_who_sits_is_shown_at_last(table):
    room, ann, bob, eve = table
    looks: list[Any] = []

    def hold_the_first(route):
        if looks:
            route.continue_()
        else:
            looks.append((route, route.fetch()))

    ann.page.route(re.compile(f"/api/rooms/{room}$"), hold_the_first)
    leave(bob)
    eve.page.get_by_role("button", name="Sit here").click()
    expect(eve.page.locator("[data-seat='1']")).to_contain_text("Eve")
    expect(ann.page.get_by_text("1 person is watching")).to_have_count(0)
    [(route, before)] = looks
    route.fulfill(response=before)
    expect(ann.page.locator("[data-seat='1']")).to_contain_text("Eve")


def test_a_move_that_is_refused_says_why_beside_the_board(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    behind: list[str] = []

    def hold_back(line):
        """Ann's page is told everything but updates, once the line is bad."""
        upstream = line.connect_to_server()
        upstream.on_message(lambda told: None if behind and '"update"' in told else line.send(told))

    ann.page.route_web_socket(re.compile("/socket/"), hold_back)
    room = ann.open_room()
    bob.come_in(room)
    ann.sees("Your turn")
    behind.append("from now on")
    ann.mark("centre")
    bob.sees("Your turn")
    ann.mark("left")
    expect(ann.page.get_by_role("alert").get_by_text("It is O's turn")).to_be_visible()


# The home page.


def test_a_room_for_anybody_is_listed_at_once_and_can_be_joined_from_there(serve, visit):
    server = serve()
    bob = visit(server, "Bob").go("/")
    expect(bob.page.get_by_text("No room is open to everybody.")).to_be_visible()
    ann = visit(server, "Ann").go("/")
    ann.page.get_by_label("Your name").fill("Ann")
    ann.set_up("Noughts")
    ann.page.get_by_role("combobox", name="Who can come in").select_option("Anybody: it is in the list")
    ann.page.get_by_role("button", name="Open the room").click()
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    room = ann.page.url.rpartition("/")[2]
    bob.page.get_by_label("Your name").fill("Bob")
    bob.page.get_by_role("button", name=f"Sit down: Ann, room {room}").click()
    bob.sees("Waiting for Ann")
    ann.sees("Your turn")
    ann.go("/")
    expect(ann.page.get_by_role("button", name=f"Play on: Ann and Bob, room {room}")).to_be_visible()


def test_a_room_for_a_friend_is_in_no_list_and_its_invitation_says_so(server, visit):
    ann = visit(server, "Ann")
    room = ann.open_room()
    assert server.room(room)["listed"] is False
    assert room not in [one["id"] for one in server.call("GET", "/api/rooms").json()]
    ann.page.get_by_role("button", name="Invite", exact=True).click()
    expect(ann.page.get_by_role("dialog").get_by_text("This room is in no list.")).to_be_visible()


def test_a_room_is_joined_by_its_code_in_small_letters_too(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    bob.go("/").page.get_by_label("Join a friend").fill(room.lower())
    bob.press("Enter")
    bob.sees("Waiting for Ann")


def test_a_code_that_opens_nothing_says_so_at_the_field(server, visit):
    bob = visit(server, "Bob").go("/")
    bob.provoked.add(404)
    bob.page.get_by_label("Join a friend").fill("QQQQQ")
    bob.press("Enter")
    expect(bob.page.get_by_text("There is no room QQQQQ.")).to_be_visible()


def test_a_wrong_setting_is_told_at_its_field_by_the_page_or_by_the_server_and_nothing_typed_is_lost(
    server, visit
):
    ann = visit(server, "Ann").go("/")
    dialog = ann.set_up("Minesweeper")
    width, mines = dialog.get_by_label("Width"), dialog.get_by_label("Mines", exact=True)
    for typed in ("wide", "100", "0"):
        width.fill(typed)
        dialog.get_by_role("button", name="Open the room").click()
        expect(width).to_have_accessible_description(re.compile("^Type a number here: 1 to 99."))
        expect(width).to_be_focused()
        expect(width).to_have_value(typed)
    ann.provoked.add(400)
    width.fill("8")
    mines.fill("72")
    dialog.get_by_text("More", exact=True).click()  # folded away again
    dialog.get_by_role("button", name="Open the room").click()
    expect(mines).to_have_accessible_description(re.compile("^Expected fewer than the 8 x 9 cells, got 72"))
    expect(mines).to_be_focused()
    expect(width).to_have_value("8")
    mines.fill("12")
    ann.page.get_by_role("button", name="Open the room").click()
    expect(ann.spots).to_have_count(8 * 9)


def test_a_room_by_a_name_of_ones_own_is_the_running_one_or_a_new_one(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    for visitor in (ann, bob):
        visitor.go("/")
        visitor.page.get_by_label("Your name").fill(visitor.name)
        visitor.set_up("Noughts")
        visitor.page.get_by_role("textbox", name="A name for the room").fill("our-corner")
        visitor.page.get_by_role("button", name="Open the room").click()
        visitor.page.wait_for_url(re.compile("/r/our-corner$"))
    ann.sees("Your turn")
    bob.provoked.add(409)
    bob.go("/").set_up("Minesweeper")
    bob.page.get_by_role("textbox", name="A name for the room").fill("our-corner")
    bob.page.get_by_role("button", name="Open the room").click()
    expect(bob.page.get_by_role("dialog").get_by_text(re.compile("our-corner"))).to_be_visible()


# Links that lead nowhere.


def test_an_unknown_room_has_a_page_that_says_so(server, visit):
    ann = visit(server, "Ann")
    ann.provoked.add(404)
    ann.go("/r/NOWHERE")
    expect(ann.page.get_by_role("heading", name="There is no room NOWHERE")).to_be_visible()
    ann.page.get_by_role("link", name="To the games").click()
    expect(ann.page.get_by_role("button", name="Play Minesweeper")).to_be_visible()


@pytest.mark.parametrize("path", ["/nowhere", "/r/", "/r/AB CD", "/games/tictactoe"])
def test_a_mistyped_address_has_a_page_with_a_way_home(server, visit, path):
    ann = visit(server, "Ann")
    ann.provoked.add(404)
    ann.go(path)
    expect(ann.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    ann.page.get_by_role("link", name="To the games").click()
    expect(ann.page.get_by_role("button", name="Play Minesweeper")).to_be_visible()
    answer = server.call("GET", "/api/nowhere", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_room_that_ends_says_so_and_offers_its_replay_then_and_later(serve, visit):
    server = serve()
    ann, eve = visit(server, "Ann"), visit(server, "Eve")
    room = ann.open_room("Minesweeper")
    eve.come_in(room, "Watch")
    leave(ann)
    eve.sees("This room has closed.")  # Minesweeper gives a player five seconds to change their mind
    expect(eve.page.get_by_role("link", name="Watch the replay")).to_be_visible()
    eve.page.reload()
    expect(eve.page.get_by_role("heading", name="This room has closed.")).to_be_visible()
    eve.page.get_by_role("link", name="Watch the replay").click()
    expect(eve.page.get_by_role("slider", name="Moment")).to_be_visible()
