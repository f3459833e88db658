"""The journal in one SQLite file."""

from parlour.journal.sqlite.journal import SqliteJournal

__all__ = ["SqliteJournal"]
