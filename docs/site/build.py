"""Builds the documentation as a site: the Markdown of the repository, with the navigation of docs/index.md.

The pages are copied to a folder of their own first, laid out as in the repository, so that links between
them stay as they are.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from api import api_pages

ROOT = Path(__file__).parents[2]
OUTSIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
CONFIG = """
[project]
site_name = "Parlour"
site_description = "A multiplayer game server for Python: a game is one file of pure rules."
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = {nav}

[project.theme]
font = false
features = [
  "content.code.copy", "navigation.footer", "navigation.sections", "navigation.top", "search.highlight",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{ icon = "lucide/sun", name = "Switch to dark mode" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{ icon = "lucide/moon", name = "Switch to light mode" }}

[project.extra]
generator = false

[project.markdown_extensions]
tables = {{}}
toc.permalink = true
pymdownx.superfences = {{}}
pymdownx.highlight.pygments_lang_class = true
"""


def sections(index: str) -> dict[str, dict[str, str]]:
    """What docs/index.md lists under each of its headings: paths of pages from the root, by title."""
    found = {}
    for part in index.split("\n## ")[1:]:
        links = re.findall(r"^- \[(.+?)\]\(([^)#]+)\)", part, re.MULTILINE)
        found[part.partition("\n")[0]] = {title: from_root(path) for title, path in links}
    return found


def from_root(path: str) -> str:
    """The path of a page from the root, where docs/index.md has it from docs/."""
    return path.removeprefix("../") if path.startswith("../") else f"docs/{path}"


def toml(value: object) -> str:
    """A value of text, lists and tables as TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return json.dumps(value)


def navigation(listed: dict[str, dict[str, str]]) -> list[dict[str, object]]:
    """The tree beside every page: the README, the index, a branch for each of its headings, and the API."""
    branches: list[dict[str, object]] = [
        {heading: [{title: path} for title, path in pages.items()]} for heading, pages in listed.items()
    ]
    branches.append({"API": [{name: f"docs/api/{name}.md"} for name in api_pages()]})
    return [{"Parlour": "README.md"}, {"Documentation": "docs/index.md"}, *branches]


def copy_pages(stage: Path) -> None:
    """Copy every page; where one links to a file that is no part of the site, its path is told instead."""
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, stage / folder, ignore=shutil.ignore_patterns("__pycache__", "site"))
    for file in OUTSIDE:
        shutil.copy(ROOT / file, stage)
    (stage / "docs" / "api").mkdir()
    for name, text in api_pages().items():
        (stage / "docs" / "api" / f"{name}.md").write_text(text, encoding="utf-8")
    for page in stage.rglob("*.md"):

        def told(link: re.Match[str], page: Path = page) -> str:
            target = (page.parent / link[2]).resolve()
            if "://" in link[2] or target.exists():
                return link[0]
            return f"{link[1]} (`{target.relative_to(stage.resolve())}` in the repository)"

        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"\[([^]]+)\]\(([^)#\s]+)\)", told, text), encoding="utf-8")


def build(target: Path) -> int:
    """Build the site into *target*; a warning, such as a dead link, is an error, and nothing is built."""
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        (stage / "pages").mkdir()
        copy_pages(stage / "pages")
        listed = sections((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
        (stage / "zensical.toml").write_text(CONFIG.format(nav=toml(navigation(listed))), encoding="utf-8")
        generator = Path(sys.executable).with_name("zensical")
        built = subprocess.run(  # noqa: S603
            [generator, "build", "--strict"], cwd=stage, capture_output=True, text=True, check=False
        )
        if built.returncode:
            sys.stderr.write(built.stdout + built.stderr)
            return built.returncode
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(stage / "site", target)
    sys.stdout.write(f"docs: read them with python3 -m http.server --bind 127.0.0.1 --directory {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
