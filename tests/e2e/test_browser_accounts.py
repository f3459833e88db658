"""Accounts in the browser: a guest becomes one, other devices sign in, and sign out again."""

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PHONE
from tests.e2e.qr import read_qr
from tests.e2e.test_browser_access import serious_faults

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


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


def test_a_link_that_was_used_says_so(server, visit):
    ann, phone, thief = visit(server, "Beatrix"), visit(server, ""), visit(server, "")
    thief.provoked.add(410)
    open_account(ann)
    path = show_link(ann).removeprefix(f"http://{server.address}")
    phone.go(path).page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Beatrix", exact=True)).to_be_visible()
    thief.go(path).page.get_by_role("button", name="Sign in").click()
    expect(thief.page.get_by_role("alert")).to_have_text(
        "This link was used, or is older than two minutes. Show a new one on the device that is signed in."
    )


def test_signing_out_everywhere_else_closes_the_other_browsers_socket_at_once(server, visit):
    ann, phone = visit(server, "Carla"), visit(server, "")
    code = open_account(ann)
    phone.go("/account").page.get_by_label("Recovery code").fill(code)
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.get_by_role("heading", name="Carla", exact=True)).to_be_visible()
    with phone.page.expect_websocket() as opened:
        phone.go("/watch")
    ann.page.reload()
    button = ann.page.get_by_role("button", name="Sign out everywhere else")
    with phone.page.expect_event("websocket"), opened.value.expect_event("close"):
        button.click()  # the phone comes back, as somebody else
    expect(ann.page.get_by_role("button", name="Sign out: ")).to_have_count(1)
    assert identity(ann)["name"] == "Carla"


def test_who_deletes_the_account_is_a_guest_again(server, visit):
    ann = visit(server, "Dorothea")
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
