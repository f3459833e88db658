"""Decodes records; content that cannot be decoded is damage, as in the journal itself."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog

from parlour.journal.base import UNREADABLE, Damaged, Record

T = TypeVar("T")
log = structlog.get_logger()


def read(record: Record, decode: Callable[[bytes], T]) -> T:
    """Decode the body of a record; `Damaged` if that fails."""
    try:
        return decode(record.body)
    except UNREADABLE as error:
        log.error("unreadable", kind=record.kind, group=record.group, key=record.key, error=str(error))
        raise Damaged(f"{record.kind} {record.key} cannot be read: {error}") from error


def read_all(records: Iterable[Record], decode: Callable[[bytes], T]) -> list[T]:
    """Decode the bodies of records; unreadable ones are left out."""
    bodies: list[T] = []
    for record in records:
        try:
            bodies.append(read(record, decode))
        except Damaged:  # logged
            continue
    return bodies
