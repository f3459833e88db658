"""python -m fuzz.calls PATH-OF-SCHEMATHESIS: calls by the OpenAPI document, with a token and without."""

import subprocess
import sys

from fuzz.storm import own_server

UNSAID = "positive_data_acceptance"
"""The one check that is left out: a schema cannot say all that a name or a game's config may not be."""


def main(schemathesis: str) -> None:
    with own_server() as server:
        token, ends_it = server.guest("Ann").token, "/api/players/me/sessions"
        run = [schemathesis, "run", f"http://{server.address}/api/openapi.json", "--checks", "all"]
        run += ["--exclude-checks", UNSAID, "--generation-deterministic", "--no-color"]
        codes = [
            subprocess.run([*run, *who], check=False).returncode
            for who in ((), ("--header", f"Authorization: Bearer {token}", "--exclude-path", ends_it))
        ]
    if any(codes):
        sys.exit("schemathesis: an answer was not as documented")
    if "Traceback" in server.log or "call_failed" in server.log:
        sys.exit(f"schemathesis: the server complained\n{server.log[-4000:]}")


if __name__ == "__main__":
    main(sys.argv[1])
