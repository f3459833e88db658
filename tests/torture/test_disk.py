"""A disk that is full, read-only or broken: nothing is promised that is not kept."""

from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.e2e.servers import Guest, Server
from tests.torture.bare import Seated, sit
from tests.torture.disks import can_fail_calls, fail_flushes, failing_calls, fill, make_read_only, small_disk
from tests.torture.load import new_server
from tests.torture.writers import FULL, READ_ONLY

pytestmark = pytest.mark.e2e

LONG = "blah " * 99


class Place(NamedTuple):
    """Two people in a room, a third in another, on a disk that can be spoilt."""

    server: Server
    room: str
    ann: Seated
    bob: Seated
    cid: Seated
    guest: Guest


def settle_in(server, knock):
    """Rooms in play."""
    room, other = server.open_room()["id"], server.open_room()["id"]
    guest = server.guest("Ann")
    ann, bob = (sit(knock, server, room, who) for who in (guest, server.guest("Bob")))
    cid = sit(knock, server, other, server.guest("Cid"))
    assert [ann.mark(4).status, bob.mark(0).status, cid.chat("hello?").status] == ["ok"] * 3
    return Place(server, room, ann, bob, cid, guest)


@pytest.fixture(params=["full", "really full", "read-only"])
def spoilt(request, fail, knock, tmp_path):
    """Somewhere to play, and the ways to spoil its disk and to mend it."""
    folder = tmp_path / "disk"
    with small_disk(folder) as made:
        if request.param == "really full" and not made:
            pytest.skip("only root can make a small disk")
        place = settle_in(fail(data=folder / "data"), knock)
        ballast = folder / "ballast"
        flag = place.server.data / (FULL if request.param == "full" else READ_ONLY)
        if request.param == "really full":
            yield place, lambda: fill(ballast), ballast.unlink
        else:
            yield place, flag.touch, flag.unlink


def talk_until_refused(player):
    """Small things may still fit; the answers up to the first refusal, and that."""
    answers: list[int] = []
    for number in range(500):
        answer = player.chat(LONG, id=f"long {number}")
        if answer.status == "error":
            return answers, answer, f"long {number}"
        answers.append(answer.response["seq"])
    raise AssertionError("five hundred sayings found room on a full disk")


def test_what_cannot_be_kept_is_refused_and_nobody_saw_it(spoilt):
    (server, room, ann, bob, *_), spoil, _ = spoilt
    spoil()
    accepted, refusal, _ = talk_until_refused(ann)
    assert refusal.code == "not_saved"
    last = accepted[-1] if accepted else 6
    assert server.room(room)["seq"] == last
    assert bob.chat("can you hear me?").code in ("not_saved", None)
    assert [said["seq"] for said in bob.pushes("chat")] == list(range(7, 7 + len(bob.pushes("chat"))))
    assert len(bob.pushes("chat")) >= len(accepted)


def test_others_stay_where_they_are_and_reading_goes_on_while_nothing_can_be_kept(spoilt, knock):
    (server, room, ann, bob, cid, _), spoil, mend = spoilt
    eve = server.guest("Eve")
    spoil()
    talk_until_refused(ann)
    watching = sit(knock, server, room, eve, spectate=True)
    assert watching.pushes("sync")[0]["view"]["cells"] == "O...X...."
    assert server.call("GET", "/api/rooms").status_code == 200
    mend()
    assert cid.chat("still here").status == bob.chat("me too").status == "ok"


def test_it_goes_on_where_it_was_when_the_disk_is_well_again(spoilt):
    (server, room, ann, bob, *_), spoil, mend = spoilt
    spoil()
    accepted, _, id = talk_until_refused(ann)
    mend()
    last = accepted[-1] if accepted else 6
    assert ann.chat(LONG, id=id).response == {"seq": last + 1}
    assert ann.mark(8).response == {"seq": last + 2}
    assert bob.mark(1).response == {"seq": last + 3}
    assert [update["seq"] for update in bob.pushes("update")] == list(range(5, last + 4))
    server.kill()
    server.start()
    assert server.room(room)["seq"] >= last + 3


def becomes_well(server, patience=5.0):
    """Its health is good again, at the latest some heartbeats after the disk is."""
    end = monotonic() + patience
    while monotonic() < end:
        health = server.call("GET", "/health")
        if (health.status_code, health.json()["status"]) == (200, "ok"):
            return True
    return False


def test_health_is_degraded_while_nothing_can_be_kept(spoilt):
    (server, _, ann, *_), spoil, mend = spoilt
    spoil()
    talk_until_refused(ann)
    sick = server.call("GET", "/health")
    assert (sick.status_code, sick.json()["status"]) == (503, "degraded")
    mend()
    assert ann.chat("better?").status == "ok"
    assert becomes_well(server)


def test_a_server_on_a_read_only_disk_says_so_and_does_not_start(tmp_path):
    folder = tmp_path / "disk"
    with small_disk(folder) as made:
        if not made:
            pytest.skip("only root can make a small disk")
        server = new_server(folder / "data", kind="moody").start()
        assert server.stop() == 0
        make_read_only(folder)
        server.begin()
        assert server.wait(10) == 1
        server.kill()
        assert "parlour: " in server.log
        assert "Traceback" not in server.log


# A flush that fails: nobody knows what is on the disk any more, so this process must not go on.


@pytest.fixture
def broken(fail, knock, tmp_path):
    """Somewhere to play, where every flush fails from now on."""
    if not can_fail_calls():
        pytest.fail("expected Debian's fiu-utils; scripts/setup-faults installs it")
    fifo = tmp_path / "fiu"
    place = settle_in(fail(**failing_calls(fifo)), knock)
    fail_flushes(fifo, place.server.pid)
    return place


def ask_in_vain(who, text, **more):
    """Say something of which nobody knows whether it is kept: no answer comes, and the line is closed."""
    with pytest.raises(ConnectionClosed):
        who.chat(text, **more)


def test_a_failed_flush_is_not_told_as_a_refusal_and_nobody_saw_the_step(broken):
    ask_in_vain(broken.ann, "is this on?", id="lost?")
    assert broken.ann.raw.end() == 1012
    with suppress(ConnectionClosed):
        while True:
            broken.bob.heard.append(broken.bob.raw.hear())
    assert broken.bob.pushes("chat") == []


def test_a_call_whose_outcome_is_unknown_says_so(broken):
    with suppress(httpx.TransportError):  # a heartbeat may have found out before, and stopped the server
        answer = broken.server.call("POST", "/api/rooms", {"game": "tictactoe", "id": "PERHAPS"})
        assert (answer.status_code, answer.json()["code"]) == (503, "outcome_unknown")


def test_after_a_failed_flush_everybody_is_sent_away_and_the_server_stops(broken):
    ask_in_vain(broken.ann, "is this on?")
    assert [who.raw.end() for who in (broken.ann, broken.bob, broken.cid)] == [1012] * 3
    assert broken.server.wait(10) == 1
    assert "Traceback" not in broken.server.log


def test_a_server_started_again_after_a_failed_flush_has_all_that_was_acknowledged(broken, knock):
    server = broken.server
    ask_in_vain(broken.ann, "is this on?", id="lost?")
    broken.ann.raw.end()
    assert server.wait(10) is not None
    server.kill()
    server.environment.pop("LD_PRELOAD")
    server.start()
    ann = sit(knock, server, broken.room, broken.guest, since=6)
    assert ann.pushes("sync")[0]["view"]["cells"] == "O...X...."
    assert ann.chat("is this on?", id="lost?").status == "ok"
    assert len(ann.pushes("chat")) == 1
