"""Translates SQLite's errors into the journal's."""

import sqlite3
from pathlib import Path

from parlour.journal.base import (
    Damaged,
    DiskFailed,
    Foreign,
    NotKept,
)

SURE = ("SQLITE_FULL", "SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_NOMEM", "SQLITE_IOERR_SHM")
"""Errors after which nothing was committed. (The shared memory of the log has no disk behind it.)"""


def not_kept(error: Exception, *, committing: bool = False) -> NotKept | DiskFailed:
    """The error of a failed transaction, which may have reached the disk if it was being committed."""
    name = name_of(error)
    failed = name.startswith("SQLITE_IOERR") or (committing and isinstance(error, sqlite3.Error))
    if failed and not name.startswith(SURE):
        return DiskFailed(f"it is not known whether this is kept: {error}")
    return NotKept(f"not kept: {error}")


def unreadable(what: str, error: sqlite3.Error) -> Exception:
    if name_of(error).startswith("SQLITE_CORRUPT"):
        return Damaged(f"{what} is damaged: {error}")
    return NotKept(f"{what} cannot be read: {error}")


def pages_damaged(path: Path, what: str) -> Damaged:
    """The error of a file that is too damaged to be used."""
    return Damaged(
        f"{path} is damaged ({what}): put a backup in its place, "
        f"or save what can be read with: sqlite3 {path.name} .recover"
    )


def unopened(path: Path, error: sqlite3.Error) -> Exception:
    if name_of(error) == "SQLITE_NOTADB":
        return Foreign(f"{path} is not a journal ({error}): choose another data folder")
    if name_of(error).startswith("SQLITE_CORRUPT"):
        return pages_damaged(path, str(error))
    return unreadable(str(path), error)


def name_of(error: Exception) -> str:
    """SQLite's own name of the error; empty if it is not from the library."""
    return getattr(error, "sqlite_errorname", "")
