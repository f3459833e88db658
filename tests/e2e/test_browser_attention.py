"""Told without looking: the tab, sounds and notifications; and a browser that allows none of it."""

import json

import msgspec
import pytest
from playwright.sync_api import expect

from parlour.server.parts.notifications.messages import YourTurn
from tests.e2e.test_browser_settings import open_settings

pytestmark = pytest.mark.e2e

HIDEABLE = """
let away = false;
Object.defineProperty(document, "hidden", { get: () => away });
window.look = (elsewhere) => { away = elsewhere; document.dispatchEvent(new Event("visibilitychange")); };
"""
"""A browser whose tab can be hidden by a test."""

WATCHED = (
    HIDEABLE
    + """
window.notes = [];
window.pulses = [];
window.contexts = 0;
Navigator.prototype.vibrate = (pulse) => window.pulses.push(pulse) > 0;
const Real = window.AudioContext;
window.AudioContext = class extends Real { constructor() { super(); window.contexts += 1; } };
window.Notification = class {
    static permission = "default";
    static async requestPermission() { return (this.permission = "granted"); }
    constructor(title, { body }) { window.notes.push(`${title}: ${body}`); }
    close() {}
};
"""
)
"""The same, and it notes what it is asked to show, play and shake."""

REFUSED = WATCHED.replace('"granted"', '"denied"')
"""The same where its owner says no to notifications."""

SILENT = """
window.AudioContext = class { constructor() { throw new DOMException("off", "NotAllowedError"); } };
delete window.Notification;
delete Navigator.prototype.vibrate;
"""


def at_a_table(server, visit, script):
    """Ann, whose browser runs this script first, and Bob, who is to move."""
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    ann.context.add_init_script(script)
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    return ann, bob


def shows_icon(visitor, name):
    expect(visitor.page.locator("link[rel=icon]")).to_have_attribute("href", name)


def test_a_turn_is_noticed_while_the_tab_is_hidden(server, visit):
    ann, bob = at_a_table(server, visit, WATCHED)
    expect(ann.page).to_have_title("● Your turn · Noughts and crosses · Parlour")
    shows_icon(ann, "/icon-turn.svg")
    ann.mark("centre")
    bob.sees("Your turn")
    expect(ann.page).to_have_title("Noughts and crosses · Parlour")
    shows_icon(ann, "/icon.svg")
    ann.page.evaluate("look(true)")
    bob.mark("left")
    expect(ann.page).to_have_title("● Your turn · Noughts and crosses · Parlour")
    assert ann.page.evaluate("notes") == []  # nobody has asked for it yet, and nobody was asked
    ann.page.evaluate("look(false)")
    ann.page.get_by_role("button", name="Tell me next time").click()
    expect(ann.page.get_by_text("You are told when it is your turn")).to_be_visible()
    ann.mark("top")
    ann.page.evaluate("look(true)")
    bob.sees("Your turn")
    bob.mark("right")
    expect(ann.page).to_have_title("● Your turn · Noughts and crosses · Parlour")
    assert ann.page.evaluate("notes") == ["Noughts and crosses: Your turn"]


def test_nothing_is_heard_before_the_first_gesture_and_sounds_go_off_with_one_tap(server, visit):
    ann, bob = at_a_table(server, visit, WATCHED)
    ann.mark("centre")
    ann.page.wait_for_function("() => contexts === 1")
    ann.page.reload()
    bob.sees("Your turn")
    bob.mark("left")
    ann.sees("Your turn")
    assert ann.page.evaluate("contexts") == 0
    ann.page.get_by_role("button", name="Turn the sounds off").click()
    ann.mark("top")
    bob.sees("Your turn")
    assert ann.page.evaluate("contexts") == 0
    ann.page.get_by_role("button", name="Turn the sounds on").click()
    ann.page.wait_for_function("() => contexts === 1")


def test_a_browser_that_allows_neither_sound_nor_notifications_plays_all_the_same(server, visit):
    ann, bob = at_a_table(server, visit, SILENT)
    sheet = open_settings(ann)
    switch = sheet.get_by_role("checkbox", name="Tell me when it is my turn")
    switch.click()
    expect(sheet.get_by_role("status")).to_contain_text("does not let this page notify you")
    expect(switch).not_to_be_checked()
    sheet.get_by_role("button", name="Done").click()
    ann.mark("centre")
    bob.sees("Your turn")
    bob.mark("left")
    ann.sees("Your turn")


def test_whoever_refuses_notifications_is_told_where_else_to_look_and_not_asked_again(server, visit):
    ann, bob = at_a_table(server, visit, REFUSED)
    for mine, yours in (("centre", "left"), ("top", "right")):
        ann.mark(mine)
        bob.sees("Your turn")
        ann.page.evaluate("look(true)")
        bob.mark(yours)
        expect(ann.page).to_have_title("● Your turn · Noughts and crosses · Parlour")
        ann.page.evaluate("look(false)")
        if mine == "centre":
            ann.page.get_by_role("button", name="Tell me next time").click()
        expect(ann.page.get_by_text("does not let this page notify you")).to_be_visible()
    expect(ann.page.get_by_role("button", name="Tell me next time")).to_have_count(0)
    assert ann.page.evaluate("notes") == []


# Web push: what the server sends is handed to the service worker as a push service does it.

COUNT_SHOWN = """
const show = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = async function (...all) {
    await show.apply(this, all);
    shown += 1;
};
self.shown = 0;
"""
"""Counts what is on the screen: Chromium may lose what somebody asks for before it is there."""


def the_worker(visitor):
    """The service worker of a visitor's pages."""
    (worker,) = visitor.context.service_workers
    return worker


WORDS_KEPT = "caches.match('/turn-words.json').then((file) => file?.json())"


def service_worker(visitor, title="Noughts and crosses"):
    """The way to push a message to the page's service worker, once that calls noughts and crosses so."""
    visitor.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    visitor.page.wait_for_function(
        f"title => {WORDS_KEPT}.then((words) => words?.titles.tictactoe === title)", arg=title
    )
    found = []
    session = visitor.context.new_cdp_session(visitor.page)
    session.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    session.send("ServiceWorker.enable")
    origin = f"http://{visitor.server.address}"
    while not found or not visitor.context.service_workers:
        visitor.page.evaluate("1")  # events are heard meanwhile
    worker = the_worker(visitor)
    worker.evaluate(COUNT_SHOWN)
    (id,) = {one["registrationId"] for one in found if one["scopeURL"] == f"{origin}/"}

    def push(message):
        before = worker.evaluate("shown")
        session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": origin, "registrationId": id, "data": msgspec.json.encode(message).decode()},
        )
        while worker.evaluate("shown") == before:
            pass

    return push


SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({ title, body, tag, data }) => [title, body, tag, data]).sort()"""


NOTE_WHAT_IS_KEPT = """
window.kept = [];
const put = Cache.prototype.put;
Cache.prototype.put = async function (path, file) {
    await put.call(this, path, file);
    kept.push(path);
};
"""


def your_turn(room, game, title, *against, guests=()):
    site = f"https://play.example/r/{room}"
    return YourTurn("1-2-x", "ann", room, site, game, title, against, 0.0, None, guests=guests)


def shows(visitor, *expected):
    """Wait for exactly these notifications: one that is replaced is gone for a moment."""
    found = f"({SHOWN})().then((all) => JSON.stringify(all))"
    wanted = json.dumps(sorted(expected), separators=(",", ":"))
    visitor.page.wait_for_function(f"wanted => {found}.then((all) => all === wanted)", arg=wanted)


@pytest.mark.parametrize("first", ["home", "a room"])
def test_a_pushed_turn_is_shown_once_for_each_room_in_the_readers_language(server, visit, first):
    ann = visit(server, "Ann", permissions=["notifications"], locale="de-DE", service_workers="allow")
    ann.go("/" if first == "home" else f"/r/{server.open_room()['id']}")
    push = service_worker(ann, "Drei gewinnt")
    hers = ("Du bist dran", "Du bist dran bei Drei gewinnt: Bob (Gast) wartet", "turn ABCD", "/r/ABCD")
    for _ in range(2):
        push(your_turn("ABCD", "tictactoe", "Noughts and crosses", "Bob", guests=(True,)))
    shows(ann, hers)
    push(your_turn("EFGH", "new_game", "A New Game"))
    shows(ann, hers, ("Du bist dran", "A New Game wartet auf dich", "turn EFGH", "/r/EFGH"))


def test_a_page_that_does_not_know_the_games_keeps_what_they_are_called_in_a_notification(server, visit):
    ann = visit(server, "Ann", permissions=["notifications"], locale="de-DE", service_workers="allow")
    ann.go("/")
    service_worker(ann, "Drei gewinnt")
    ann.context.add_init_script(NOTE_WHAT_IS_KEPT)
    ann.provoked = {503}
    ann.page.route("**/api/games", lambda route: route.fulfill(status=503))
    ann.go(f"/r/{server.open_room()['id']}")
    ann.page.wait_for_function("() => kept.includes('/offline.html')")
    assert ann.page.evaluate(f"{WORDS_KEPT}.then(({{ titles }}) => titles.tictactoe)") == "Drei gewinnt"


def test_a_pushed_turn_calls_the_bots_of_the_server_as_the_pages_do(server, visit):
    ann = visit(server, "Ann", permissions=["notifications"], locale="de-DE", service_workers="allow")
    ann.go("/")
    push = service_worker(ann, "Drei gewinnt")
    ann.page.wait_for_function(f"() => {WORDS_KEPT}.then(({{ bots }}) => bots['Random bot'] !== undefined)")
    push(your_turn("ABCD", "tictactoe", "Noughts and crosses", "Random bot 2"))
    push(your_turn("EFGH", "tictactoe", "Noughts and crosses", "Ann bot"))
    said = "Du bist dran bei Drei gewinnt: {} wartet"
    bots = ("Du bist dran", said.format("Bot Zufall 2"), "turn ABCD", "/r/ABCD")
    shows(ann, bots, ("Du bist dran", said.format("Ann bot"), "turn EFGH", "/r/EFGH"))


def test_a_pushed_turn_at_a_table_of_more_says_that_they_wait(server, visit):
    ann = visit(server, "Ann", permissions=["notifications"], service_workers="allow").go("/")
    service_worker(ann)(your_turn("ABCD", "hearts", "Hearts", "Bob", "Cat", guests=(False, True)))
    shows(ann, ("Your turn", "Your turn at Hearts: Bob, Cat (guest) wait", "turn ABCD", "/r/ABCD"))


# A notification is pressed: the event is given to the real service worker. Browsers let it open and raise
# windows only when a hand has pressed, so what it asks for is noted, and a tab that it would raise is told.

PRESS = """async (tag) => {
    const opened = [];
    const work = [];
    Clients.prototype.openWindow = async (path) => void opened.push(path);
    WindowClient.prototype.focus = async function () { this.postMessage("raised"); };
    const [notification] = await registration.getNotifications({ tag });
    const event = new NotificationEvent("notificationclick", { notification });
    event.waitUntil = (promise) => work.push(promise);
    dispatchEvent(event);
    await Promise.all(work);
    return opened;
}"""

LISTEN = """
window.raised = 0;
navigator.serviceWorker.onmessage = () => { window.raised += 1; };
window.focus = () => { window.raised += 1; };
"""


@pytest.fixture
def ann(server, visit):
    """Somebody whose browser may notify her, and whose tabs count how often they were raised."""
    ann = visit(server, "Ann", permissions=["notifications"], service_workers="allow")
    ann.context.add_init_script(HIDEABLE + LISTEN)
    return ann


def press(visitor, room):
    """Press the notification of a room; gives the addresses at which tabs are opened."""
    return the_worker(visitor).evaluate(PRESS, f"turn {room}")


def waits(room):
    """The notification of a turn at noughts and crosses."""
    return ("Your turn", "Your turn at Noughts and crosses: Bob waits", f"turn {room}", f"/r/{room}")


def push_turns(visitor, *rooms):
    push = service_worker(visitor)
    for room in rooms:
        push(your_turn(room, "tictactoe", "Noughts and crosses", "Bob"))
    shows(visitor, *map(waits, rooms))


@pytest.mark.parametrize("visits", ["first", "second"])
def test_a_pressed_notification_raises_the_tab_that_has_its_room_open(server, ann, visits):
    """Also one that was there before the service worker, as the first of a browser is."""
    room = server.open_room()["id"]
    ann.go(f"/r/{room}")
    if visits == "second":
        ann.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        ann.page.reload()
    assert ann.page.evaluate("navigator.serviceWorker.controller !== null") == (visits == "second")
    other = ann.context.new_page()
    other.goto(f"http://{server.address}/")
    push_turns(ann, room, "EFGH")
    assert press(ann, room) == []
    ann.page.wait_for_function("() => raised === 1")
    assert other.evaluate("raised") == 0
    shows(ann, waits("EFGH"))


def test_a_pressed_notification_of_a_room_that_no_tab_has_open_opens_it_in_a_new_one(server, ann):
    room = server.open_room()["id"]
    ann.go("/")
    push_turns(ann, room)
    (address,) = press(ann, room)
    shows(ann)
    assert ann.page.evaluate("raised") == 0
    ann.go(address)
    expect(ann.page.get_by_role("button", name="Sit down")).to_be_visible()


def test_a_notification_that_is_pressed_after_all_tabs_were_closed_opens_one(server, ann):
    room = server.open_room()["id"]
    ann.go(f"/r/{room}")
    push_turns(ann, room)
    ann.page.close()
    assert press(ann, room) == [f"/r/{room}"]


LIKE_A_PHONE = """
Notification = class extends Notification { constructor() { throw new TypeError("Illegal constructor"); } };
"""
"""On phones a page leaves its notifications to the service worker."""
LIKE_A_DESKTOP = """
Notification = class extends Notification { constructor(...all) { super(...all); window.made = this; } };
"""


def miss_a_turn(ann, bob):
    """Ann wants to be told, and looks elsewhere when her turn begins; the room."""
    room = ann.server.open_room()["id"]
    for who in (ann, bob):
        who.come_in(room)
    cookie = {"Cookie": f"parlour_token={ann.token}"}
    ann.server.call("PUT", "/api/players/me/preferences", {"notify": True}, headers=cookie)
    with ann.page.expect_response("**/me/preferences"):
        ann.page.reload()
    ann.sees("Your turn")
    ann.mark("centre")
    bob.sees("Your turn")
    ann.page.evaluate("look(true)")
    bob.mark("left")
    return room


def test_a_notification_of_a_page_on_a_phone_raises_that_page_when_it_is_pressed(server, visit, ann):
    ann.page.add_init_script(COUNT_SHOWN + LIKE_A_PHONE)
    room = miss_a_turn(ann, visit(server, "Bob"))
    ann.page.wait_for_function("() => shown === 1")
    shows(ann, ("Noughts and crosses", "Your turn", f"turn {room}", f"/r/{room}"))
    assert press(ann, room) == []
    ann.page.wait_for_function("() => raised === 1")
    shows(ann)


def test_a_notification_of_a_page_on_a_desktop_raises_that_page_when_it_is_pressed(server, visit, ann):
    ann.page.add_init_script(LIKE_A_DESKTOP)
    miss_a_turn(ann, visit(server, "Bob"))
    ann.page.wait_for_function("() => window.made?.title === 'Noughts and crosses'")
    ann.page.evaluate("made.dispatchEvent(new Event('click'))")
    assert ann.page.evaluate("raised") == 1
