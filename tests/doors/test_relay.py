"""The relay's door: what an address asks for, and how envelopes look on the wire."""

import base64
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.doors.relay import MAX_RELAY_NAME, as_json, cookie_id, made_id, numbered, plain, read_address
from parlour.errors import Refused
from parlour.relay import Crowd, Envelope, Intent, size_of

JOINED = Envelope(7, 1735689600123, Intent.JOINER, "cid")
SAID = Envelope(8, 1735689600123, Intent.PEER, "cid", b'{"turn": 0}')
LEFT = Envelope(9, 1735689600123, Intent.LEAVER, "cid")
HERE = Crowd(("ann", "bob", "cid"))
OBJECT = 80
"""Bytes of a string without its characters."""
STAY = Crowd(("ann", "bob"))


# Addresses.


@pytest.mark.parametrize("path", ["/g/", "/g/a", "/g/a/", "/g/a/x"])
def test_the_whole_path_is_the_room(path):
    assert read_address(path, "").room == path


def test_a_path_is_decoded():
    assert read_address("/g/caf%C3%A9%20%E2%99%A0", "").room == "/g/café ♠"


@pytest.mark.parametrize(
    ("query", "id"),
    [
        ("id=ann", "ann"),
        ("id=ann&id=bob", "ann"),
        ("other=1&id=a%20b+c", "a b c"),
        ("id=%3Cann%3E", "<ann>"),
        ("id=" + "x" * MAX_RELAY_NAME, "x" * MAX_RELAY_NAME),
        ("id=1606435200000.1234567890", "1606435200000.1234567890"),
        ("id=1606435200000.0", "1606435200000.0"),
    ],
)
def test_an_id_that_somebody_brings_is_taken_as_it_is(query, id):
    assert read_address("/g/a", query)[1:3] == (True, id)


def test_an_empty_id_is_to_be_made_up_and_none_is_the_first_generation():
    assert read_address("/g/a", "id=")[1:3] == (True, None)
    assert read_address("/g/a", "")[1:3] == (False, None)
    assert read_address("/g/a", "lastnum=4")[1:3] == (False, None)


@pytest.mark.parametrize("query", ["id=%zz", "id=a;b", "%", "=&&=", "id%=x"])
def test_a_query_that_cannot_be_read_is_as_if_it_were_not_there(query):
    assert read_address("/g/a", query) == ("/g/a", False, None, None)


@pytest.mark.parametrize(("text", "last"), [("0", 0), ("17", 17), ("%2B5", 5), ("007", 7)])
def test_a_number_is_read(text, last):
    assert read_address("/g/a", f"id=x&lastnum={text}").last == last


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "1_000", "%D9%A1", " 1", "9" * 19])
def test_a_number_that_is_none_is_as_if_it_were_not_there(text):
    assert read_address("/g/a", f"id=x&lastnum={text}").last is None


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("/g/" + "x" * MAX_RELAY_NAME, "", "too_large"),
        ("/g/a", "id=" + "x" * (MAX_RELAY_NAME + 1), "too_large"),
        ("/g/a", "id=" + "x" * 10_000, "too_large"),
        ("/g/a%00", "", "invalid_name"),
        ("/g/a%1B%5B0m", "", "invalid_name"),
        ("/g/a", "id=a%0D%0Ab", "invalid_name"),
        ("/g/a", "id=a%C2%85", "invalid_name"),
        ("/g/a\udcff", "", "invalid_name"),
        ("/g/a", "id=1735689600.0123", "name_taken"),
    ],
)
def test_names_that_cannot_be_taken_are_refused(path, query, code):
    with pytest.raises(Refused) as refused:
        read_address(path, query)
    assert refused.value.code == code


@given(st.integers(0, 2**40), st.integers(0, 2**62))
def test_nobody_can_bring_an_id_that_is_in_somebodys_cookie(seconds, number):
    with pytest.raises(Refused):
        read_address("/g/a", f"id={cookie_id(seconds, number)}")
    assert read_address("/g/a", f"id={made_id(seconds, number)}").id == made_id(seconds, number)


# Envelopes of today.


def test_a_newcomers_own_copy_is_a_welcome():
    joined = numbered(JOINED, HERE)
    assert joined.own == (
        b'{"From":["ann","bob"],"To":["cid"],"Num":7,"Time":1735689600123,'
        b'"Intent":"Welcome","Receipt":false,"Body":null}\n'
    )
    assert joined.rest == (
        b'{"From":["cid"],"To":["ann","bob"],"Num":7,"Time":1735689600123,'
        b'"Intent":"Joiner","Receipt":false,"Body":null}\n'
    )


def test_a_senders_own_copy_is_its_receipt():
    said = numbered(SAID, HERE)
    own, rest = json.loads(said.own), json.loads(said.rest)
    assert own == {**rest, "Receipt": True}
    assert rest["Receipt"] is False
    assert list(rest) == ["From", "To", "Num", "Time", "Intent", "Receipt", "Body"]


def test_who_left_is_told_to_those_who_stay():
    rest = json.loads(numbered(LEFT, STAY).rest)
    assert (rest["From"], rest["To"], rest["Intent"], rest["Body"]) == (
        ["cid"],
        ["ann", "bob"],
        "Leaver",
        None,
    )


@given(st.binary(max_size=300))
def test_todays_bodies_are_the_senders_bytes_whatever_they_are(body):
    envelope = Envelope(0, 0, Intent.PEER, "ann", body)
    assert base64.b64decode(json.loads(numbered(envelope, Crowd(("ann",))).rest)["Body"]) == body


@given(st.lists(st.text(), max_size=60, unique=True), st.data())
def test_ids_come_through_as_they_are(ids, data):
    who = data.draw(st.sampled_from(ids or [""]))
    crowd, others = Crowd(ids or [""]), [id for id in ids if id != who]
    for intent in (Intent.JOINER, Intent.PEER):
        envelope = Envelope(0, 0, intent, who, b"1" if intent is Intent.PEER else None)
        for encode in (numbered, plain):
            envelope_read = json.loads(encode(envelope, crowd).rest)
            assert (envelope_read["From"], envelope_read["To"]) == ([who], others)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_no_id_is_longer_on_the_wire_or_in_memory_than_it_is_weighed(id):
    text = numbered(Envelope(0, 0, Intent.LEAVER, "ann"), Crowd([id])).rest
    start, end = text.index(b'"To":[') + 6, text.index(b'],"Num"')
    assert end - start + 1 <= size_of(id)  # with its comma
    assert sys.getsizeof(id) <= OBJECT + size_of(id)


def test_signs_of_html_in_ids_are_escaped():
    assert rb'"To":["\u003ca\u0026b\u003e\u2028"]' in numbered(
        Envelope(0, 0, Intent.LEAVER, "ann"), Crowd(("<a&b>\u2028",))
    ).rest  # fmt: skip


# Envelopes as first documented.


def test_the_first_generation_gets_exactly_the_documented_keys():
    joined = plain(JOINED, HERE)
    assert joined.own == b'{"From":["ann","bob"],"To":["cid"],"Time":1735689600,"Intent":"Welcome"}'
    assert joined.rest == b'{"From":["cid"],"To":["ann","bob"],"Time":1735689600,"Intent":"Joiner"}'
    assert (
        plain(LEFT, STAY).rest == b'{"From":["cid"],"To":["ann","bob"],"Time":1735689600,"Intent":"Leaver"}'
    )
    assert plain(SAID, HERE).rest == (
        b'{"From":["cid"],"To":["ann","bob"],"Time":1735689600,"Intent":"Peer","Body":{"turn": 0}}'
    )


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_whatever_is_said_the_first_generation_can_read_the_envelope(body):
    envelope = Envelope(0, 0, Intent.PEER, "ann", body)
    assert "Body" in json.loads(plain(envelope, Crowd(("ann",))).rest)


@pytest.mark.parametrize(
    "body",
    [b"", b"hello", b"NaN", b"-Infinity", b"[1", b"[" * 100, b"\xff", b'"\xff"', b'{"a":1}x', b"[" * 50_000],
)
def test_what_is_not_json_is_a_string(body):
    assert json.loads(as_json(body)) == body.decode(errors="replace")


@pytest.mark.parametrize(
    "body",
    [
        b"1",
        b" null\n",
        b'{"a":{"b":[1,2.5,"x"]}}',
        '"♠"'.encode(),
        b"[" * 500 + b"]" * 500,
        b"9" * 5000,
        b'{"a":1e400}',
        rb'"\ud800"',
        rb'["\ud83d", 1, "\udc00"]',
    ],
)
def test_whatever_is_json_stays_as_it_is(body):
    assert as_json(body) == body
