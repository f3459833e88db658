"""Phoenix Channels frame by frame, without a socket."""

import base64
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.errors import Refused
from parlour.protocols.phoenix import MAX_CHANNELS, Phoenix
from parlour.wire import Enter, Exit, Push, Request, SendEvent


def frame(*items):
    return msgspec.json.encode(items).decode()


def said(phoenix):
    return [msgspec.json.decode(text) for text in phoenix.frames()]


def joined(topic="game:ABCD", join_ref="1"):
    phoenix = Phoenix()
    (request,) = phoenix.receive(frame(join_ref, join_ref, topic, "phx_join", {}))
    phoenix.accept(request, {})
    phoenix.frames()
    return phoenix


def test_a_heartbeat_is_answered_at_once():
    phoenix = Phoenix()
    assert phoenix.receive(frame(None, "7", "phoenix", "heartbeat", {})) == []
    assert said(phoenix) == [[None, "7", "phoenix", "phx_reply", {"status": "ok", "response": {}}]]


def test_a_join_asks_to_enter_the_room_behind_the_topic():
    (request,) = Phoenix().receive(frame("1", "1", "game:ABCD", "phx_join", {"since": 4, "spectate": True}))
    assert (request.room, request.wish) == ("ABCD", Enter(since=4, spectate=True))


def test_a_join_of_the_lobby_has_no_room():
    (request,) = Phoenix().receive(frame("1", "1", "lobby", "phx_join", {}))
    assert request.room is None


def test_a_reply_carries_the_refs_of_what_it_answers():
    phoenix = joined()
    (request,) = phoenix.receive(frame("1", "2", "game:ABCD", "game_event", {"event": {"type": "mark"}}))
    assert isinstance(request.wish, SendEvent)
    phoenix.accept(request, {"seq": 3})
    assert said(phoenix) == [["1", "2", "game:ABCD", "phx_reply", {"status": "ok", "response": {"seq": 3}}]]


def test_what_is_for_one_connection_alone_carries_the_join_that_it_belongs_to():
    phoenix = joined()
    push = Push("sync", {"seq": 2})
    assert msgspec.json.decode(phoenix.encode_own("ABCD", push))[:2] == ["1", None]
    assert msgspec.json.decode(phoenix.encode("ABCD", push))[:2] == [None, None]


def test_what_an_earlier_join_brought_is_told_under_that_join():
    phoenix = Phoenix()
    (first,) = phoenix.receive(frame("1", "1", "game:ABCD", "phx_join", {}))
    phoenix.receive(frame("2", "2", "game:ABCD", "phx_join", {}))
    late = msgspec.json.decode(phoenix.encode_own("ABCD", Push("sync", {"seq": 2}), first.ref))
    assert late[0] == "1"


def test_a_refusal_is_an_error_reply():
    phoenix = joined()
    (request,) = phoenix.receive(frame("1", "2", "game:ABCD", "chat", {"text": "hi"}))
    phoenix.refuse(request, Refused("too_fast", "slow down"))
    response = {"code": "too_fast", "message": "slow down", "reason": "too_fast"}
    assert said(phoenix) == [["1", "2", "game:ABCD", "phx_reply", {"status": "error", "response": response}]]


def test_after_a_refused_join_the_topic_is_not_joined():
    phoenix = Phoenix()
    (request,) = phoenix.receive(frame("1", "1", "game:ABCD", "phx_join", {}))
    phoenix.refuse(request, Refused("game_full", "full"))
    phoenix.frames()
    assert phoenix.receive(frame("1", "2", "game:ABCD", "chat", {"text": "hi"})) == []
    assert said(phoenix)[0][4]["response"]["code"] == "not_joined"


def test_a_second_join_of_a_topic_closes_the_first_under_its_own_join_ref():
    phoenix = joined()
    phoenix.receive(frame("5", "5", "game:ABCD", "phx_join", {}))
    assert said(phoenix) == [["1", "1", "game:ABCD", "phx_close", {}]]


def test_a_message_of_an_earlier_join_is_ignored():
    phoenix = joined(join_ref="5")
    assert phoenix.receive(frame("1", "6", "game:ABCD", "chat", {"text": "old"})) == []
    assert phoenix.receive(frame("1", "7", "game:ABCD", "phx_leave", {})) == []
    assert said(phoenix) == []


def test_a_message_without_a_join_ref_belongs_to_the_current_join():
    phoenix = joined(join_ref="5")
    (request,) = phoenix.receive(frame(None, "6", "game:ABCD", "chat", {"text": "new"}))
    phoenix.accept(request, {})
    assert said(phoenix)[0][0] == "5"


def test_leaving_is_answered_then_the_channel_is_closed():
    phoenix = joined()
    assert phoenix.receive(frame("1", "2", "game:ABCD", "phx_leave", {})) == [Request("ABCD", Exit())]
    assert [f[3] for f in said(phoenix)] == ["phx_reply", "phx_close"]


def test_leaving_a_topic_that_was_never_joined_is_fine():
    phoenix = Phoenix()
    assert phoenix.receive(frame("1", "2", "game:ABCD", "phx_leave", {})) == []
    assert said(phoenix)[0][4]["status"] == "ok"


def test_a_push_without_a_ref_is_done_but_not_answered():
    phoenix = joined()
    (request,) = phoenix.receive(frame("1", None, "game:ABCD", "chat", {"text": "hi"}))
    phoenix.accept(request, {})
    assert said(phoenix) == []


def test_there_is_an_end_to_the_channels_of_one_socket():
    phoenix = Phoenix()
    for n in range(MAX_CHANNELS):
        phoenix.receive(frame(str(n), str(n), f"game:R{n}", "phx_join", {}))
    assert phoenix.receive(frame("x", "x", "game:ONE-MORE", "phx_join", {})) == []
    assert "too many channels joined" in said(phoenix)[0][4]["response"]["message"]


def test_a_dismissed_client_gets_a_close_for_its_join():
    phoenix = joined(join_ref="3")
    phoenix.dismiss("ABCD")
    assert said(phoenix) == [["3", "3", "game:ABCD", "phx_close", {}]]
    phoenix.dismiss("ABCD")
    assert said(phoenix) == []


def test_a_push_is_the_same_bytes_for_everyone():
    assert Phoenix.encode("ABCD", Push("update", {"seq": 1})) == b'[null,null,"game:ABCD","update",{"seq":1}]'


def test_a_binary_push_is_refused_to_whoever_sent_it():
    phoenix = joined()
    head = bytes([0, 1, 1, 9, 4]) + b"1" + b"2" + b"game:ABCD" + b"chat"
    assert phoenix.receive(head + b"\x00\x01") == []
    reply = said(phoenix)[0]
    assert (reply[1], reply[4]["status"]) == ("2", "error")


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\x09\x00\x00\x00\x00", b"\x00\xff\xff\xff\xff", b"\x00\x01\x00\x00\x00\xff"]
)
def test_an_unreadable_binary_frame_ends_the_connection(data):
    with pytest.raises(Refused):
        Phoenix().receive(data)


def test_a_refusal_that_comes_after_the_client_has_left_is_still_an_answer():
    phoenix = Phoenix()
    (request,) = phoenix.receive(frame("", "1", "game:NONE", "phx_join", {}))
    phoenix.receive(frame("", "2", "game:NONE", "phx_leave", {}))
    phoenix.frames()
    phoenix.refuse(request, Refused("unknown_room", "there is none"))
    assert said(phoenix)[0][4]["status"] == "error"


# Knocking.


def test_the_token_comes_in_the_query():
    assert Phoenix.greet({"vsn": "2.0.0", "token": "abc"}, []).token == "abc"


@pytest.mark.parametrize("alphabet", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_token_may_come_in_a_subprotocol_in_either_alphabet(alphabet):
    token = "a?~ÿ.b"
    packed = alphabet(token.encode()).decode().rstrip("=")
    greeting = Phoenix.greet({"vsn": "2.0.0"}, ["phoenix", f"base64url.bearer.phx.{packed}"])
    assert (greeting.token, greeting.subprotocol) == (token, "phoenix")


@pytest.mark.parametrize("packed", ["%%%", "é", "\udcff", "_w", "====", "A"])
def test_a_token_that_cannot_be_unpacked_is_not_overlooked(packed):
    assert Phoenix.greet({"vsn": "2.0.0"}, ["phoenix", f"base64url.bearer.phx.{packed}"]).token == "?"


@pytest.mark.parametrize("query", [{}, {"vsn": "1.0.0"}, {"vsn": "9"}])
def test_another_version_of_the_protocol_is_kept_out(query):
    with pytest.raises(Refused, match=r"expected serializer vsn=2\.0\.0"):
        Phoenix.greet(query, [])


# Whatever comes.

small = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab1:", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=8,
)
words = st.sampled_from(["phx_join", "phx_leave", "game_event", "chat", "leave", "rematch", "heartbeat", "x"])
topics = st.sampled_from(["game:ABCD", "lobby", "phoenix", "game:", ":", ""])
frames = st.tuples(
    st.none() | st.text("12", max_size=2), st.none() | st.text("12", max_size=2), topics, words, small
)


@given(st.lists(frames, max_size=6))
def test_whatever_frames_come_only_requests_come_out(sent):
    phoenix = Phoenix()
    for items in sent:
        for request in phoenix.receive(frame(*items)):
            phoenix.refuse(request, Refused("no", "no"))
    for text in phoenix.frames():
        assert msgspec.json.decode(text)


@given(st.text(max_size=40) | st.binary(max_size=40))
def test_whatever_bytes_come_only_a_refusal_comes_out(data):
    phoenix = Phoenix()
    with suppress(Refused):
        phoenix.receive(data)
