"""Somebody hostile who wants to be somebody else: by garbage for passkeys, and by a proxy's header."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx

from tests.authenticator import Authenticator

SECONDS = 8.0
FEW_TRIES = 10
"""From one address: who guesses more often is refused, whatever it is."""
TRUSTED = "127.0.0.1"
"""The address of the proxy that is believed."""
USER_HEADER = "Remote-User"
EVIL = "https://evil.example"
DEEP = '{"passkey": ' + '{"response": ' * 50_000
"""An object in an object, and so on, which never ends."""
BODIES: tuple[Any, ...] = (
    7, "x", [], None, True, {}, {"response": None}, {"response": {"clientDataJSON": 7}}, {"id": {"id": []}},
    {"id": "x", "rawId": [], "type": "x", "response": {"clientDataJSON": "W10"}},
    {"id": "A" * 100_000, "response": {"clientDataJSON": "e30"}},
    {"response": {"clientDataJSON": "A" * 900_000}},
    {"response": {"clientDataJSON": "eyJjaGFsbGVuZ2UiOltdfQ", "attestationObject": "_" * 50_000}},
)  # fmt: skip
"""What is no passkey."""
ATTESTATIONS = (b"", b"\xff" * 500, b"\x9f" * 10_000, b"\xa0", b"\x5b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8,
                b"\x81" * 5000, b"\xd8\x1e\x82\x01\x00")  # fmt: skip
"""CBOR that is empty, without end, too deep, or says that it is much longer than it is."""
PATHS = ("/api/sign-in", "/api/account", "/api/account/passkeys")


class Intruder:
    """Asks from some address, and counts what came of it; whatever works is a fault."""

    def __init__(self, port: int, address: str) -> None:
        self.tally: Counter[str] = Counter()
        self._site = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
        self._url = f"http://127.0.0.1:{port}"
        self._http = self._client(address)

    def __enter__(self) -> "Intruder":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def move(self, address: str) -> None:
        """Ask from this address from now on."""
        self._http.close()
        self._http = self._client(address)

    def _client(self, address: str) -> httpx.Client:
        transport = httpx.HTTPTransport(local_address=address)
        return httpx.Client(base_url=self._url, transport=transport, timeout=30)

    def ask(self, path: str, body: Any, token: str = "", **more: str) -> httpx.Response:
        """As a page at localhost would; *body* may be text that is no JSON. Whoever is cut is refused."""
        self._http.cookies.clear()
        headers = {**self._site, "Content-Type": "application/json", **more}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        how: dict[str, Any] = {"content": body} if isinstance(body, str) else {"json": body}
        try:
            answer = self._http.post(path, headers=headers, **how)
        except httpx.TransportError:
            self.tally["cut"] += 1
            return httpx.Response(httpx.codes.TOO_MANY_REQUESTS)
        self.tally["sent"] += len(answer.request.content) + 200
        self.tally["server_errors"] += answer.status_code == 500 or "Traceback" in answer.text
        return answer

    def surely(self, path: str, body: Any, token: str = "", **more: str) -> Any:
        """Something that anybody may; asked again if it was too fast."""
        for _ in range(50):
            answer = self.ask(path, body, token, **more)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return answer.raise_for_status().json()
            time.sleep(0.2)
        raise AssertionError(f"{path} is always too fast")

    def must_fail(self, path: str, body: Any, token: str = "", **more: str) -> None:
        answer = self.ask(path, body, token, **more)
        too_fast = answer.status_code == httpx.codes.TOO_MANY_REQUESTS
        self.tally["reached" if answer.is_success else "too_fast" if too_fast else "refused"] += 1


def wrong_passkeys(port: int, amount: int, network: str) -> Counter[str]:
    """Garbage, passkeys for another page, and answers that were good once, from all over a network."""
    key = Authenticator(f"http://localhost:{port}", "localhost")
    until = time.monotonic() + SECONDS
    with Intruder(port, f"{network}.66") as intruder:
        token = intruder.surely("/api/players", {"name": f"Mallory {key.id.hex()[:8]}"})["token"]
        options = intruder.surely("/api/account/passkeys/options", {}, token)["publicKey"]
        made = {"passkey": key.create(options)}
        token = intruder.surely("/api/account", made, token)["token"]
        used = {"passkey": key.get(intruder.surely("/api/sign-in/options", None)["publicKey"])}
        intruder.surely("/api/sign-in", used)
        for number, (path, body, more) in enumerate(_tries(intruder, key, token, (made, used))):
            if number >= amount or time.monotonic() > until:
                break
            if number % FEW_TRIES == 0:
                intruder.move(f"{network}.{number // FEW_TRIES % 250 + 1}")
            intruder.must_fail(path, body, token, **more)
    return intruder.tally


Try = tuple[str, Any, dict[str, str]]
"""Path, body, headers."""


def _tries(intruder: Intruder, key: Authenticator, token: str, used: tuple[Any, Any]) -> Iterator[Try]:
    """All that is wrong, again and again; what needs a challenge begins with a new one."""
    for path, body in itertools.cycle(itertools.product(PATHS, (*used, *BODIES))):
        yield path, body if body in used else {"passkey": body}, {}
        yield path, DEEP, {}
        for attestation in ATTESTATIONS:
            new = intruder.surely("/api/account/passkeys/options", {}, token)["publicKey"]
            made = Authenticator(key.origin, key.domain).create(new, attestation=attestation)
            yield "/api/account/passkeys", {"passkey": made}, {}
        asked = intruder.surely("/api/sign-in/options", None)["publicKey"]
        for bent in ({"origin": EVIL}, {"domain": "evil.example"}, {"flags": 0}, {"handle": b"x" * 1000}):
            yield "/api/sign-in", {"passkey": key.get(asked, **bent)}, {}
        yield "/api/sign-in", {"passkey": key.get(asked)}, {"Origin": EVIL}


def forged_users(port: int, amount: int, address: str) -> Counter[str]:
    """The own header of a proxy, from elsewhere, however it is written and whoever it claims to be from."""
    until = time.monotonic() + SECONDS
    said = itertools.cycle(
        (
            {},
            {"X-Forwarded-For": TRUSTED},
            {"X-Forwarded-For": f"{TRUSTED}, {TRUSTED}", "X-Real-IP": TRUSTED},
            {"Forwarded": f"for={TRUSTED};by={TRUSTED}", "Via": "1.1 proxy"},
        )
    )
    names = itertools.cycle((USER_HEADER, USER_HEADER.upper(), USER_HEADER.replace("-", "_")))
    with Intruder(port, TRUSTED) as proxy, Intruder(port, address) as intruder:
        ann = proxy.surely("/api/players", {}, **{USER_HEADER: "ann"})
        assert ann["account"], "the proxy is not believed, so there is nothing to be had"
        for _ in range(amount):
            if time.monotonic() > until:
                break
            answer = intruder.ask("/api/players", {}, **{next(names): "ann"}, **next(said))
            if answer.is_success:
                told = answer.json()
                intruder.tally["reached"] += told["id"] == ann["id"] or told["account"]
            intruder.tally["done" if answer.is_success else "refused"] += 1
    return intruder.tally
