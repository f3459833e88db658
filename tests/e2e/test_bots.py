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


def mark_and_wait(ann, cell=None):
    """Mark a cell, or the first that is free, and see what the bot does then; the seconds that it took."""
    asked = time.monotonic()
    seq = ann.mark(ann.view["cells"].index(".") if cell is None else cell)
    ann.see(seq + 1)
    return time.monotonic() - asked


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_bot_answers_within_two_seconds_and_its_process_ends_with_the_server(serve, enter, how):
    server = serve()
    ann, _ = seated_with_bot(server, enter)
    first = mark_and_wait(ann, 4)  # with the start of the process
    assert mark_and_wait(ann) < 2, first
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
    ann, _ = seated_with_bot(server, enter)
    mark_and_wait(ann, 4)
    for pid in workers(server.pid):
        os.kill(pid, signal.SIGKILL)
    mark_and_wait(ann)


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
