"""The files for a container: linted, and their commands run; an image is built by whoever has Docker."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import fields

from parlour.server.settings import Settings

ROOT = Path(__file__).parents[2]
SETTINGS = {f"PARLOUR_{field.name.upper()}" for field in fields(Settings)}


def dockerfile() -> dict[str, str]:
    """What each instruction of the Dockerfile says, its lines joined."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    said = dict(line.split(" ", 1) for line in lines)
    assert len(said) == len(lines)
    return said


def variables() -> dict[str, str]:
    """What the Dockerfile sets in the environment."""
    return dict(setting.split("=", 1) for setting in dockerfile()["ENV"].split())


def composed() -> Any:
    """The only service of the compose file."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert list(services) == ["parlour"]
    return services["parlour"]


def test_the_dockerfile_passes_its_linter():
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, ROOT / "Dockerfile"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_what_the_container_sets_are_settings_of_the_server():
    assert set(variables()) <= SETTINGS
    assert set(composed()["environment"]) <= SETTINGS


def test_the_server_in_the_container_is_not_root_and_keeps_its_data_in_a_volume():
    assert re.fullmatch("[1-9][0-9]*", dockerfile()["USER"])
    assert dockerfile()["VOLUME"] == variables()["PARLOUR_DATA"]
    assert composed()["volumes"] == [f"data:{variables()['PARLOUR_DATA']}"]


def test_the_port_of_the_container_is_that_of_the_server_and_only_this_machine_reaches_it():
    port = variables()["PARLOUR_PORT"]
    assert dockerfile()["EXPOSE"] == port
    assert composed()["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_nothing_but_what_is_installed_is_sent_to_the_builder():
    everything, *kept = (ROOT / ".dockerignore").read_text().split()
    assert everything == "*"
    bound = re.findall(r"source=([\w.]+)", dockerfile()["RUN"])
    installed = ["dist/parlour-0.2.0-py3-none-any.whl" if name == "dist" else name for name in bound]
    assert len(installed) == len(kept) == 2
    for name, pattern in zip(installed, kept, strict=True):
        assert fnmatch(name, pattern.removeprefix("!"))


def is_healthy(port: int) -> bool:
    """What the health check of the Dockerfile says of the server at a port."""
    words = json.loads(dockerfile()["HEALTHCHECK"].partition("CMD ")[2])
    command = [sys.executable, *words[1:]]
    assert words[0] == "python"
    environment = {**os.environ, "PARLOUR_PORT": str(port)}
    return subprocess.run(command, env=environment, check=False, capture_output=True).returncode == 0


class Full(BaseHTTPRequestHandler):
    """A server that can keep nothing."""

    def do_GET(self):
        self.send_response(503)
        self.end_headers()


@pytest.mark.e2e
def test_the_health_check_fails_where_there_is_no_server_or_it_can_keep_nothing(serve):
    server = serve()
    assert is_healthy(server.port)
    server.stop()
    assert not is_healthy(server.port)
    with HTTPServer(("127.0.0.1", 0), Full) as full, ThreadPoolExecutor(1) as pool:
        answered = pool.submit(full.handle_request)
        assert not is_healthy(full.server_port)
        answered.result()
