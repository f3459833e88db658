"""Builds the page for browsers into the package, so that no wheel and no sdist is ever without it.

Node.js is needed for that, and only here: an sdist has the built page already, and an editable install is for
those who build it by `make setup`.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("src", "parlour", "web", "index.html")
SOURCES = ("api-docs.html", "index.html", "panel.html", "relay.html", "package.json", "package-lock.json",
           "public", "src", "catalogues.ts", "svelte.config.js", "tsconfig.json",
           "vite.config.ts")  # fmt: skip


class PageHook(BuildHookInterface[Any]):
    """Sees to the page before anything is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        root = Path(self.root)
        if version == "editable" or is_built(root):
            return
        for script in ("setup-page", "build-page"):
            try:
                subprocess.run([str(root / "scripts" / script)], check=True, stdout=sys.stderr)  # noqa: S603
            except (OSError, subprocess.CalledProcessError):
                sys.exit(
                    "parlour: the page for browsers could not be built, and no wheel is made without it; "
                    "above is why. Node.js 20.19 or newer builds it; published wheels and sdists have it."
                )


def is_built(root: Path) -> bool:
    """Whether the page is there and none of its sources is newer; in an sdist none is."""
    page = root / PAGE
    if not page.is_file() or (root / "PKG-INFO").is_file():
        return page.is_file()
    made = page.stat().st_mtime
    parts = (part for name in SOURCES for part in ((root / "web" / name), *(root / "web" / name).rglob("*")))
    return all(part.stat().st_mtime <= made for part in parts if part.is_file())
