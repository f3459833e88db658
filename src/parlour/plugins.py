"""Games and bots of installed packages, Parlour's own like all others, and functions by their names."""

import importlib
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from parlour.errors import Code, Refused

OURS = "parlour"


def package_of(entry: EntryPoint) -> str:
    """The name of the package that brings it."""
    return entry.dist.name if entry.dist is not None else "?"


def registered(group: str) -> list[EntryPoint]:
    """What packages registered in this group, our own first: whoever comes later cannot take a name away."""
    return sorted(entry_points(group=group), key=lambda entry: (package_of(entry) != OURS, package_of(entry)))


def load_each(entries: Iterable[EntryPoint], take: Callable[[str, Any], None]) -> list[str]:
    """Load each and hand it to *take* with its name; a sentence for each that fails, and the rest goes on."""
    troubles = []
    for entry in entries:
        what = f"{entry.name} ({entry.value}, of the package {package_of(entry)})"
        try:
            take(entry.name, entry.load())
        except Refused as why:
            troubles.append(f"{what} is left out: {why.message}")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the package's own
            troubles.append(f"{what} is left out: {type(error).__name__}: {error}")
    return troubles


def find_function(name: str) -> Any:
    """The function behind ``module:function``, also of a module in the folder where one is."""
    module, _, function = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise Refused(Code.UNKNOWN_BOT, f"{name}: expected module:function, got {error}") from None
    if not callable(found):
        raise Refused(Code.UNKNOWN_BOT, f"{name}: expected a function, got {type(found).__name__}")
    return found
