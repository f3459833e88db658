"""What the suite's report says, as a table, and which cases failed that may not."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

DELIBERATE = {"7.1.5"}
"""A goodbye inside a fragmented message: to `websockets` it is a protocol error, on purpose."""

FINE = {"OK", "NON-STRICT", "INFORMATIONAL"}
GROUPS = {
    "1": "framing",
    "2": "pings and pongs",
    "3": "reserved bits",
    "4": "opcodes",
    "5": "fragmentation",
    "6": "UTF-8",
    "7": "closing",
    "10": "many fragments",
}


def read(folder: Path) -> dict[str, str]:
    """How each case went; a close that went wrong counts as much as a behaviour."""
    (cases,) = json.loads((folder / "index.json").read_text()).values()
    return {case: _worst(result) for case, result in cases.items()}


def _worst(result: dict[str, Any]) -> str:
    behaviour, close = str(result["behavior"]), str(result["behaviorClose"])
    return close if behaviour in FINE and close not in FINE else behaviour


def failed(cases: dict[str, str]) -> dict[str, str]:
    """The cases that failed and may not."""
    return {case: how for case, how in cases.items() if how not in FINE and case not in DELIBERATE}


def missing(cases: dict[str, str]) -> set[str]:
    """Groups of which no case was run: a report without them shows nothing."""
    return set(GROUPS) - {case.partition(".")[0] for case in cases}


def table(cases: dict[str, str]) -> str:
    """The results by group."""
    counts = {group: Counter[str]() for group in GROUPS}
    for case, how in cases.items():
        counts[case.partition(".")[0]]["failed" if how not in FINE else how.lower()] += 1
    lines = ["| cases | what | ok | non-strict | informational | failed |", "|---|---|---|---|---|---|"]
    for group, what in GROUPS.items():
        shown = (counts[group][how] for how in ("ok", "non-strict", "informational", "failed"))
        lines.append(f"| {group}.* | {what} | " + " | ".join(map(str, shown)) + " |")
    return "\n".join(lines)
