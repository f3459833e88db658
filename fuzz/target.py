"""What a target is: a reader of bytes, and inputs that it reads well, to begin from."""

from collections.abc import Callable
from typing import NamedTuple

Read = Callable[[bytes], None]


class Target(NamedTuple):
    """A place where bytes come in; *read* raises only if there is a bug."""

    name: str
    read: Read
    seeds: tuple[bytes, ...]


TARGETS: dict[str, Target] = {}


def add(name: str, read: Read, *seeds: bytes) -> None:
    """Name a target."""
    TARGETS[name] = Target(name, read, seeds)


def target(*seeds: bytes) -> Callable[[Read], Read]:
    """The decorated function is a target of its own name."""

    def named(read: Read) -> Read:
        add(read.__name__, read, *seeds)
        return read

    return named
