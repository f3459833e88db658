"""The difference of two scenes: what a browser is told when something changed."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from parlour.scene.values import Control, Piece, Scene, Spot


class Patch(msgspec.Struct, frozen=True, omit_defaults=True):
    """What turns one scene into the next: first *gone*, then the rest.

    A thing that was there is given by its id and the fields that changed, a new one whole; it comes last.
    """

    gone: tuple[str, ...] = ()
    spots: tuple[dict[str, Any], ...] = ()
    pieces: tuple[dict[str, Any], ...] = ()
    controls: tuple[dict[str, Any], ...] = ()
    log: tuple[str, ...] = ()
    """Lines to add."""
    set: dict[str, Any] = {}
    """Other fields of the scene, by their names."""


Thing = TypeVar("Thing", Spot, Piece, Control)

_THINGS = {"spots": Spot, "pieces": Piece, "controls": Control}
_OTHERS = tuple(name for name in Scene.__struct_fields__ if name not in {*_THINGS, "log"})


def difference(before: Scene, after: Scene) -> Patch | None:
    """What turns *before* into *after*; None where they are the same."""
    gone: list[str] = []
    spots = _changes(before.spots, after.spots, gone)
    pieces = _changes(before.pieces, after.pieces, gone, ordered=False)
    controls = _changes(before.controls, after.controls, gone)
    others = {name: getattr(after, name) for name in _OTHERS if getattr(after, name) != getattr(before, name)}
    said, log = len(before.log), after.log
    if log[:said] == before.log:
        log = log[said:]
    else:  # another game began
        others["log"] = ()
    patch = Patch(tuple(gone), spots, pieces, controls, log, others)
    return None if patch == _NOTHING else patch


_NOTHING = Patch()


def apply(patch: Patch, before: Scene) -> Scene:
    """*before* with what the patch says done to it.

    >>> from parlour.scene import grid
    >>> one, two = Scene(status="Your turn"), Scene(1, 1, grid(1, 1))
    >>> apply(difference(one, two), one) == two
    True
    """
    things = {name: _applied(getattr(before, name), getattr(patch, name), patch.gone) for name in _THINGS}
    others = {**msgspec.to_builtins(before), **msgspec.to_builtins(patch.set)}
    log = (*others.get("log", ()), *patch.log)
    return msgspec.convert({**others, **things, "log": log}, Scene)


def _changes(
    before: Sequence[Thing], after: Sequence[Thing], gone: list[str], *, ordered: bool = True
) -> tuple[dict[str, Any], ...]:
    """What is new or different; what is not there any more is added to *gone*."""
    if len(before) == len(after) and all(a is b or a.id == b.id for a, b in zip(before, after, strict=True)):
        return tuple(_changed(a, b) for a, b in zip(before, after, strict=True) if not (a is b or a == b))
    old = {thing.id: thing for thing in before}
    kept = old.keys() & {thing.id for thing in after}
    if ordered:
        kept = _in_place(before, after, kept)
    gone.extend(id for id in old if id not in kept)
    return tuple(
        _changed(old[thing.id], thing) if thing.id in kept else _whole(thing)
        for thing in after
        if thing.id not in kept or not (old[thing.id] is thing or old[thing.id] == thing)
    )


def _in_place(before: Sequence[Thing], after: Sequence[Thing], common: set[str]) -> set[str]:
    """Those of the common things that need not be put anew to come in the right order."""
    kept = set()
    for old, new in zip((thing.id for thing in before if thing.id in common), after, strict=False):
        if old != new.id:
            break
        kept.add(old)
    return kept


def _changed(old: Thing, new: Thing) -> dict[str, Any]:
    changed = {
        name: value for name in new.__struct_fields__ if (value := getattr(new, name)) != getattr(old, name)
    }
    return {"id": new.id, **changed}


def _whole(thing: Thing) -> dict[str, Any]:
    """A thing as it is on the wire, its fields without what they are by default."""
    plain: dict[str, Any] = msgspec.to_builtins(thing)
    return plain


def _applied(before: Sequence[Thing], changes: Sequence[dict[str, Any]], gone: Sequence[str]) -> list[Any]:
    things = {thing.id: msgspec.to_builtins(thing) for thing in before if thing.id not in set(gone)}
    for change in changes:
        things[change["id"]] = {**things.get(change["id"], {}), **msgspec.to_builtins(change)}
    return list(things.values())
