"""Bots at a real server: their processes, their answers, and what a power cut does to them."""

import os
import signal
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e


def workers(pid: int) -> list[int]:
    """The processes that this one has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in started]


def gone(pids: list[int], patience: float = 10.0) -> bool:
    """Whether all of them end in time."""
    until = time.monotonic() + patience
    while any(Path(f"/proc/{pid}").exists() and not is_zombie(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def bearer(guest):
    return {"Authorization": f"Bearer {guest.token}"}


def wait_until(true, patience=30.0):
    until = time.monotonic() + patience
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def seated_with_bot(server, enter, bot="perfect"):
    """Ann in the first seat, the bot in the second."""
    guest = server.guest("Ann")
    room = server.open_room()["id"]
    ann = enter(server, guest)
    assert ann.join(room).status == "ok"
    answer = server.call("POST", f"/api/rooms/{room}/bots", {"bot": bot}, headers=bearer(guest))
    assert answer.status_code == 201, answer.text
    return ann, room


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_bot_answers_within_two_seconds_and_its_process_ends_with_the_server(serve, enter, how):
    server = serve()
    ann, room = seated_with_bot(server, enter)
    seq = ann.mark(4)
    asked = time.monotonic()
    wait_until(lambda: server.room(room)["seq"] > seq)
    first = time.monotonic() - asked  # with the start of the process
    seq = ann.mark(next(cell for cell in range(9) if ann.view["cells"][cell] == "."))
    asked = time.monotonic()
    wait_until(lambda: server.room(room)["seq"] > seq)
    assert time.monotonic() - asked < 2, first
    there = workers(server.pid)
    assert there
    server.stop(how)
    assert gone(there)


def test_a_bot_moves_after_a_power_cut_in_the_middle_of_its_turn(serve, enter):
    server = serve("--bot-pace", "1.5")
    ann, room = seated_with_bot(server, enter)
    seq = ann.mark(4)
    server.kill()
    server.start()
    assert server.room(room)["seq"] >= seq

    def cells() -> str:
        steps = server.call("GET", f"/api/rooms/{room}/history").json()["steps"]
        return str(steps[-1]["view"]["cells"])

    wait_until(lambda: cells().count("O") == 1)


def test_a_process_that_dies_is_replaced(serve, enter):
    server = serve()
    ann, room = seated_with_bot(server, enter)
    seq = ann.mark(4)
    wait_until(lambda: server.room(room)["seq"] > seq)
    for pid in workers(server.pid):
        os.kill(pid, signal.SIGKILL)
    seq = ann.mark(next(cell for cell in range(9) if ann.view["cells"][cell] == "."))
    wait_until(lambda: server.room(room)["seq"] > seq)


def test_strangers_are_paired_over_http_and_by_the_socket_and_still_after_a_restart(serve, knock):
    server = serve()
    ann, bob = server.guest("Ann"), server.guest("Bob")
    taken = server.call("POST", "/api/tickets", {"game": "backgammon"}, headers=bearer(ann)).json()
    assert taken["status"] == "waiting"
    server.kill()
    server.start()
    line = knock(server, bob.token)
    assert line.ask("lobby", "phx_join", {}).status == "ok"
    assert line.ask("lobby", "queue", {"game": "backgammon"}).status == "ok"
    mine = server.call("GET", f"/api/tickets/{taken['id']}", headers=bearer(ann)).json()
    assert mine["status"] == "matched"
    assert {seat["name"] for seat in server.room(mine["room"])["seats"]} == {"Ann", "Bob"}
