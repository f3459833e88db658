"""Saying no in a way that helps, whatever it was that came."""

from typing import Annotated

import msgspec
import pytest

from parlour.errors import Refused, parse


class Cell(msgspec.Struct):
    x: Annotated[int, msgspec.Meta(le=8)]


class Move(msgspec.Struct):
    to: Cell


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (b'{"to":{"x":9}}', "9"),
        (b'{"to":{"x":9},"to":5}', "something else"),
        (b'{"to":{"x":9},"to":[]}', "something else"),
        (b'{"to":{"x":9},"to":{}}', "something else"),
        (b'{"to":{"x":9', "something else"),
        (b'{"to":{"x":9},"\xff":1}', "something else"),
        (b'{"to":{"x":9},"y":' + b"[" * 5000, "something else"),
    ],
)
def test_a_refusal_never_fails_at_explaining_itself(text, got):
    with pytest.raises(Refused) as why:
        parse(msgspec.json.Decoder(Move).decode, text)
    assert why.value.message == f"$.to.x: expected int <= 8, got {got}"
