"""How to play: one tap from the room and from home, by keyboard too, and nothing in a page runs."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PHONE
from tests.e2e.test_browser_access import serious_faults

pytestmark = pytest.mark.e2e

WISH = {"game": "backgammon", "config": {"variant": "plakoto"}, "id": "rules.room"}
HOSTILE = """
from parlour import Game


class Hostile(Game):
    name = "hostile"
    display_name = "Hostile"
    seats = range(1, 2)
    State = int
    rules = "Do <script>document.title = 'gone'</script> not [press](javascript:alert(1)) this."

    def init(self, config, moment):
        return 0
"""


def test_the_rules_of_the_variant_open_from_the_room_and_close_by_a_key(server, visit):
    ann = visit(server, "Ann", viewport=PHONE)
    ann.go("/")
    ann.page.evaluate("wish => fetch('/api/rooms', { method: 'POST', body: JSON.stringify(wish) })", WISH)
    ann.come_in(WISH["id"])
    ann.tab_to("How to play")
    ann.press("Enter")
    rules = ann.page.get_by_role("dialog", name="How to play")
    expect(rules.get_by_role("heading", name="Plakoto")).to_be_visible()
    expect(rules.get_by_role("img", name=re.compile("pinned a dark checker"))).to_be_attached()
    assert serious_faults(ann) == []
    ann.press("Escape")
    expect(rules).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_rules_page_of_a_game_leads_to_its_variants(server, visit, scheme):
    ann = visit(server, "Ann", color_scheme=scheme).go("/")
    ann.page.get_by_role("link", name="How to play Backgammon").click()
    expect(ann.page.get_by_role("heading", name="Backgammon", level=1)).to_be_visible()
    ann.page.get_by_role("link", name="Fevga").click()
    expect(ann.page.get_by_role("heading", name="Fevga", level=1)).to_be_visible()
    assert ann.page.url.endswith("/rules/backgammon/fevga")
    assert serious_faults(ann) == []
    ann.provoked = {400, 404}
    ann.go("/rules/chess")
    expect(ann.page.get_by_role("alert")).to_contain_text("The rules could not be read")


def test_script_tags_in_a_rules_page_are_letters(serve, visit, tmp_path):
    (tmp_path / "hostile.py").write_text(HOSTILE)
    ann = visit(serve(tmp_path / "hostile.py"), "Ann").go("/rules/hostile")
    expect(ann.page.get_by_text("Do <script>document.title = 'gone'</script> not")).to_be_visible()
    expect(ann.page.get_by_role("link", name="press")).to_have_count(0)
    assert ann.page.title().startswith("How to play")
