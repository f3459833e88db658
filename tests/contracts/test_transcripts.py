"""The wire stays as client authors know it; `scripts/transcripts` writes the stories anew."""

import pytest

from tests.contracts.relay_story import loosely
from tests.contracts.transcript import FOLDER, stories, tell_again


@pytest.mark.parametrize("path", stories(), ids=lambda path: str(path.relative_to(FOLDER)))
async def test_a_conversation_goes_as_it_always_did(path):
    story, today = path.read_text(), await tell_again(path)
    if path.parent.name == "relay":
        assert loosely(today) == loosely(story)
    else:
        assert today == story
