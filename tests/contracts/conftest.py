"""Every journal that is registered, for the tests of what journals promise."""

import pytest

from parlour.journal import JOURNALS
from parlour.journal.base import Journal
from parlour.journal.postgresql import PostgresJournal


@pytest.fixture(params=[*JOURNALS, "postgresql"])
async def journal(request, tmp_path):
    journal: Journal
    if request.param == "postgresql":
        journal = PostgresJournal(request.getfixturevalue("postgres").new_url(), "process")
    else:
        journal = JOURNALS[request.param](tmp_path / "data", "process")
    assert await journal.open() == 0.0
    yield journal
    await journal.close()
