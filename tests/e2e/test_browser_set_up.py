"""Setting a game up and inviting a friend to it, by clicking alone: cards, presets, the link and the door."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, PHONE

pytestmark = pytest.mark.e2e

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
SHEET = """refuse => {
    window.shared = [];
    navigator.share = async (what) => {
        window.shared.push(what);
        if (refuse) throw new DOMException("", refuse);
    };
}"""
"""A phone's own share sheet, which this browser does not have."""


def choose(dialog, *titles):
    for title in titles:
        dialog.locator(".choices, .cards").get_by_text(title, exact=True).click()


def open_room(visitor):
    visitor.page.get_by_role("button", name="Open the room").click()
    visitor.page.wait_for_url(re.compile(r"/r/\w+$"))
    return visitor.page.url.rpartition("/")[2]


def arrive(visitor):
    visitor.go("/").page.get_by_label("Your name").fill(visitor.name)
    return visitor


def with_sheet(visitor, refuse=None):
    visitor.context.add_init_script(f"({SHEET})({f'{refuse!r}' if refuse else 'null'})")
    return visitor


@pytest.mark.parametrize("screen", [{"viewport": DESKTOP}, TOUCH], ids=["desktop", "phone"])
def test_a_host_chooses_by_cards_and_presets_a_friend_sees_what_they_accept_and_both_play(
    server, visit, screen
):
    ann, bob = with_sheet(visit(server, "Ann", **screen)), visit(server, "Bob", **screen)
    arrive(ann).page.get_by_role("button", name="Set up Backgammon").click()
    dialog = ann.page.get_by_role("dialog")
    expect(dialog.locator(".cards svg.board")).to_have_count(6)
    choose(dialog, "Plakoto", "5 points")
    dialog.get_by_label("Clock").select_option("1 minute a turn")
    room = open_room(ann)
    waiting = ann.page.get_by_role("region", name="Waiting for your friend")
    expect(waiting).to_contain_text("Plakoto · 5 points · 1 minute a turn")
    expect(waiting).to_contain_text("You can close this page: the room waits 14 days for you both.")
    expect(waiting.get_by_role("img", name="The link as a QR code")).to_be_visible()
    waiting.get_by_role("button", name="Send").click()
    (sent,) = ann.page.evaluate("window.shared")
    assert sent == {"title": "Backgammon: Plakoto", "url": ann.page.url}
    expect(ann.page.get_by_role("heading", name=f"Backgammon: Plakoto {room}")).to_be_visible()

    bob.page.goto(sent["url"])
    expect(bob.page).to_have_title("Backgammon: Plakoto · Parlour")
    expect(bob.page.get_by_text("Ann is waiting for you.")).to_be_visible()
    accepted = bob.page.get_by_role("list", name="What is played here").get_by_role("listitem")
    expect(accepted).to_have_text(["Plakoto", "5 points", "1 minute a turn"])
    bob.page.get_by_label("Your name").fill("Bob")
    bob.page.get_by_role("button", name="Sit down").click()
    for visitor in (ann, bob):
        expect(visitor.page.get_by_role("region", name="Waiting for your friend")).to_have_count(0)
        expect(visitor.board).to_be_visible()
    assert server.room(room)["config"]["opening_dice"] is True


def test_a_preset_sets_what_stands_under_more_and_a_change_there_is_no_preset_any_more(server, visit):
    dialog = arrive(visit(server, "Ann")).set_up("Backgammon")
    choose(dialog, "7 points")
    expect(dialog.get_by_label("Length")).to_have_value("seven_points")
    expect(dialog.get_by_label("Crawford rule")).to_be_checked()
    dialog.get_by_label("Crawford rule").uncheck()
    expect(dialog.get_by_role("radio", name="7 points")).not_to_be_checked()
    expect(dialog.get_by_text("As you have set it below.")).to_be_visible()
    choose(dialog, "Casual")
    expect(dialog.get_by_label("Length")).to_have_value("cash")
    expect(dialog.get_by_label("Crawford rule")).to_be_checked()


def by_a_friend(first, _):
    first.click("A friend to play Backgammon with")


def by_a_bot(first, _):
    first.click("A bot to play Backgammon with")
    first.click("Play the bot")


def by_set_up(first, _):
    first.click("Set up Backgammon")
    first.click("Open the room")


def by_play_now(*both):
    for who in both:
        who.click("Play now: Backgammon")


def by_ranked(*both):
    for who in both:
        who.click("Set up Backgammon")
        choose(who.page.get_by_role("dialog"), "Ranked")
        who.page.get_by_role("dialog").get_by_role("button", name="Play now").click()


def by_the_leaderboard(*both):
    for who in both:
        who.go("/leaderboard/backgammon").click("Play ranked: Backgammon")


WAYS_IN = [by_a_friend, by_a_bot, by_set_up, by_play_now, by_ranked, by_the_leaderboard]


@pytest.mark.parametrize("way", WAYS_IN, ids=lambda way: way.__name__)
def test_whoever_sets_nothing_plays_backgammon_with_an_opening_roll_and_with_crawford(server, visit, way):
    ann, bob = (arrive(visit(server, name)) for name in ("Ann", "Bob"))
    way(ann, bob)
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    config = server.room(ann.page.url.rpartition("/")[2])["config"]
    assert (config["opening_dice"], config["crawford"]) == (True, True)


def test_a_room_for_its_players_alone_says_so_at_its_door_and_lets_nobody_watch(server, visit):
    ann, bob, eve = (visit(server, name) for name in ("Ann", "Bob", "Eve"))
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Who may watch").select_option("Nobody")
    expect(dialog.get_by_label("Players and spectators talk apart")).to_have_count(0)
    room = open_room(ann)
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_text("Only those who play see this room.")).to_be_visible()
    expect(bob.page.get_by_role("button", name="Only watch")).to_have_count(0)
    bob.come_in(room)
    ann.sees("Your turn")
    eve.go(f"/r/{room}")
    expect(
        eve.page.get_by_text("Every seat is taken, and only those who play may see this room.")
    ).to_be_visible()
    expect(eve.page.get_by_role("button", name="Watch")).to_have_count(0)
    eve.page.get_by_role("link", name="To the games").click()
    expect(eve.page.get_by_label("Your name")).to_be_visible()


def test_players_and_spectators_who_talk_apart_do_not_read_each_other(server, visit):
    ann, bob, eve = (visit(server, name) for name in ("Ann", "Bob", "Eve"))
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Players and spectators talk apart").check()
    room = open_room(ann)
    bob.come_in(room)
    eve.come_in(room, "Watch")
    for who, readers in (
        (ann, "Only players read this"),
        (bob, "Only players read this"),
        (eve, "Only spectators read this"),
    ):
        line = who.page.get_by_label("Say something")
        expect(line).to_have_attribute("placeholder", readers)
        expect(line).to_have_accessible_description(readers)
    eve.say("take the centre")
    bob.say("good luck")
    expect(ann.page.get_by_text("good luck")).to_be_visible()
    expect(eve.page.get_by_text("take the centre")).to_be_visible()
    expect(ann.page.get_by_text("take the centre")).to_have_count(0)
    expect(eve.page.get_by_text("good luck")).to_have_count(0)


@pytest.mark.parametrize("screen", [{"viewport": DESKTOP}, TOUCH], ids=["desktop", "phone"])
def test_who_may_watch_and_that_they_talk_apart_is_told_at_the_door_while_waiting_and_with_the_link(
    server, visit, screen
):
    ann, bob, eve = (visit(server, name, **screen) for name in ("Ann", "Bob", "Eve"))
    dialog = arrive(ann).set_up("Noughts")
    dialog.get_by_label("Who may watch").select_option("Whoever has the link")
    dialog.get_by_label("Players and spectators talk apart").check()
    room = open_room(ann)
    told = "Whoever has the link may watch. Players and spectators talk apart."
    expect(ann.page.get_by_role("region", name="Waiting for your friend")).to_contain_text(told)
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_text(told)).to_be_visible()
    bob.come_in(room)
    eve.go(f"/r/{room}")
    expect(eve.page.get_by_text("Every seat is taken, but you can watch.")).to_be_visible()
    expect(eve.page.get_by_text(told)).to_be_visible()
    bob.click("Invite")
    expect(bob.page.get_by_role("dialog").get_by_text(told)).to_be_visible()


def test_where_all_talk_with_all_nothing_else_is_told(server, visit):
    ann, eve = visit(server, "Ann"), visit(server, "Eve")
    room = ann.open_room()
    expect(ann.page.get_by_label("Say something")).to_have_attribute("placeholder", "Say something")
    eve.go(f"/r/{room}")
    expect(eve.page.get_by_text("Anyone may watch.")).to_be_visible()
    expect(eve.page.get_by_text("talk apart")).to_have_count(0)


def test_whoever_plays_alone_plays_here(server, visit):
    ann, eve = visit(server, "Ann"), visit(server, "Eve")
    room = ann.open_room("Minesweeper")
    eve.go(f"/r/{room}")
    expect(eve.page.get_by_text("Ann plays here. Every seat is taken, but you can watch.")).to_be_visible()


@pytest.mark.parametrize(
    ("refuse", "told"),
    [
        ("NotAllowedError", "Your browser does not let this page send: select the link instead."),
        ("AbortError", None),
    ],
)
def test_a_share_sheet_that_fails_is_told_and_one_that_is_closed_is_not(server, visit, refuse, told):
    ann = with_sheet(visit(server, "Ann"), refuse)
    ann.open_room()
    waiting = ann.page.get_by_role("region", name="Waiting for your friend")
    waiting.get_by_role("button", name="Send").click()
    if told is None:
        assert len(ann.page.evaluate("window.shared")) == 1
        expect(waiting.get_by_text("does not let")).to_have_count(0)
    else:
        expect(waiting.get_by_role("status")).to_have_text(told)


def test_a_clipboard_that_is_refused_is_told(server, visit):
    ann = visit(server, "Ann")
    ann.context.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
    )
    ann.open_room()
    waiting = ann.page.get_by_role("region", name="Waiting for your friend")
    expect(waiting.get_by_role("button", name="Send")).to_have_count(0)  # where there is no share sheet
    waiting.get_by_role("button", name="Copy").click()
    expect(waiting.get_by_role("status")).to_have_text(
        "Your browser does not let this page copy: select the link instead."
    )


def test_a_link_that_only_works_here_says_how_to_let_a_phone_in(server, visit):
    ann = visit(server, "Ann")
    ann.open_room()
    waiting = ann.page.get_by_role("region", name="Waiting for your friend")
    expect(waiting.get_by_text("This link works on this computer alone.")).to_be_visible()
    expect(waiting.get_by_text("parlour serve --lan")).to_be_visible()
