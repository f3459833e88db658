"""What tests of exports share."""

import shutil
from pathlib import Path

import pytest

from parlour.journal.sqlite import SqliteJournal

OLD_DATA = Path(__file__).parents[1] / "data" / "format-3"


@pytest.fixture
async def folder(tmp_path):
    """Yesterday's data, brought up to date."""
    shutil.copytree(OLD_DATA, tmp_path / "data")
    journal = SqliteJournal(tmp_path / "data", "disk")
    await journal.open()
    await journal.close()
    return tmp_path / "data"
