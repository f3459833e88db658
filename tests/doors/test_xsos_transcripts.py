"""The XsOs wire stays as client authors know it; `scripts/transcripts` writes the stories anew."""

import pytest

from tests.doors.story import stories, tell


@pytest.mark.parametrize("path", stories(), ids=lambda path: path.name)
async def test_a_conversation_at_the_xsos_door_goes_as_it_always_did(path):
    story = path.read_text()
    assert await tell(story) == story
