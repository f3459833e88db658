"""A journal in a PostgreSQL database, which many workers share."""

from parlour.journal.postgresql.journal import PostgresJournal

__all__ = ["PostgresJournal"]
