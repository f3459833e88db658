"""A server process that is stopped for a while, and its clients, which were not."""

import os
import signal
import time

import pytest

pytestmark = pytest.mark.e2e

PING_EVERY = 0.5
PAUSE = 2.0
"""Seconds: longer than somebody may be silent, and than a round may be late."""


def test_whoever_kept_sending_while_the_server_was_stopped_is_still_there(serve, knock):
    server = serve("--ping-every", PING_EVERY)
    clients = [knock(server) for _ in range(20)]
    for client in clients:
        assert client.ask("phoenix", "heartbeat", {}, None).status == "ok"
    os.kill(server.pid, signal.SIGSTOP)
    for client in clients:
        client.send([None, "meanwhile", "phoenix", "heartbeat", {}])
    time.sleep(PAUSE)  # the pause is what is tested
    os.kill(server.pid, signal.SIGCONT)
    for client in clients:
        assert client.ask("phoenix", "heartbeat", {}, None).status == "ok"
    assert 'parlour_lines_cut_total{why="silent"}' not in server.call("GET", "/metrics").text
