"""Accounts in the browser: a guest becomes one, other devices sign in, and sign out again."""

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import CLUB, PHONE
from tests.e2e.pictures_lobby import lose
from tests.e2e.qr import read_qr
from tests.e2e.servers import Guest
from tests.e2e.test_browser_access import serious_faults

pytestmark = pytest.mark.e2e

PRESENT = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
"""An authenticator whose owner is there and shows their finger at once."""
SOCKETS_THAT_END = """
window.ends = [];
const Real = window.WebSocket;
window.WebSocket = class extends Real {
    constructor(...how) { super(...how); this.addEventListener("close", () => ends.push(Date.now())); }
};
"""
NOTES_CLICKS = "addEventListener('click', () => (sessionStorage.clicked = Date.now()), true)"
AT_ONCE = 2000
"""Milliseconds."""


def open_account(visitor):
    """A guest makes an account by the keyboard alone; the recovery code that is shown."""
    page = visitor.go("/account").page
    page.get_by_role("textbox", name="Your name").focus()
    page.keyboard.type(visitor.name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=visitor.name, exact=True)).to_be_visible()
    return page.get_by_test_id("code").inner_text()


def show_link(visitor):
    """The link that is shown for another device: as text, and as a QR code that says the same."""
    visitor.page.get_by_role("button", name="Show a link").click()
    link = visitor.page.get_by_test_id("sign-in-link").inner_text()
    image = visitor.page.get_by_role("img", name="The link as a QR code")
    expect(image.locator("path")).not_to_have_attribute("d", "")
    assert read_qr(image) == link
    return link


def identity(visitor):
    """Who the server says that this browser is."""
    return visitor.page.evaluate("fetch('/api/account').then((answer) => answer.json())")


def test_an_account_moves_to_a_phone_by_a_link_and_to_a_third_browser_by_its_code(server, visit):
    ann, phone, other = visit(server, "Anouk"), visit(server, "", viewport=PHONE), visit(server, "")
    with ann.page.expect_websocket():  # by then it is somebody
        ann.go("/watch")
    guest = identity(ann)
    code = open_account(ann)
    assert identity(ann)["id"] == guest["id"]
    assert serious_faults(ann) == []
    link = show_link(ann)
    assert serious_faults(ann) == []
    phone.go(link.removeprefix(f"http://{server.address}"))
    assert serious_faults(phone) == []
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Anouk", exact=True)).to_be_visible()
    other.go("/account").page.get_by_label("Recovery code").fill(code.lower())
    assert serious_faults(other) == []
    other.page.get_by_role("button", name="Sign in").click()
    expect(other.page.get_by_role("heading", name="Anouk", exact=True)).to_be_visible()
    assert {identity(one)["id"] for one in (ann, phone, other)} == {guest["id"]}


GUEST_LEFT = {
    "en-GB": ("Dorothy", "You play here as the guest Cat.", "Recovery code", "Sign in", "Stay as this guest"),
    "de-DE": (
        "Dorothea",
        "Du spielst hier als Gast Cat.",
        "Wiederherstellungscode",
        "Anmelden",
        "Dieser Gast bleiben",
    ),
}


@pytest.mark.parametrize("locale", GUEST_LEFT)
def test_who_plays_as_a_guest_is_asked_before_signing_in_leaves_that_guest_behind(server, visit, locale):
    name, words, field, go_on, stay = GUEST_LEFT[locale]
    ann, cat = visit(server, name), visit(server, "Cat", locale=locale)
    code = open_account(ann)
    cat.go("/").page.get_by_role("banner").get_by_role("textbox").fill(cat.name)
    cat.press("Enter")
    cat.page.wait_for_function("() => localStorage.named")
    cat.go("/account").page.get_by_label(field).fill(code)
    sign_in = cat.page.get_by_role("button", name=go_on, exact=True)
    sign_in.click()
    dialog = cat.page.get_by_role("dialog")
    expect(dialog).to_contain_text(words)
    assert serious_faults(cat) == []
    dialog.get_by_role("button", name=stay).click()
    expect(dialog).to_be_hidden()
    expect(sign_in).to_be_focused()
    assert identity(cat)["name"] == cat.name
    cat.go(show_link(ann).removeprefix(f"http://{server.address}"))
    expect(cat.page.get_by_role("main")).to_contain_text(words)
    cat.go("/account").page.get_by_label(field).fill(code)
    sign_in.click()
    dialog.get_by_role("button", name=go_on).click()
    expect(cat.page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_an_account_whose_answer_was_lost_is_found_by_its_code(server, visit):
    ann = visit(server, "Ann")
    page = ann.go("/account").page
    lost: list[int] = []

    def lose_answer(route):
        if route.request.method == "POST":
            lost.append(route.fetch().status)
            route.abort("connectionrefused")
        else:
            route.continue_()

    page.route("**/api/account", lose_answer)
    page.route("**/api/sign-in", lambda route: route.abort("connectionrefused"))
    page.get_by_role("textbox", name="Your name").fill(ann.name)
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "If the account was made, this recovery code signs you in"
    )
    assert lost == [201]
    page.unroute("**/api/sign-in")
    page.get_by_role("textbox", name="Your name").fill("Annabel")
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_role("heading", name=ann.name, exact=True)).to_be_visible()
    expect(page.get_by_text("by an earlier try, under the name Ann.")).to_be_visible()
    page.unroute("**/api/account")
    code = page.get_by_test_id("code").inner_text()
    phone = visit(server, "Guest", viewport=PHONE)
    phone.go("/account").page.get_by_label("Recovery code").fill(code)
    phone.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(phone.page.get_by_role("heading", name=ann.name, exact=True)).to_be_visible()


def test_a_link_that_was_used_says_so(server, visit):
    ann, phone, thief = visit(server, "Beatrix"), visit(server, ""), visit(server, "")
    thief.provoked.add(410)
    open_account(ann)
    path = show_link(ann).removeprefix(f"http://{server.address}")
    phone.go(path).page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Beatrix", exact=True)).to_be_visible()
    thief.go(path).page.get_by_role("button", name="Sign in").click()
    expect(thief.page.get_by_role("alert")).to_have_text(
        "This link is not valid any more: it works once and lasts two minutes. "
        "Show a new one on the device that is signed in."
    )


def test_signing_out_everywhere_else_closes_the_other_browsers_socket_within_two_seconds(server, visit):
    ann, phone = visit(server, "Carla"), visit(server, "")
    phone.context.add_init_script(SOCKETS_THAT_END)
    code = open_account(ann)
    phone.go("/account").page.get_by_label("Recovery code").fill(code)
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Carla", exact=True)).to_be_visible()
    with phone.page.expect_websocket() as opened:
        phone.go("/watch")
    ann.page.reload()
    ann.page.evaluate(NOTES_CLICKS)
    button = ann.page.get_by_role("button", name="Sign out everywhere else")
    with phone.page.expect_event("websocket"), opened.value.expect_event("close"):
        button.click()  # the phone comes back, as somebody else
    expect(ann.page.get_by_role("button", name="Sign out: ")).to_have_count(1)
    took = phone.page.evaluate("ends[0]") - int(ann.page.evaluate("sessionStorage.clicked"))
    assert 0 <= took <= AT_ONCE
    assert identity(ann)["name"] == "Carla"


def test_who_deletes_the_account_is_a_guest_again(server, visit):
    ann = visit(server, "Dagmar")
    open_account(ann)
    ann.page.get_by_role("button", name="Delete my account").click()
    expect(ann.page.get_by_role("button", name="Keep it")).to_be_focused()
    assert serious_faults(ann) == []
    ann.page.get_by_role("button", name="Delete for ever").click()
    expect(ann.page.get_by_label("Your name")).to_be_visible()
    assert identity(ann.go("/games"))["since"] is None


def test_a_name_that_looks_taken_is_told_beside_the_field(server, visit):
    ann, other = visit(server, "Eleonore"), visit(server, "EIeonore")
    other.provoked.add(409)
    open_account(ann)
    page = other.go("/account").page
    page.get_by_role("textbox", name="Your name").fill(other.name)
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_role("alert")).to_have_text(
        "Another account has this name, or one that looks like it."
    )


# Passkeys: browsers have them at localhost, and not at another name without https.


def visit_by_name(visitor, path, name="localhost"):
    """Open a page of the server by one of its names."""
    visitor.page.goto(f"http://{name}:{visitor.server.port}{path}")
    return visitor.page


def give_authenticator(visitor, *credentials):
    """A device that holds these passkeys already; gives the way to ask for all that it holds."""
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("WebAuthn.enable")
    id = session.send("WebAuthn.addVirtualAuthenticator", {"options": PRESENT})["authenticatorId"]
    for credential in credentials:
        session.send("WebAuthn.addCredential", {"authenticatorId": id, "credential": credential})
    return lambda: session.send("WebAuthn.getCredentials", {"authenticatorId": id})["credentials"]


def rating(visitor):
    """By the page of whoever this browser is."""
    id = identity(visitor)["id"]
    visitor.page.goto(f"{visitor.page.url.partition('/account')[0]}/p/{id}")
    shown = visitor.page.get_by_role("region", name="Ratings")
    expect(shown).to_contain_text("1662")
    return id, shown.inner_text()


def test_a_guest_gets_a_passkey_and_other_browsers_by_link_and_by_passkey_are_the_same_rated_player(
    serve, visit
):
    server = serve()
    ann, phone, laptop = visit(server, "Florence"), visit(server, "", viewport=PHONE), visit(server, "")
    page = visit_by_name(ann, "/account")
    held = give_authenticator(ann)
    expect(page.get_by_role("textbox", name="Your name")).to_be_visible()  # by then it is somebody
    guest = identity(ann)["id"]
    (token,) = [one["value"] for one in ann.context.cookies(page.url) if one["name"] == "parlour_token"]
    lose(server, server.guest("Bob"), Guest(guest, "Florence", token), "ranked")
    page.get_by_role("textbox", name="Your name").fill("Florence")
    assert serious_faults(ann) == []
    page.get_by_role("button", name="Make it with a passkey").click()
    expect(page.get_by_role("heading", name="Florence", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Remove the passkey: ")).to_have_count(1)
    assert serious_faults(ann) == []
    phone.page.goto(show_link(ann))
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Florence", exact=True)).to_be_visible()
    (passkey,) = held()
    visit_by_name(laptop, "/account")
    give_authenticator(laptop, passkey)
    laptop.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(laptop.page.get_by_role("heading", name="Florence", exact=True)).to_be_visible()
    ratings = {rating(one) for one in (ann, phone, laptop)}
    assert [id for id, _ in ratings] == [guest], ratings


def test_who_signs_out_everywhere_else_is_led_to_a_new_code_and_to_the_passkeys(server, visit):
    ann, phone = visit(server, "Ida"), visit(server, "")
    page = visit_by_name(ann, "/account")
    give_authenticator(ann)
    page.get_by_role("textbox", name="Your name").fill("Ida")
    page.get_by_role("button", name="Make it with a passkey").click()
    expect(page.get_by_role("button", name="Remove the passkey: ")).to_have_count(1)
    phone.page.goto(show_link(ann))
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Ida", exact=True)).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Sign out everywhere else").click()
    told = page.get_by_role("status").filter(has_text="All other devices are signed out")
    expect(told).to_be_focused()
    expect(told).to_contain_text("may know your recovery code, or have added a passkey")
    expect(page.get_by_role("button", name="Sign out: ")).to_have_count(1)
    assert serious_faults(ann) == []
    told.get_by_role("link", name="Look through the passkeys").click()
    expect(page.get_by_role("heading", name="Passkeys")).to_be_in_viewport()
    told.get_by_role("link", name="Make a new recovery code").click()
    expect(page.get_by_role("heading", name="Recovery code")).to_be_in_viewport()
    page.get_by_role("button", name="Make a new code").click()
    expect(page.get_by_test_id("code")).to_be_visible()
    expect(told).to_be_visible()


def test_where_a_name_is_reached_by_plain_http_the_page_says_why_there_are_no_passkeys_and_a_code_works(
    server, visit
):
    ann, other = visit(server, "Gerda"), visit(server, "")
    page = visit_by_name(ann, "/account", CLUB)
    expect(page.get_by_test_id("no-passkeys")).to_contain_text("over https alone, or at localhost")
    expect(page.get_by_role("button", name="passkey")).to_have_count(0)
    page.get_by_role("textbox", name="Your name").fill("Gerda")
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_role("heading", name="Gerda", exact=True)).to_be_visible()
    code = page.get_by_test_id("code").inner_text()
    visit_by_name(other, "/account", CLUB).get_by_label("Recovery code").fill(code)
    other.page.get_by_role("button", name="Sign in").click()
    expect(other.page.get_by_role("heading", name="Gerda", exact=True)).to_be_visible()
    assert identity(other)["id"] == identity(ann)["id"]


def test_an_authenticator_without_a_passkey_of_this_site_signs_nobody_in_and_the_page_says_so(server, visit):
    ann = visit(server, "Hilda")
    page = visit_by_name(ann, "/account")
    give_authenticator(ann)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert").filter(has_text="No passkey came")).to_be_visible()
    assert identity(ann)["since"] is None
