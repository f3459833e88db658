"""Autobahn's fuzzing client against Parlour's sockets: python -m tests.autobahn PATH-OF-WSTEST."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.autobahn.report import GROUPS, failed, missing, read, table

PATIENCE = 600


@contextmanager
def echo_server(data):
    """The port of a server that echoes, as long as it is needed; its log must stay without a traceback."""
    environment = {**os.environ, "ECHO_DATA": data}
    command = [sys.executable, "-m", "tests.autobahn.server"]
    with Path(data, "server.log").open("w+") as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(20)
            process.stdout.close()
        log.seek(0)
        if "Traceback" in (said := log.read()):
            sys.exit(f"autobahn: the server raised\n{said[-4000:]}")


def run_suite(wstest, port, folder):
    """Every case of the groups we care for; the folder with the report."""
    spec = {
        "outdir": str(folder / "report"),
        "servers": [{"agent": "parlour", "url": f"ws://127.0.0.1:{port}/echo"}],
        "cases": [f"{group}.*" for group in GROUPS],
        "exclude-cases": [],
        "exclude-agent-cases": {},
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    command = [wstest, "--mode", "fuzzingclient", "--spec", str(folder / "spec.json")]
    subprocess.run(command, cwd=folder, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    return folder / "report"


def main(wstest):
    with TemporaryDirectory() as folder, echo_server(folder) as port:
        cases = read(run_suite(wstest, port, Path(folder)))
    print(table(cases))
    print(f"\n{len(cases)} cases; 7.1.5: {cases.get('7.1.5', 'not run')}")
    if missing(cases):
        sys.exit(f"autobahn: no case was run of {sorted(missing(cases))}")
    if failed(cases):
        sys.exit(f"autobahn: failed: {failed(cases)}")


if __name__ == "__main__":
    main(sys.argv[1])
