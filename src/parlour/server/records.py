"""What records say, for those who keep them: content that cannot be read is damage, as the journal's is."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog

from parlour.journal.base import UNREADABLE, Damaged, Record

T = TypeVar("T")
log = structlog.get_logger()


def read(record: Record, decode: Callable[[bytes], T]) -> T:
    """What the body of a record says; `Damaged` if it cannot be read."""
    try:
        return decode(record.body)
    except UNREADABLE as error:
        log.error("unreadable", kind=record.kind, group=record.group, key=record.key, error=str(error))
        raise Damaged(f"{record.kind} {record.key} cannot be read: {error}") from error


def read_all(records: Iterable[Record], decode: Callable[[bytes], T]) -> list[T]:
    """What the bodies say of those records that can be read."""
    bodies: list[T] = []
    for record in records:
        try:
            bodies.append(read(record, decode))
        except Damaged:  # logged
            continue
    return bodies
