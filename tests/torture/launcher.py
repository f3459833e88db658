"""Starts the real server with a bad writer: `python -m tests.torture.launcher KIND serve ...`."""

import sys

from parlour.cli import app
from parlour.journal.sqlite import journal
from tests.torture.writers import WRITERS

if __name__ == "__main__":
    journal.Writer = WRITERS[sys.argv.pop(1)]  # type: ignore[attr-defined]
    app()
