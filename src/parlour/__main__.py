"""`python -m parlour` is `parlour`."""

from parlour.cli import app

app()
