"""The browser's types are those of the server, and what is told on the socket has them."""

import json
import re
from typing import Any

import msgspec
import pytest

from parlour.wire import PUSHES, JoinAnswer
from tests.contracts.transcript import stories
from tests.contracts.wire_types import FILE, typescript

FRAME = re.compile(r"^\w+ < (\[.*\])$", re.MULTILINE)


def test_the_types_of_the_browser_are_up_to_date():
    assert FILE.read_text(encoding="utf-8") == typescript(), "write them anew with scripts/wire-types"


def told() -> list[tuple[str, str, Any]]:
    """Every frame that a server sends about a room in its own words: where, its name, its payload."""
    frames = [
        (story.stem, json.loads(found)) for story in stories() for found in FRAME.findall(story.read_text())
    ]
    return [(story, frame[3], frame[4]) for story, frame in frames if frame[2].startswith("game:")]


@pytest.mark.parametrize("name", PUSHES)
def test_what_is_told_has_just_the_fields_that_its_type_says(name):
    payloads = [payload for _, push, payload in told() if push == name]
    assert payloads
    for payload in payloads:
        kind = PUSHES[name]
        msgspec.convert(payload, kind)
        assert set(payload) <= set(getattr(kind, "__annotations__", payload)) | {"from"}


def test_the_answer_to_a_join_has_just_the_fields_that_its_type_says():
    answers = [
        payload["response"]
        for _, push, payload in told()
        if push == "phx_reply" and "seat" in payload["response"]
    ]
    assert answers
    for answer in answers:
        msgspec.convert(answer, JoinAnswer)
        assert set(answer) <= set(JoinAnswer.__annotations__)
