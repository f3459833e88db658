"""An authenticator in software: it makes passkeys and signs with them, as a phone or a stick does."""

import hashlib
import json
import secrets
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class Authenticator:
    """Holds keys for the pages of one origin; what it says can be bent, as an attacker would."""

    def __init__(self, origin: str, domain: str) -> None:
        self.origin = origin
        self.domain = domain
        self.count = 0
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(16)
        self.handle = b""

    def create(self, options: Any, **bent: Any) -> dict[str, Any]:
        """The answer to `navigator.credentials.create`."""
        self.handle = base64url_to_bytes(options["user"]["id"])
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self._public_key()
        data = self._data(ATTESTED, bent) + attested
        attestation = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": self._said("webauthn.create", options, bent),
            "attestationObject": bytes_to_base64url(bent.get("attestation", attestation)),
        }
        return self._credential(response)

    def get(self, options: Any, **bent: Any) -> dict[str, Any]:
        """The answer to `navigator.credentials.get`."""
        said, data = self._said("webauthn.get", options, bent), self._data(0, bent)
        signed = data + hashlib.sha256(base64url_to_bytes(said)).digest()
        response = {
            "clientDataJSON": said,
            "authenticatorData": bytes_to_base64url(data),
            "signature": bytes_to_base64url(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": bytes_to_base64url(bent.get("handle", self.handle)),
        }
        return self._credential(response)

    def _credential(self, response: dict[str, str]) -> dict[str, Any]:
        id = bytes_to_base64url(self.id)
        return {
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }

    def _said(self, kind: str, options: Any, bent: Any) -> str:
        """What the browser adds, and has signed: which page asked, and for what."""
        said = {
            "type": bent.get("type", kind),
            "challenge": bent.get("challenge", options["challenge"]),
            "origin": bent.get("origin", self.origin),
            "crossOrigin": False,
        }
        return bytes_to_base64url(json.dumps(said).encode())

    def _data(self, flags: int, bent: Any) -> bytes:
        self.count = bent.get("count", self.count + 1)
        domain = hashlib.sha256(bent.get("domain", self.domain).encode()).digest()
        flags = bent.get("flags", flags | PRESENT | VERIFIED)
        return domain + bytes([flags]) + self.count.to_bytes(4, "big")

    def _public_key(self) -> bytes:
        point = self.key.public_key().public_numbers()
        x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
        return encode_cbor({1: 2, 3: -7, -1: 1, -2: x, -3: y})
