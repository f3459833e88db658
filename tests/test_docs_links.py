"""Links between the pages of the documentation, the list of all pages, and words that stay out of them."""

import importlib
import re

import pytest

from tests.test_docs import PAGES, ROOT, read


def test_at_most_15_screenshots_are_kept_and_all_others_are_made_anew():
    kept = [
        one.name for one in (ROOT / "docs" / "images").iterdir() if one.suffix in (".png", ".webp", ".jpg")
    ]
    assert len(kept) <= 15, kept
    assert "screenshots/" in (ROOT / ".gitignore").read_text().split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


def test_the_index_lists_every_page_once():
    listed = re.findall(r"^- \[.+?\]\(([^)#]+)\)", read("docs/index.md"), re.MULTILINE)
    pages = [(ROOT / "docs" / path).resolve() for path in listed]
    assert sorted(pages) == sorted({*PAGES} - {ROOT / "README.md", ROOT / "docs" / "index.md"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_heading_leads_to_one(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text()):
        text = ((page.parent / target) if target else page).read_text()
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
        assert anchor in anchors, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_a_word_that_nobody_uses_any_more(page):
    assert not re.findall(r"\b(afresh|anew|mend|mends|mended|whence)\b", page.read_text(), re.IGNORECASE)


def test_the_api_reference_has_everything_that_a_game_imports(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    pages = importlib.import_module("api").api_pages()
    for name, page in pages.items():
        for shown in getattr(importlib.import_module(name), "__all__", ()):
            assert f"\n## `{shown}`\n" in page, (name, shown)
    assert "### `Game.handle_event`" in pages["parlour"]
    assert "### `Table.act`" in pages["parlour.testing"]


def test_every_command_of_make_that_a_page_names_is_there():
    lines = re.findall(r"^([a-z][a-z -]*):", read("Makefile"), re.MULTILINE)
    targets = {name for line in lines for name in line.split()}
    for page in PAGES:
        named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", page.read_text(), re.MULTILINE))
        assert named <= targets, (page.name, named - targets)
