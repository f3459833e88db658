"""Small storms of fuzzed frames; `make fuzz-frames` and its like send a million each."""

import pytest

from fuzz import frames, gammonx, relays, xsos
from tests.e2e.servers import UNLIMITED, Server

pytestmark = pytest.mark.e2e


STORMS = [(frames.storm, 20_000), (relays.storm, 20_000), (xsos.storm, 6_000), (gammonx.storm, 10_000)]


@pytest.mark.parametrize(("storm", "count"), STORMS, ids=["channels", "relays", "xsos", "gammonx"])
def test_fuzzed_frames_raise_nothing_cost_no_memory_and_disturb_nobody(tmp_path, storm, count):
    server = Server(tmp_path, "--durability", "process", environment=UNLIMITED).start()
    try:
        report = storm(server, count, number=2)
    finally:
        server.stop()
    assert "Traceback" not in server.log
    assert '"level": "error"' not in server.log
    assert report.frames >= count
    assert report.grown <= 10 * 2**20
    assert not report.disturbed
