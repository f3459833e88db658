"""Whether a game hides something: a part of the state that one viewer's view shows and another's does not."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from parlour.game import Game

MOST_STATES = 16
"""So many states are compared with one another."""
MOST_PARTS = 3000
Path = tuple[str | int, ...]


def hidden_part(game: Game[Any], states: Sequence[Any], viewers: Sequence[str | None]) -> str | None:
    """A part of the state, as a path, that somebody sees and somebody else does not, if one is found.

    A part of one state is put into another: whoever's view stays the same does not see it. Who sits where is
    left out, for a view may say who its viewer is.
    """
    different = list({msgspec.json.encode(state): state for state in states}.values())
    some = different[:: max(1, len(different) // MOST_STATES)]
    plain = [msgspec.to_builtins(state) for state in some]
    pairs = ((at, other) for at in range(len(some)) for other in range(len(some)) if at != other)
    parts = ((at, other, path) for at, other in pairs for path in _differences(plain[at], plain[other]))
    for at, other, path in islice(parts, MOST_PARTS):
        mixed = _mixed(game, plain[at], plain[other], path)
        seen = [_seen(game, mixed, viewer) for viewer in viewers] if mixed is not None else []
        changed = [now != _seen(game, some[at], viewer) for viewer, now in zip(viewers, seen, strict=False)]
        if seen and all(seen) and any(changed) and not all(changed):
            return _spelt(path)
    return None


def _seen(game: Game[Any], state: Any, viewer: str | None) -> bytes:
    """A view as bytes; none where a mixed state is one that the game cannot show."""
    try:
        return msgspec.json.encode(game.view(state, viewer))
    except Exception:  # noqa: BLE001 - no rule made that state
        return b""


def _differences(here: Any, there: Any, path: Path = ()) -> Iterator[Path]:
    """The parts in which two states differ, the small ones first."""
    if isinstance(here, dict) and isinstance(there, dict):
        keys = [key for key in here if key in there and (path or key != "players")]
    elif isinstance(here, list) and isinstance(there, list):
        keys = list(range(min(len(here), len(there))))
    else:
        keys = []
    for key in keys:
        if here[key] != there[key]:
            yield from _differences(here[key], there[key], (*path, key))
    if path and here != there:
        yield path


def _mixed(game: Game[Any], here: Any, there: Any, path: Path) -> Any:
    """The first state with one part of the second; None where that is no state."""
    mixed = msgspec.json.decode(msgspec.json.encode(here))
    inner, source = mixed, there
    for key in path[:-1]:
        inner, source = inner[key], source[key]
    inner[path[-1]] = source[path[-1]]
    try:
        return msgspec.convert(mixed, game.State)
    except msgspec.ValidationError:
        return None


def _spelt(path: Path) -> str:
    """A path as authors write it.

    >>> _spelt(("hands", 0))
    'hands[0]'
    """
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
