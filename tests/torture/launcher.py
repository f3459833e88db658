"""Starts the real server with a bad writer: `python -m tests.torture.launcher KIND serve ...`."""

import sys

from parlour.cli import app
from parlour.journal.postgresql import journal as in_postgresql
from parlour.journal.sqlite import journal as in_sqlite
from tests.torture.postgresql_writers import POSTGRESQL_WRITERS
from tests.torture.writers import WRITERS

if __name__ == "__main__":
    kind = sys.argv.pop(1)
    in_sqlite.Writer = WRITERS[kind]  # type: ignore[attr-defined]
    in_postgresql.Writer = POSTGRESQL_WRITERS.get(kind, in_postgresql.Writer)  # type: ignore[attr-defined]
    app()
