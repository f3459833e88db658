"""The XsOs door behind Socket.IO: what lines are told, what ends them, and what none of them can do."""

import asyncio
import json
import re
import time

import pytest
import structlog
from engineio import base_socket
from engineio import packet as engine_packet

from parlour.doors.xsos import AWAY_TIMEOUT
from parlour.server import metrics
from parlour.server.gateway.doors import xsos
from parlour.server.gateway.doors.socket_io import MAX_UNSENT, WRITE_AHEAD
from tests.doors.visitors import House

POLL = "EIO=4&transport=polling"


@pytest.fixture(autouse=True)
def complaints():
    """Whatever happens here, the log has no error in it, unless a test takes it out."""
    with structlog.testing.capture_logs() as lines:
        yield lines
    assert not [line for line in lines if line["log_level"] in ("error", "critical")], lines


def refused(code: str) -> float:
    return float(metrics.refusals.labels("xsos", code)._value.get())


async def pair(house: House):
    ann, bob = await house.enter("ann"), await house.enter("bob")
    for person in (ann, bob):
        await person.say("join")
        person.heard.clear()
    ann.heard.clear()
    return ann, bob


async def test_what_is_said_goes_to_the_other_line_byte_for_byte():
    async with House() as house:
        ann, bob = await pair(house)
        said = '{"version":3, "seq":1,"from":"ann","utouId":"c","action":"game_over","x":1.50}'
        await ann.send(f'42["client_msg",{said}]')
        assert bob.heard == [f'42["server_msg",{said}]']
        assert ann.heard == []


async def test_what_is_said_faster_than_it_is_answered_keeps_its_order():
    async with House() as house:
        ann, bob = await pair(house)
        for seq in range(200):
            ann.shout(packet("ann", "game_over", seq).decode())
        for _ in range(100):
            await house.quiet()
        assert [message["seq"] for message in bob.messages] == list(range(200))


async def test_a_wall_clock_that_jumps_cuts_nobody_who_was_just_asked_for_a_sign_of_life(monkeypatch):
    async with House() as house:
        ann, bob = await pair(house)
        engines = list(house.door._engine.sockets.values())
        for engine in engines:
            engine.last_ping = base_socket.BaseSocket(engine.server, "asked now").last_ping
        jumped = time.time() + 86400
        monkeypatch.setattr(time, "time", lambda: jumped)
        assert [await engine.check_ping_timeout() for engine in engines] == [True, True]
        monkeypatch.undo()
        await ann.send(
            '42["client_msg",{"version":3,"seq":1,"from":"ann","utouId":"c","action":"game_over"}]'
        )
        assert len(bob.heard) == 1


async def test_an_acknowledgement_comes_when_it_is_asked_for():
    async with House() as house:
        ann, bob = await pair(house)
        await ann.say("leave_game", 7)
        assert ann.heard == ['437[{"delivered":true}]']
        assert bob.actions == ["leave_game"]


async def test_a_client_msg_without_a_message_is_refused_and_counted():
    async with House() as house:
        ann = await house.enter("ann")
        before = refused("malformed")
        await ann.send('42["client_msg"]')
        await ann.send('423["client_msg"]')
        ack = '433[{"code":"malformed","message":"expected a message in client_msg, got none"}]'
        assert [message["code"] for message in ann.messages] == ["malformed"]
        assert ann.heard == [ack]
        assert refused("malformed") == before + 2


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ('42["hello",1]', "unknown_event"),
        ('42["disconnect"]', "unknown_event"),
        ('42["connect",{}]', "unknown_event"),
        ('42["unreadable",null,false]', "unknown_event"),
        ("42", "malformed"),
        ("42[]", "malformed"),
        ("42[1]", "malformed"),
        ('42{"a":1}', "malformed"),
        ('42["client_msg",{"a":"\\ud800"}]', "malformed"),
        ('42["client_msg",{"a":NaN}]', "malformed"),
        ('42["client_msg",{"a":1e999}]', "malformed"),
        ('42["client_msg",' + "[" * 60_000, "malformed"),
        ('42["client_msg"', "malformed"),
        ("42\u00b2-[]", "malformed"),
        ("42" + "9" * 200 + '["client_msg"]', "malformed"),
    ],
)
async def test_an_event_that_makes_no_sense_is_refused_and_the_line_stays(frame, code):
    async with House() as house:
        ann, bob = await pair(house)
        await ann.send(frame)
        assert [message["code"] for message in ann.messages] == [code]
        await ann.say("start_game")
        assert bob.actions == ["start_game"]


@pytest.mark.parametrize(
    "frame", ["", "hello", "9", "4", "44", '451-["client_msg",{"_placeholder":true}]', "4[]"]
)
async def test_what_is_no_packet_ends_the_line_with_1003(frame):
    async with House() as house:
        ann, bob = await pair(house)
        await ann.send(frame)
        assert ann.closed == (1003, "expected a Socket.IO packet without binary parts")
        await bob.say("start_game", 1)
        assert bob.heard == ['431[{"delivered":false}]']


async def test_binary_frames_end_the_line_with_1003():
    async with House() as house:
        ann = await house.enter("ann")
        await ann.send(binary=b"\x00" * 10)
        assert ann.closed is not None
        assert ann.closed[0] == 1003


async def test_a_short_break_loses_nothing_and_a_repeated_join_is_not_told():
    async with House() as house:
        ann, bob = await pair(house)
        await bob.drop()
        await ann.say("start_game")
        again = await house.enter("bob")
        await again.say("join")
        assert (again.actions, ann.actions) == (["start_game"], [])


async def test_what_was_written_to_a_dead_connection_is_sent_on_return():
    async with House() as house:
        ann, bob = await pair(house)
        await ann.say("start_game")
        assert bob.actions == ["start_game"]
        bob.fall_silent()
        await ann.say("game_over", seq=1)
        again = await house.enter("bob")
        await again.say("join")
        assert again.actions == ["game_over"]
        await bob.drop()
        await ann.say("leave_game")
        assert again.actions == ["leave_game"]


async def test_a_socket_that_is_closed_already_does_not_make_what_was_written_arrive():
    async with House() as house:
        ann, bob = await pair(house)
        bob.transport.socket.number = -1
        await ann.say("start_game", 1)
        assert ann.heard == ['431[{"delivered":true}]']
        again = await house.enter("bob")
        await again.say("join")
        assert again.actions == ["start_game"]


async def test_a_second_namespace_connection_on_the_same_line_is_told_why_not():
    async with House() as house:
        ann = await house.enter("ann")
        await ann.send("40/admin,")
        assert ann.heard == ['44/admin,{"message":"Unable to connect"}']


async def test_somebody_who_disconnects_and_connects_on_one_line_comes_back_to_what_was_missed():
    async with House() as house:
        ann, bob = await pair(house)
        await ann.say("game_over")
        await bob.send("41")
        await ann.say("start_game")
        await bob.send("40")
        bob.heard.clear()
        await bob.say("join")
        assert bob.actions == ["start_game"]


async def test_whoever_is_away_for_two_minutes_has_left():
    async with House() as house:
        ann, bob = await pair(house)
        await bob.drop()
        await house.wait(AWAY_TIMEOUT + 5)
        assert ann.actions == ["leave_game"]


async def test_a_member_with_more_than_256_kb_unsent_is_cut_and_the_other_goes_on(complaints):
    async with House() as house:
        ann, bob = await pair(house)
        bob.fall_silent()
        told = 0
        while not bob.transport.aborted and told < 1000:
            await ann.say("start_game", told, seq=told, imgURL="x" * 2000)
            told += 1
        assert WRITE_AHEAD < len(bob.transport.written) < WRITE_AHEAD + 3000
        assert WRITE_AHEAD < 2000 * told < MAX_UNSENT + 3000
        assert [line["event"] for line in complaints] == ["line_cut"]
        assert ann.heard == [f'43{number}[{{"delivered":true}}]' for number in range(told)]
        again = await house.enter("bob")
        await again.say("join")
        assert [message["seq"] for message in again.messages] == list(range(told))


async def test_what_waits_for_pollers_is_counted_in_bytes_and_in_the_end_nothing():
    async with House() as house:
        held = house.door._held
        ids = []
        for _ in range(3):
            _, body, _ = await house.call("GET", POLL)
            ids.append(re.findall(rb'"sid":"([^"]+)"', body)[0].decode())
            await house.call("POST", f"{POLL}&sid={ids[-1]}", b"40")
        empty = held._held
        for _ in range(10):
            await house.call("POST", f"{POLL}&sid={ids[0]}", '42["client_msg","♠"]'.encode())
        assert held._held - empty >= 10 * 100
        for id in ids:
            await house.call("POST", f"{POLL}&sid={id}", b"1")
        await house.quiet()
        assert (held._held, held._held_by) == (0, {})


async def test_who_lets_too_much_wait_for_their_address_is_refused_until_they_poll(monkeypatch):
    monkeypatch.setattr(xsos, "HELD_FOR_ADDRESS", 30_000)
    async with House() as house:
        _, body, _ = await house.call("GET", POLL)
        id = re.findall(rb'"sid":"([^"]+)"', body)[0].decode()
        await house.call("POST", f"{POLL}&sid={id}", b"40")
        noise = [(await house.call("POST", f"{POLL}&sid={id}", b'42["noise"]'))[0] for _ in range(300)]
        assert 50 < noise.index(429) < 200
        assert set(noise[noise.index(429) :]) == {429}
        await house.call("GET", f"{POLL}&sid={id}")
        poll = asyncio.create_task(house.call("GET", f"{POLL}&sid={id}"))
        await house.quiet()
        assert (await house.call("POST", f"{POLL}&sid={id}", b'42["noise"]'))[0] == 200
        await poll


async def test_a_line_for_whose_address_too_much_waits_is_cut_when_it_is_told_more(monkeypatch, complaints):
    monkeypatch.setattr(xsos, "HELD_FOR_ADDRESS", 30_000)
    async with House() as house:
        ann = await house.enter("ann")
        ann.fall_silent()
        await ann.say("join")
        house.door._held.count(30_000, address="127.0.0.1")
        engine = house.door._engine.sockets[house.door._by_sid[next(iter(house.door._by_sid))].id]
        for _ in range(50):
            engine.queue.put_nowait(engine_packet.Packet(engine_packet.PONG))
        await ann.send('42["noise"]')
        assert ann.transport.aborted
        assert [line["event"] for line in complaints] == ["line_cut"]


async def test_whoever_never_waits_is_refused_and_then_cut_with_1008():
    async with House(rate=10) as house:
        ann, bob = await pair(house)
        for _ in range(300):
            await ann.say("game_over")
        assert ann.closed == (1008, "too fast")
        codes = {message.get("code") for message in ann.messages}
        assert codes == {"too_fast"}
        assert len(bob.messages) < 50


async def test_noise_without_events_is_limited_too():
    async with House(rate=10) as house:
        ann = await house.enter("ann")
        for _ in range(500):
            await ann.send("3")
        assert ann.closed == (1008, "too fast")


@pytest.mark.parametrize("packets", [b"3", b"\x1e".join([b"3"] * 16), b'42["client_msg",{}]', b'42["x"]'])
async def test_whoever_posts_and_never_waits_is_cut_too(packets):
    async with House(rate=10) as house:
        ann = await open_poll(house)
        cut = metrics.lines_cut.labels("too_fast")._value.get()
        statuses = [(await house.call("POST", ann, packets))[0] for _ in range(400)]
        assert statuses.count(429) == 1
        assert set(statuses[statuses.index(429) + 1 :]) == {404}
        assert metrics.lines_cut.labels("too_fast")._value.get() == cut + 1


async def test_a_line_is_read_one_message_at_a_time_so_that_nothing_piles_up():
    async with House() as house:
        ann, bob = await pair(house)
        for seq in range(100):
            ann.shout(packet("ann", "game_over", seq).decode())
        assert not ann.transport.reading
        for _ in range(100):
            await house.quiet()
        assert ann.transport.reading
        assert [message["seq"] for message in bob.messages] == list(range(100))


async def test_nobody_is_remembered_for_having_been_here():
    async with House(rate=10, player_rate=10, address_rate=10) as house:
        ann = await house.enter("ann")
        await ann.say("join")
        await ann.drop()
        assert house.limits._players._buckets
        await house.wait(AWAY_TIMEOUT + 5)
        house.limits.sweep()
        assert not house.limits._players._buckets
        assert not house.limits.by_address._buckets


async def test_a_bug_of_ours_is_answered_without_its_words_and_logged(monkeypatch, complaints):
    async with House() as house:
        ann, bob = await pair(house)
        for method in ("receive", "gone"):
            monkeypatch.setattr(house.door._door, method, lambda *_, **__: 1 / 0)
        await ann.say("start_game", 1)
        assert ann.heard == ['431[{"code":"internal_error","message":"this went wrong on our side"}]']
        await ann.drop()
        assert [line["event"] for line in complaints] == ["door_failed", "door_failed"]
        monkeypatch.undo()
    complaints.clear()


async def test_one_address_has_so_many_lines_and_each_gives_its_place_back():
    async with House(address_connections=2) as house:
        ann = await house.enter("ann")
        await house.enter("bob")
        assert (await house.come("eve")).status == 429
        assert (await house.call("GET", POLL))[0] == 429
        await ann.drop()
        assert (await house.come("eve")).status is None
        assert not house.limits._sockets._held_by["address", "unknown"]


@pytest.mark.parametrize("spoken", ["2", "", "x" * 1000, "%00"])
async def test_versions_of_engine_io_that_are_not_spoken_are_refused_with_those_that_are(spoken):
    async with House() as house:
        status, body, headers = await house.call("GET", f"EIO={spoken}&transport=polling")
        assert (status, headers["access-control-allow-origin"]) == (400, "*")
        assert "expected EIO=3 or EIO=4" in json.loads(body)["message"]
        assert (await house.come("ann", f"EIO={spoken}&transport=websocket")).status == 400
        assert not house.limits._sockets._held


async def test_any_page_may_connect_since_no_cookie_counts_here():
    async with House() as house:
        ann = await house.come("ann", origin="https://elsewhere.example")
        assert ann.heard[0].startswith("0{")


async def test_a_browser_may_ask_first_whether_it_may_ask():
    async with House() as house:
        status, _, headers = await house.call("OPTIONS", POLL)
        assert status == 200
        assert headers["Access-Control-Allow-Methods"] == "OPTIONS, GET, POST"
        assert not house.limits._sockets._held


# Polling.


async def open_poll(house: House) -> str:
    status, body, _ = await house.call("GET", POLL)
    assert status == 200
    sid = json.loads(body[1:])["sid"]
    assert (await house.call("POST", f"{POLL}&sid={sid}", b"40"))[0] == 200
    assert (await house.call("GET", f"{POLL}&sid={sid}"))[1].startswith(b"40{")
    return f"{POLL}&sid={sid}"


def packet(who: str, action: str, seq: int = 0) -> bytes:
    message = {"version": 3, "seq": seq, "from": who, "utouId": "c", "action": action, "name": who}
    return b"42" + json.dumps(["client_msg", message]).encode()


async def test_whoever_polls_hears_the_same():
    async with House() as house:
        ann, bob = await open_poll(house), await house.enter("bob")
        await house.call("POST", ann, packet("ann", "join"))
        await bob.say("join")
        _, body, _ = await house.call("GET", ann)
        assert json.loads(body[2:])[1]["action"] == "join"
        await house.call(
            "POST", ann, packet("ann", "start_game", 1) + b"\x1e" + packet("ann", "game_over", 2)
        )
        await house.quiet()
        assert bob.actions == ["start_game", "game_over"]


async def test_a_post_may_come_in_chunks():
    async with House() as house:
        ann, bob = await open_poll(house), await house.enter("bob")
        await house.call("POST", ann, *(bytes([byte]) for byte in packet("ann", "join")))
        await bob.say("join", 1)
        assert bob.heard == ['431[{"delivered":true}]']


async def test_what_a_poll_took_along_is_told_again_unless_there_was_another_poll():
    async with House() as house:
        ann, bob = await open_poll(house), await house.enter("bob")
        await house.call("POST", ann, packet("ann", "join"))
        await bob.say("join")
        await house.call("GET", ann)  # has the join
        await bob.say("start_game", seq=1)
        await house.call(
            "GET", ann
        )  # shows that the join arrived; has start_game, which nobody knows to arrive
        again = await house.enter("ann")
        await again.say("join")
        assert again.actions == ["start_game"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"\xff", 400),
        (b"d=40", 400),
        (b"bAAAA", 400),
        (b"2", 400),
        (b"3" + b"\x1e3" * 16, 400),
        (b"4" * 70_000, 413),
    ],
)
async def test_a_post_that_is_no_packets_is_refused_and_ends_the_session(body, status):
    async with House() as house:
        ann = await open_poll(house)
        assert (await house.call("POST", ann, body[:10], body[10:]))[0] == status
        assert (await house.call("GET", ann))[0] in (400, 404)
        assert not house.limits._sockets._held_by["address", "127.0.0.1"]


@pytest.mark.parametrize("query", ["", "EIO=4", f"{POLL}&sid=nobody", "EIO=4&transport=smoke", f"{POLL}&j=0"])
async def test_a_request_that_makes_no_sense_is_refused(query):
    async with House() as house:
        status, _, _ = await house.call("POST", query, b"40")
        assert status in (400, 404)
        assert not house.limits._sockets._held


async def test_a_second_poll_of_a_session_is_refused_and_ends_it_as_engine_io_says():
    async with House() as house:
        ann = await open_poll(house)
        waiting = asyncio.create_task(house.call("GET", ann))
        await house.quiet()
        assert (await house.call("GET", ann))[0] == 400
        assert (await waiting)[0] == 200  # and does not wait any more
        for _ in range(300):
            assert (await house.call("GET", ann))[0] == 404
        assert not house.limits._sockets._held


# Clients of Socket.IO 2, which speak Engine.IO 3.

OLD = "EIO=3&transport=websocket"
OLD_POLL = "EIO=3&transport=polling"


async def open_old_poll(house: House) -> str:
    """The first answer has the session and the namespace in one."""
    status, body, headers = await house.call("GET", OLD_POLL)
    length, _, rest = body.decode().partition(":")
    opening, rest = rest[: int(length)], rest[int(length) :]
    assert (status, rest, headers["content-length"]) == (200, "2:40", str(len(body)))
    assert json.loads(opening[1:])["pingInterval"] < 20_000
    return f"{OLD_POLL}&sid={json.loads(opening[1:])['sid']}"


def old(*packets: str) -> bytes:
    """Packets in a body of Engine.IO 3."""
    return "".join(f"{len(one.encode('utf-16-le')) // 2}:{one}" for one in packets).encode()


async def test_a_client_of_socket_io_2_is_in_the_namespace_without_asking():
    async with House() as house:
        ann = await house.come("ann", OLD)
        assert ann.heard[0].startswith("0{")
        assert ann.heard[1:] == ["40"]
        bob = await house.enter("bob")
        await bob.say("join")
        await ann.say("join", 1)
        assert ann.heard[2:] == ['431[{"delivered":true}]']
        assert bob.actions == ["join"]


async def test_a_client_of_socket_io_2_asks_for_signs_of_life_and_is_never_asked():
    async with House() as house:
        ann = await house.come("ann", OLD)
        (engine,) = house.door._engine.sockets.values()
        ann.heard.clear()
        engine.last_ping = 1.0  # long ago the library asked, and waits
        await ann.send("2")
        assert ann.heard == ["3"]
        assert engine.last_ping is None
        await engine.send(engine_packet.Packet(engine_packet.PING))
        await house.quiet()
        assert ann.heard == ["3", "6"]


async def test_a_client_of_socket_io_2_may_poll():
    async with House() as house:
        ann, bob = await open_old_poll(house), await house.enter("bob")
        message = packet("ann", "join").decode().replace('"name": "ann"', '"name": "Änn 🙂"')
        assert (await house.call("POST", ann, old(message, "2")))[0] == 200
        assert (await house.call("GET", ann))[1] == b"1:3"
        await bob.say("join")
        _, body, _ = await house.call("GET", ann)
        assert json.loads(body.decode().partition(":")[2][2:])[1]["action"] == "join"
        await house.call("POST", ann, old(packet("ann", "start_game", 1).decode()))
        await house.quiet()
        assert bob.actions == ["start_game"]


@pytest.mark.parametrize(
    "body", [b"", b"40", b"9:40", b":40", b"2:40x", b"-1:40", b"\xff", b"1:\xf0\x9f\x99\x82", b"5:451-[]"]
)
async def test_a_body_that_is_not_of_engine_io_3_is_refused_and_ends_the_session(body):
    async with House() as house:
        ann = await open_old_poll(house)
        assert (await house.call("POST", ann, body))[0] == 400
        assert not house.limits._sockets._held


async def test_a_session_keeps_to_its_version():
    async with House() as house:
        ann = await open_old_poll(house)
        assert (await house.call("GET", ann.replace("EIO=3", "EIO=4")))[0] == 400


async def test_at_a_stop_nobody_is_left_waiting_in_a_poll():
    async with House() as house:
        waiting = asyncio.create_task(house.call("GET", await open_poll(house)))
        await house.quiet()
        assert not waiting.done()
    assert (await waiting)[0] == 200
