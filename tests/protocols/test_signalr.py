"""SignalR's hub protocol record by record, without a socket; with the frames of Microsoft's npm client."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.errors import Refused
from parlour.protocols.signalr import MAX_RECORD, HubCall, SignalR, farewell

HANDSHAKE = '{"protocol":"json","version":1}\x1e'
PING = '{"type":6}\x1e'
ROLL = '{"arguments":["m"],"invocationId":"0","target":"Roll","type":1}\x1e'
SENT = '{"arguments":["m",0,6],"target":"Move","type":1}\x1e'


def take(hub, message):
    """The calls in a message."""
    return [call for record in hub.records(message) if (call := hub.read(record)) is not None]


def open_hub():
    hub = SignalR()
    assert take(hub, HANDSHAKE) == []
    assert hub.frames() == [b"{}\x1e"]
    return hub


def test_a_handshake_for_json_is_answered_with_an_empty_record():
    assert open_hub().is_open


@pytest.mark.parametrize("version", [0, 1, 2])
def test_every_version_that_clients_know_is_welcome(version):
    hub = SignalR()
    take(hub, f'{{"protocol":"json","version":{version}}}\x1e')
    assert hub.is_open


@pytest.mark.parametrize(
    ("hand", "told"),
    [
        ('{"protocol":"messagepack","version":1}', "expected the protocol json, got 'messagepack'"),
        ('{"protocol":"json","version":9}', "expected version 1 of the protocol, got 9"),
        ('{"type":6}', "$: object missing required field protocol"),
        ("hello", "expected JSON, got something else: JSON is malformed: invalid character (byte 0)"),
    ],
)
def test_a_wrong_handshake_is_answered_with_its_error_and_ends_the_connection(hand, told):
    hub = SignalR()
    with pytest.raises(Refused):
        take(hub, hand + "\x1e")
    (answer,) = hub.frames()
    assert msgspec.json.decode(answer[:-1]) == {"error": told}
    assert not hub.is_open


def test_a_call_has_a_target_arguments_and_perhaps_an_id():
    assert take(open_hub(), ROLL + SENT) == [
        HubCall("Roll", (msgspec.Raw(b'"m"'),), "0"),
        HubCall("Move", (msgspec.Raw(b'"m"'), msgspec.Raw(b"0"), msgspec.Raw(b"6")), None),
    ]


def test_a_handshake_and_the_first_call_may_come_in_one_message():
    assert [call.target for call in take(SignalR(), HANDSHAKE + PING + ROLL)] == ["Roll"]


def test_a_record_may_be_spread_over_messages():
    hub = open_hub()
    assert [take(hub, letter) for letter in ROLL[:-1]] == [[]] * (len(ROLL) - 1)
    assert [call.target for call in take(hub, ROLL[-1] + PING)] == ["Roll"]


def test_binary_messages_are_read_as_text():
    assert [call.target for call in take(open_hub(), ROLL.encode())] == ["Roll"]


@pytest.mark.parametrize("kind", [2, 3, 5, 6, 8, 9, 99])
def test_what_asks_for_nothing_is_not_answered(kind):
    hub = open_hub()
    assert take(hub, f'{{"type":{kind},"invocationId":"7","sequenceId":1}}\x1e') == []
    assert hub.frames() == []


def test_a_completion_has_no_result_and_an_error_only_where_there_is_one():
    hub = open_hub()
    hub.complete("0")
    hub.complete("1", "no")
    hub.complete(None, "nobody waits for this")
    assert hub.frames() == [
        b'{"type":3,"invocationId":"0"}\x1e',
        b'{"type":3,"invocationId":"1","error":"no"}\x1e',
    ]


def test_an_event_carries_no_invocation_id_for_null_would_break_the_client():
    hub = open_hub()
    hub.tell("game-state", {"type": "game-state"})
    assert hub.frames() == [b'{"type":1,"target":"game-state","arguments":[{"type":"game-state"}]}\x1e']


def test_nothing_here_is_a_stream():
    hub = open_hub()
    assert take(hub, '{"arguments":[],"invocationId":"0","target":"Roll","type":4}\x1e') == []
    (answer,) = hub.frames()
    assert b'"type":3,"invocationId":"0","error":' in answer


def test_a_client_says_goodbye():
    hub = open_hub()
    take(hub, '{"type":7}\x1e')
    assert hub.left


def test_a_goodbye_says_whether_one_may_come_back():
    assert farewell("no") == b'{"type":7,"error":"no"}\x1e'
    assert farewell(again=True) == b'{"type":7,"allowReconnect":true}\x1e'


@pytest.mark.parametrize(
    "record",
    ["hello", "[]", '{"type":"1"}', '{"type":1}', '{"type":1,"target":"x","arguments":{}}', "[" * 100],
)
def test_what_is_no_record_ends_the_connection(record):
    with pytest.raises(Refused):
        take(open_hub(), record + "\x1e")


def test_a_number_that_is_too_large_concerns_the_call_and_not_the_connection():
    (call,) = take(open_hub(), '{"type":1,"target":"Move","arguments":[1e999,9007199254740993]}\x1e')
    assert [bytes(argument) for argument in call.arguments] == [b"1e999", b"9007199254740993"]


def test_a_record_without_an_end_is_not_waited_for_without_end():
    hub = open_hub()
    take(hub, "x" * MAX_RECORD)
    with pytest.raises(Refused, match="records of at most"):
        take(hub, "x")


@given(st.lists(st.sampled_from([HANDSHAKE, PING, ROLL, "\x1e", "{}\x1e", "é"]) | st.text(), max_size=8))
def test_whatever_comes_is_understood_or_refused(messages):
    hub = SignalR()
    with suppress(Refused):
        for message in messages:
            take(hub, message)
    for frame in hub.frames():
        assert frame.endswith(b"\x1e")
        msgspec.json.decode(frame[:-1])
