"""What was answered about an account is so after kill -9: who is signed in, by which code, who has left."""

import pytest

from tests.torture.members import torture_accounts

pytestmark = pytest.mark.e2e


async def test_whatever_was_answered_about_accounts_survives_kill_9(tmp_path):
    club = await torture_accounts(tmp_path, kills=3, seed=7)
    assert club.complaints == []
    assert club.counts["members"] > 5, club.counts
    assert club.counts["alarms"] == 0
