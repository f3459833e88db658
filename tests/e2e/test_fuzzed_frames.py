"""A small storm of fuzzed frames; `make fuzz-frames` sends a million."""

import pytest

from fuzz import frames, relays
from tests.e2e.servers import UNLIMITED, Server

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("storm", [frames.storm, relays.storm], ids=["channels", "relays"])
def test_fuzzed_frames_raise_nothing_cost_no_memory_and_disturb_nobody(tmp_path, storm):
    server = Server(tmp_path, "--durability", "process", environment=UNLIMITED).start()
    try:
        report = storm(server, 20_000, number=2)
    finally:
        server.stop()
    assert "Traceback" not in server.log
    assert '"level": "error"' not in server.log
    assert report.frames >= 20_000
    assert report.grown <= 10 * 2**20
    assert not report.disturbed
