"""The pages for developers in a real browser: they run under the same policy as the page for players."""

import httpx
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e


def test_the_page_of_calls_shows_every_call_of_the_document(server, visit):
    document = httpx.get(f"http://{server.address}/api/openapi.json", trust_env=False).json()
    calls = [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]
    page = visit(server, "Ann").go("/api/docs").page
    expect(page.get_by_role("heading", level=2)).to_have_text(calls)
    opened = page.locator("section").filter(has_text="POST /api/rooms").first
    expect(opened).to_contain_text("takes")
    expect(opened).to_contain_text("gives 201")
    expect(opened).to_contain_text("refuses with 400")


def test_a_list_of_calls_that_cannot_be_read_is_said_so(server, visit):
    ann = visit(server, "Ann")
    ann.provoked.add(429)
    ann.page.route("**/api/openapi.json", lambda route: route.fulfill(status=429))
    ann.go("/api/docs")
    expect(ann.page.get_by_text("could not be read")).to_contain_text("status 429")


def test_the_page_of_relays_runs_without_a_complaint_of_the_browser(server, visit):
    page = visit(server, "Ann").go("/relay").page
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_role("status")).to_have_text("connected to /g/red-table")
    expect(page.get_by_role("listitem").first).to_contain_text('"Intent":"Welcome"')
