"""Every journal that is registered, for the tests of what journals promise."""

import pytest

from parlour.journal import JOURNALS


@pytest.fixture(params=list(JOURNALS))
async def journal(request, tmp_path):
    journal = JOURNALS[request.param](tmp_path / "data", "process")
    assert await journal.open() == 0.0
    yield journal
    await journal.close()
