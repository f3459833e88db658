"""What went wrong, in the journal's words."""

import sqlite3
from pathlib import Path

from parlour.journal.base import (
    Damaged,
    DiskFailed,
    Foreign,
    NotKept,
)


def not_kept(error: Exception) -> NotKept:
    name = name_of(error)
    # The shared memory of the log has no disk behind it: a full one can be full no longer.
    failed = name.startswith("SQLITE_IOERR") and not name.startswith("SQLITE_IOERR_SHM")
    return (DiskFailed if failed else NotKept)(f"not kept: {error}")


def unreadable(what: str, error: sqlite3.Error) -> Exception:
    if name_of(error).startswith("SQLITE_CORRUPT"):
        return Damaged(f"{what} is damaged: {error}")
    return NotKept(f"{what} cannot be read: {error}")


def unopened(path: Path, error: sqlite3.Error) -> Exception:
    if name_of(error) == "SQLITE_NOTADB":
        return Foreign(f"{path} is not a journal ({error}): choose another data folder")
    return unreadable(str(path), error)


def name_of(error: Exception) -> str:
    """SQLite's own name for what happened; where an error is not from the library there is none."""
    return getattr(error, "sqlite_errorname", "")
