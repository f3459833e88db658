"""python -m fuzz.calls PATH-OF-SCHEMATHESIS: calls by the OpenAPI document, as nobody, guest and account."""

import subprocess
import sys

from fuzz.storm import own_server

UNSAID = "positive_data_acceptance"
"""The one check that is left out: a schema cannot say all that a name or a game's config may not be."""

END_TOKENS = ("/api/players/me/sessions", "/api/account", "/api/account/devices/{number}")
"""Paths of calls after which the caller's token is not valid any more; they are called without one."""


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def main(schemathesis: str) -> None:
    with own_server() as server:
        guest, opens = server.guest("Ann").token, bearer(server.guest("Bea").token)
        account = server.call("POST", "/api/account", {}, headers=opens).json()["token"]
        run = [schemathesis, "run", f"http://{server.address}/api/openapi.json", "--checks", "all"]
        run += ["--exclude-checks", UNSAID, "--generation-deterministic", "--no-color"]
        unended = [word for path in END_TOKENS for word in ("--exclude-path", path)]
        callers = [[], *(["--header", ": ".join(*bearer(one).items()), *unended] for one in (guest, account))]
        codes = [subprocess.run([*run, *who], check=False).returncode for who in callers]
    if any(codes):
        sys.exit("schemathesis: an answer was not as documented")
    if "Traceback" in server.log or "call_failed" in server.log:
        sys.exit(f"schemathesis: the server complained\n{server.log[-4000:]}")


if __name__ == "__main__":
    main(sys.argv[1])
