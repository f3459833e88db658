"""Draws the results as bars, in colours that can be read on a light and on a dark page."""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

LABEL, WIDTH, ROW = 150, 460, 22
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.ours{fill:#2a7fb8}.theirs{fill:#9aa5ad}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.ours{fill:#5bb0e6}.theirs{fill:#6d7880}}"
)


def draw(results: dict[str, Any], file: Path) -> None:
    """One block of bars for each part that has servers side by side; workers of one cluster are no rivals."""
    parts, y = [], 10
    for name, part in results.items():
        if "servers" not in part or name.startswith("cluster"):
            continue
        parts.append(
            f'<text x="8" y="{y + 14}" font-weight="bold">{escape(name)} ({escape(part["unit"])})</text>'
        )
        y += ROW
        # Only what was measured in turns can be compared by the length of a bar.
        turns = {name: row for name, row in part["servers"].items() if row["ratio"] is not None}
        most = max((row["median"] for row in turns.values()), default=0.0)
        for server, row in turns.items():
            parts.append(_bar(server, row["median"], most, y))
            y += ROW
        y += 14
    size = f'width="{LABEL + WIDTH + 80}" height="{y}" viewBox="0 0 {LABEL + WIDTH + 80} {y}"'
    body = "\n".join(parts)
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def _bar(name: str, value: float, most: float, y: int) -> str:
    kind = "ours" if name.startswith("parlour") else "theirs"
    width = max(1, round(value / most * WIDTH))
    return (
        f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
        f'<rect class="{kind}" x="{LABEL}" y="{y + 2}" width="{width}" height="{ROW - 6}" rx="2"/>'
        f'<text x="{LABEL + width + 6}" y="{y + 14}">{value:g}</text>'
    )
