"""Starts the real server with a bad writer: `python -m tests.torture.launcher KIND serve ...`."""

import sys

from parlour.cli import app
from parlour.journal import sqlite
from tests.torture.writers import WRITERS

if __name__ == "__main__":
    sqlite._Writer = WRITERS[sys.argv.pop(1)]  # type: ignore[misc]
    app()
