"""The wire stays as client authors know it; `scripts/transcripts` writes the stories anew."""

import pytest

from tests.contracts.transcript import FOLDER, stories, tell


@pytest.mark.parametrize("path", stories(), ids=lambda path: str(path.relative_to(FOLDER)))
async def test_a_conversation_goes_as_it_always_did(path):
    story = path.read_text()
    assert await tell(story) == story
