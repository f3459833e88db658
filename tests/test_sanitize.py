"""Strict JSON, names and words: what a client may send at all."""

import time
from contextlib import suppress

import pytest

from parlour.errors import Code, Refused
from parlour.sanitize import MAX_DEPTH, check_id, clean_name, clean_text, strict


@pytest.mark.parametrize(
    "frame",
    [
        b"{}",
        b"9007199254740992",
        b"-9007199254740992",
        b"1e300",
        b"1.5e-7",
        b'"12345678901234567890 is only text"',
        b'"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ is only text"',
        b'["a\\"[[[", 1e2]',
        b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
        b"[" + b"[]," * 50 + b"[]]",
        b"[1.2345678901234567]",
    ],
)
def test_what_every_client_can_read_passes(frame):
    assert strict(frame) == frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (b"9007199254740993", "expected integers within 2^53, got 9007199254740993"),
        (b'{"a":-9007199254740993}', "expected integers within 2^53, got -9007199254740993"),
        (b"[1" + b"0" * 400 + b"]", "expected integers within 2^53"),
        (b"1e999", "expected finite numbers, got 1e999"),
        (b'{"x":[-1E400]}', "expected finite numbers, got -1E400"),
        (b"[" * 33 + b"]" * 33, "expected at most 32 levels of nesting, got more"),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "expected at most 32 levels of nesting, got more"),
    ],
)
def test_what_a_client_could_not_read_is_refused(frame, message):
    with pytest.raises(Refused, match="malformed") as why:
        strict(frame)
    assert why.value.message.startswith(message)


@pytest.mark.parametrize("open", [b'\\"', b'"', b'"\\', b"\\", b"1e1", b"[{"])
def test_checking_takes_no_longer_than_reading_whatever_comes(open):
    begin = time.process_time()
    with suppress(Refused):
        strict(b"1e " + open * (65_536 // len(open)))
    assert time.process_time() - begin < 0.5


@pytest.mark.parametrize("name", ["Ann", "Zoë", "李雷", "O'Neill-Smith 3rd", "x" * 40, "🙂"])
def test_a_name_may_be_in_any_script(name):
    assert clean_name(f"  {name} ") == name


def test_a_name_is_kept_in_one_form():
    assert clean_name("Zoe\u0308") == "Zo\u00eb"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 41,
        "x" * 10_240,
        "a\nb",
        "a\x00",
        "a\x7f",
        "a\u202eb",
        "a\u200bb",
        "\u2066a",
        "\ue000",
        "a\u2028b",
        "\u3164",
        "\u2800",
        "\u0301",
    ],
)
def test_a_name_that_would_play_tricks_is_refused(name):
    with pytest.raises(Refused) as why:
        clean_name(name)
    assert why.value.code == Code.INVALID_NAME


def test_words_may_be_longer_than_names():
    assert clean_text("x" * 500) == "x" * 500


@pytest.mark.parametrize("id", ["", "x" * 65])
def test_a_commands_id_is_short(id):
    with pytest.raises(Refused) as why:
        check_id(id)
    assert why.value.path == "$.id"
    assert check_id("x" * 64) == "x" * 64
