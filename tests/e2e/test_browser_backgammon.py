"""Backgammon and its family at real browsers: by clicks, by dragging, by keys and by touch."""

import re
from functools import partial
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.e2e.backgammon import hasten, luck_for
from tests.e2e.browser import PHONE
from tests.e2e.hands import (
    SLOW,
    button,
    choose,
    drag,
    movable,
    move,
    roll,
    say_yes,
    tap,
    targets,
    used,
    wait_for_dice,
)

pytestmark = pytest.mark.e2e


@pytest.fixture
def sit(server, visit):
    """Ann and Bob at a match of their own, each at a browser."""

    def down(options=None, **config):
        room = server.open_room("backgammon", config=config)["id"]
        return room, tuple(visit(server, name, **(options or {})).come_in(room) for name in ("Ann", "Bob"))

    return down


# What two do.


def wait_for_turn(pair):
    """Who is to play, once both browsers agree."""
    expect(pair[0].page.locator(".bar.turn")).to_have_count(1, timeout=SLOW)
    seat = pair[0].page.locator(".bar.turn").get_attribute("data-seat")
    expect(pair[1].page.locator(f".bar.turn[data-seat='{seat}']")).to_have_count(1, timeout=SLOW)
    return pair[int(seat)]


def play_turn(pair, **how):
    """Whoever is on turn rolls, moves and ends the turn; False when the game is over by it."""
    who = wait_for_turn(pair)
    roll(who)
    over, end = button(who, "Ready").or_(button(who, "Rematch")), button(who, "End the turn")
    while True:
        expect(movable(who).first.or_(end).or_(over).first).to_be_visible(timeout=SLOW)
        if over.count():
            return False
        if end.count():
            break
        move(who, **how)
    end.click()
    expect(who.page.locator(".bar.mine")).to_have_count(0, timeout=SLOW)
    return True


def start(pair, *, by_key=False):
    """Both say that they are ready; who begins."""
    for who in pair:
        who.press(" ") if by_key else button(who, "Ready").click()
    for who in pair:
        button(who, "Offers and resigning").click()
        expect(button(who, "Resign single")).to_be_visible(timeout=SLOW)  # a game is on
        button(who, "Offers and resigning").click()
    return wait_for_turn(pair)


def tokens(pair):
    return [who.token for who in pair]


def play_on(server, pair, room, until):
    """Play at random until it is so, quicker than browsers do; then they have seen it all."""
    hasten(server, tokens(pair), room, until)
    for who in pair:
        who.catch_up(server.room(room)["seq"])


def nearly_over(view):
    """The one on turn has at most four checkers left: a turn later it could be over."""
    return view["phase"] == "roll" and view["checkers"][view["turn"]][0] >= 11


# Matches.


def test_a_tavli_match_is_played_to_its_end_on_all_three_boards(server, sit):
    room, pair = sit(variant="tavli")
    ann, bob = pair
    ann.sees("Ready for a game of portes?")
    start(pair)
    expect(ann.spot("bar of Ann")).to_be_attached()
    play_turn(pair)
    play_turn(pair, dragging=True)
    play_on(server, pair, room, nearly_over)
    while play_turn(pair):
        pass
    ann.sees("Ready for a game of plakoto?")
    start(pair)
    expect(ann.spot("point 24, 15 checkers of Ann")).to_be_attached()
    expect(bob.spot("point 24, 15 checkers of Bob")).to_be_attached()
    for _ in range(4):
        play_turn(pair)
    loser = wait_for_turn(pair)
    choose(loser, "Resign gammon")
    say_yes(loser)
    ann.sees("Ready for a game of fevga?")
    start(pair)
    expect(ann.spot("hand of Ann, 14 checkers of Ann")).to_be_attached()
    expect(ann.spot("both go this way around")).to_be_attached()
    for _ in range(4):
        play_turn(pair)
    play_on(server, pair, room, nearly_over)
    while play_turn(pair):
        pass
    for who in pair:
        expect(who.status).to_have_text(re.compile("^(You win|(Ann|Bob) wins|A draw): "))
    games = [game["variant"] for game in final(server, pair, room)["match"]["games"]]
    assert games == ["portes", "plakoto", "fevga"]


def final(server, pair, room):
    """The last view of Ann's."""
    steps = server.call(
        "GET",
        f"/api/rooms/{room}/history?from={server.room(room)['seq']}&limit=1",
        headers={"Authorization": f"Bearer {tokens(pair)[0]}"},
    ).json()["steps"]
    return steps[-1]["view"]


def before_the_second_roll(pair):
    """Who may be the first to double, and who began."""
    first = start(pair)
    expect(button(first, "Roll")).to_be_visible(timeout=SLOW)
    expect(button(first, "Double to 2")).to_have_count(0)
    play_turn(pair)
    return wait_for_turn(pair), first


def test_a_double_is_offered_and_taken_a_move_undone_and_the_game_resigned(sit):
    _, pair = sit(variant="backgammon")
    first, second = before_the_second_roll(pair)
    tap(first, first.board.locator("[data-piece=doubling]"))
    second.sees(f"{first.name} doubles to 2")
    first.sees(f"{second.name} may take a double to 2")
    button(second, "Take at 2").click()
    first.sees("Your turn: roll")
    for who in pair:
        expect(who.spot(f"cube of {second.name}, cube at 2")).to_be_attached()
    roll(first)
    before = first.board.locator("[data-piece^=x], [data-piece^=o]").evaluate_all(PLACES)
    move(first)
    for left in reversed(range(used(first))):  # a move by several dice is undone die by die
        button(first, "Undo").click()
        expect(first.board.locator(".piece.dim[data-piece^=die]")).to_have_count(left, timeout=SLOW)
    assert first.board.locator("[data-piece^=x], [data-piece^=o]").evaluate_all(PLACES) == before
    choose(first, "Resign single")
    expect(
        first.page.get_by_text(f"Offer to lose this game for 2 points? {second.name} may refuse.")
    ).to_be_visible()
    say_yes(first)
    second.sees(f"{first.name} resigns for 2 points")
    button(second, "Refuse").click()
    first.sees(f"{second.name} plays on for more than 2 points")
    choose(first, "Resign gammon")
    say_yes(first)
    button(second, "Accept 4 points").click()
    first.sees(f"{second.name} wins: 4 \N{EN DASH} 0 (resigned)")
    second.sees("You win: 4 \N{EN DASH} 0 (resigned)")


def test_whoever_declines_a_double_loses_the_game_and_the_board_shows_how_the_match_stands(sit):
    _, pair = sit(variant="backgammon", match="five_points")
    first, second = before_the_second_roll(pair)
    button(first, "Double to 2").click()
    button(second, "Drop").click()
    expect(second.page.get_by_text("Lose this game at 1?")).to_be_visible()
    say_yes(second)
    for who, score in ((first, "1 \N{EN DASH} 0"), (second, "0 \N{EN DASH} 1")):
        who.sees("Ready for a game of backgammon?")
        expect(who.spot(f"score {score}, to 5")).to_have_text(score)
        expect(who.board.get_by_text("to 5", exact=True)).to_be_visible()
        expect(who.page.get_by_text(f"backgammon: {first.name} wins 1 (declined)")).to_be_visible()


def test_whoever_lets_the_clock_run_out_loses_the_game(sit):
    _, pair = sit(variant="portes", turn_seconds=10)  # as older clients ask for the room's clock
    first = start(pair)
    second = pair[1 - pair.index(first)]
    clock = second.page.locator(f".bar[data-seat='{pair.index(first)}'] time.hurry")
    expect(clock).to_be_visible(timeout=SLOW)
    over = f"{second.name} wins: 2 \N{EN DASH} 0 (out of time)"
    expect(first.status).to_have_text(over, timeout=2 * SLOW)  # the clock has ten seconds of its own
    second.sees("You win: 2 \N{EN DASH} 0 (out of time)")
    expect(second.page.locator(".bar time.hurry")).to_have_count(0)


PLACES = "all => all.map(one => [one.dataset.piece, one.getAttribute('transform')]).sort()"


# Ways to play.


def test_a_turn_is_played_by_keyboard_alone(sit):
    _, pair = sit(variant="portes")
    who = start(pair, by_key=True)
    who.page.get_by_role(
        "heading", level=1
    ).focus()  # a menu was looked into: the space bar would open it again
    who.press(" ")
    expect(who.board.locator("[data-piece^=die]").first).to_be_attached(timeout=SLOW)
    end = button(who, "End the turn")
    while True:
        expect(movable(who).first.or_(end).first).to_be_visible(timeout=SLOW)
        if end.count():
            break
        before = used(who)
        who.board.locator("[role=button][aria-label*=checker]").last.focus()
        who.press("Enter")
        expect(targets(who).first).to_be_attached()
        targets(who).last.focus()
        who.press("Enter")
        wait_for_dice(who, before)
    who.press("u")
    expect(end).to_have_count(0)
    expect(movable(who).first).to_be_attached()


def test_a_checker_is_borne_off_by_dragging_it_into_the_tray_or_by_a_double_click(server, sit):
    room, pair = sit(variant="portes")
    start(pair)
    play_on(server, pair, room, can_bear_off)
    who = wait_for_turn(pair)
    tray = who.board.locator(f"[data-spot=off{pair.index(who)}]")
    expect(tray).to_have_attribute("aria-label", f"borne off by {who.name}")
    expect(movable(who).first).to_be_visible(timeout=SLOW)
    drag(who, first_that_goes_to(who, tray), tray)
    for visitor in pair:
        expect(visitor.spot(f"borne off by {who.name}, checker of {who.name}")).to_be_attached(timeout=SLOW)
    play_on(server, pair, room, can_bear_off)
    who = wait_for_turn(pair)
    tray = who.board.locator(f"[data-spot=off{pair.index(who)}]")
    before = tray.get_attribute("aria-label")
    box = first_that_goes_to(who, tray).bounding_box()
    who.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tray).not_to_have_attribute("aria-label", before, timeout=SLOW)


def can_bear_off(view):
    return view["phase"] == "move" and any(way.split()[0].endswith("/off") for way in view["ways"])


def first_that_goes_to(who, tray):
    """A checker that may be put there: each is picked up to see, and let go again."""
    name = tray.get_attribute("data-spot")
    for checker in movable(who).all():
        tap(who, checker)
        expect(targets(who).first).to_be_attached()
        goes = who.board.locator(f"[data-spot={name}][aria-label$='can go here']").count()
        tap(who, checker)
        expect(targets(who)).to_have_count(0)
        if goes:
            return checker
    raise AssertionError(f"expected a checker that may go to {name}, there is none")


def test_turns_are_played_on_a_phone_by_touch(sit):
    _, pair = sit({"viewport": PHONE, "has_touch": True, "is_mobile": True}, variant="plakoto")
    start(pair)
    for _ in range(2):
        play_turn(pair, touch=True)
    for who in pair:
        wide = who.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0


BESIDE = """() => {
    const boxes = [...document.querySelectorAll("svg.board .spot.active")].map((spot) => {
        const { left, right, top, height } = spot.getBoundingClientRect();
        return { left, right, y: top + height / 2 };
    });
    const places = boxes.flatMap((box) => [box.left - 5, box.right + 5].map((x) => ({ box, x, y: box.y })));
    const isFar = (x, box) => x < box.left - 15 || x > box.right + 15;
    const { x, y } = places.find(({ box, x }) => boxes.every((other) => other === box || isFar(x, other)));
    return [x, y];
}"""
"""A place 5 pixels beside a point with something to move, with no other such point near."""


def test_a_finger_that_misses_a_point_by_a_little_has_hit_it(sit):
    _, pair = sit({"viewport": PHONE, "has_touch": True, "is_mobile": True})
    who = start(pair)
    roll(who)
    expect(movable(who).first).to_be_visible(timeout=SLOW)
    who.page.touchscreen.tap(*who.page.evaluate(BESIDE))
    expect(who.board.locator(".piece.picked")).to_have_count(1)
    expect(targets(who).first).to_be_attached()


WHERE = "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.left, box.right])"


@pytest.mark.parametrize(("swapped", "first"), [(False, 3), (True, 2)])
def test_one_click_plays_the_larger_die_and_clicks_on_the_dice_swap_them_and_end_the_turn(
    server, visit, swapped, first
):
    ann = with_three_and_two(server, visit)
    dice = ann.board.locator("[data-piece^=die]")
    if swapped:
        dice.first.click()
        ann.page.wait_for_function(f"() => ({LEFT_PIPS})() === 2", timeout=SLOW)
    used_pips = ann.board.locator(".piece.dim[data-piece^=die] .pip")
    for pips in (first, 5):
        tap(ann, movable(ann).last)
        expect(used_pips).to_have_count(pips, timeout=SLOW)
    expect(button(ann, "End the turn")).to_be_visible(timeout=SLOW)
    dice.last.click()
    expect(ann.page.locator(".bar.mine")).to_have_count(0, timeout=SLOW)


def with_three_and_two(server, visit):
    """Ann, who has rolled these in the opening: each checker can be played by each, and one click does it."""
    room = server.open_room("backgammon", config={"variant": "portes", "opening_dice": True})["id"]
    luck = luck_for(server.secret_seed(room), READY, 3, 2)
    ann, bob = (visit(server, name, picks_up=False) for name in ("Ann", "Bob"))
    for who in (ann, bob):
        who.context.add_init_script(BRING % luck)
        who.come_in(room)
    for who in (ann, bob):
        button(who, "Ready").click()
    expect(ann.board.locator("[data-piece^=die]")).to_have_count(2, timeout=SLOW)
    assert server.room(room)["seq"] == READY
    return ann


def press_twice(who, thing, between=None):
    """A double click on a place, whatever comes to lie there meanwhile."""
    box, mouse = thing.bounding_box(), who.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down(click_count=1)
    mouse.up(click_count=1)
    if between is not None:
        between()
    mouse.down(click_count=2)
    mouse.up(click_count=2)


@pytest.mark.parametrize("is_answered", [False, True], ids=["at once", "when the first was answered"])
def test_a_double_click_bears_one_checker_off_where_one_click_does(server, sit, is_answered):
    room, pair = sit({"picks_up": False}, variant="portes")
    start(pair)
    play_on(server, pair, room, can_only_bear_off_two)
    who = wait_for_turn(pair)
    seat = pair.index(who)
    expect(movable(who).first).to_be_visible(timeout=SLOW)
    before = final(server, pair, room)["checkers"][seat][0]
    press_twice(who, movable(who).last, partial(wait_for_dice, who, used(who)) if is_answered else None)
    who.say("was that all?")  # comes after whatever the clicks have sent
    who.reads("was that all?")
    assert final(server, pair, room)["checkers"][seat][0] == before + 1


def can_only_bear_off_two(view):
    """Every step of every way bears a checker off, and there are at least two."""
    ways = [way.split() for way in view["ways"]]
    all_off = all(step.endswith("/off") for way in ways for step in way)
    return view["phase"] == "move" and bool(ways) and all_off and min(map(len, ways)) >= 2


def test_two_quick_clicks_elsewhere_play_two_dice(server, visit):
    ann = with_three_and_two(server, visit)
    press_twice(ann, movable(ann).last, partial(wait_for_dice, ann, 0))
    expect(button(ann, "End the turn")).to_be_visible(timeout=SLOW)
    assert used(ann) == 2


def test_where_one_click_plays_a_checker_is_also_dragged_and_enter_is_a_click(server, visit):
    ann = with_three_and_two(server, visit)
    box, mouse = movable(ann).last.bounding_box(), ann.page.mouse
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20, y + 20, steps=3)
    where = targets(ann).last.bounding_box()
    mouse.move(where["x"] + where["width"] / 2, where["y"] + where["height"] / 2, steps=6)
    mouse.up()
    wait_for_dice(ann, 0)
    button(ann, "Undo").click()
    expect(ann.board.locator(".piece.dim[data-piece^=die]")).to_have_count(0, timeout=SLOW)
    ann.board.locator("[role=button][aria-label*=checker]").last.focus()
    ann.press("Enter")
    wait_for_dice(ann, 0)
    assert used(ann) == 1
    expect(ann.board.locator(".piece.picked")).to_have_count(0)


READY = 6
"""The step in which both are ready: two have sat down and come, and one has said so before."""
BRING = """const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
    return send.call(this, data.replace(/"luck":"[0-9a-f]{32}"/, '"luck":"%s"'));
};"""
"""A page adds these random bytes instead of its own."""
LEFT_PIPS = """() => {
    const dice = [...document.querySelectorAll("svg.board [data-piece^=die]")];
    const left = (die) => die.getBoundingClientRect().x;
    return dice.sort((one, other) => left(one) - left(other))[0].querySelectorAll(".pip").length;
}"""
"""What the die on the left shows, which is played first."""


def test_the_captions_of_the_board_do_not_run_into_each_other(sit):
    _, pair = sit()
    boxes = pair[0].board.locator(".caption").evaluate_all(WHERE)
    assert len(boxes) == 25, "24 points, and the name of the game"
    middle = pair[0].board.bounding_box()["height"] / 2
    for row in ([box for box in boxes if box[0] < middle], [box for box in boxes if box[0] > middle]):
        edges = sorted((left, right) for _, left, right in row)
        assert all(one[1] < other[0] for one, other in pairwise(edges)), edges


def test_rolls_and_ends_of_turns_go_by_themselves_for_whoever_chose_it(sit):
    _, pair = sit(variant="tavla")
    for who in pair:
        who.page.get_by_role("button", name="Options").click()
        who.page.get_by_label("Roll by itself, unless I may double").check()
        who.page.get_by_label("End my turn by itself").check()
    start(pair)
    for _ in range(2):
        who = wait_for_turn(pair)
        dice = who.board.locator("[data-piece^=die]").first
        expect(dice).to_be_attached(timeout=SLOW)
        number = dice.get_attribute("data-piece").partition(".")[0]
        while movable(who).count() and who.board.locator(f"[data-piece^='{number}.']").count():
            move(who)
        expect(who.board.locator(f"[data-piece^='{number}.']")).to_have_count(0, timeout=SLOW)
        expect(who.page.locator(".refusal")).to_have_count(0)


def test_pip_counts_are_hidden_for_whoever_chose_it_also_after_a_reload(sit):
    _, (ann, bob) = sit(variant="tavla")
    expect(ann.page.get_by_text("167 pips")).to_have_count(2)
    ann.page.get_by_role("button", name="Options").click()
    ann.page.get_by_label("Hide the pip counts").check()
    expect(ann.page.get_by_text("167 pips")).to_have_count(0)
    ann.page.reload()
    ann.sees("Ready for a game of tavla?")
    expect(ann.page.get_by_text("167 pips")).to_have_count(0)
    expect(bob.page.get_by_text("167 pips")).to_have_count(2)


def test_the_clock_of_a_turn_runs_beside_whose_turn_it_is(sit):
    _, pair = sit(variant="portes", turn_seconds=600, match="five_points")
    who = start(pair)
    other = pair[1 - pair.index(who)]
    for visitor in pair:
        bar = visitor.page.locator(f".bar[data-seat='{pair.index(who)}']")
        expect(bar.locator("time")).to_have_text(re.compile(r"^9:\d\d$"))
        expect(visitor.page.locator(f".bar[data-seat='{pair.index(other)}'] time")).to_have_text("10:00")
    expect(other.page.locator(".score")).to_have_text(["0", "0"])
