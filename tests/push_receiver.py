"""A browser's side of web push, written from the RFCs and not from our code: it decrypts and verifies."""

import base64
import os
from typing import Any

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def _to64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _of64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class PushReceiver:
    """A browser with a subscription."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._secret = os.urandom(16)
        self._public = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.key, self.secret = _to64(self._public), _to64(self._secret)

    def subscription(self, url: str) -> dict[str, Any]:
        """What the browser's `PushSubscription.toJSON()` gives."""
        keys = {"p256dh": self.key, "auth": self.secret}
        return {"endpoint": url, "expirationTime": None, "keys": keys}

    def decrypt(self, body: bytes) -> bytes:
        """What was sent; an error if it is for another browser."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(body) <= size
        shared = self._private.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        )

        def derive(material: bytes, salt: bytes, info: bytes, size: int) -> bytes:
            return HKDF(hashes.SHA256(), size, salt, info).derive(material)

        material = derive(shared, self._secret, b"WebPush: info\0" + self._public + sender, 32)
        key = derive(material, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(material, salt, b"Content-Encoding: nonce\0", 12)
        padded = AESGCM(key).decrypt(nonce, sealed, None)
        text, _, padding = padded.rpartition(b"\x02")
        assert not padding.strip(b"\0")
        return text


def claims_of(authorization: str, key: str) -> Any:
    """The claims of a VAPID header, verified with this key as a push service does it."""
    scheme, _, rest = authorization.partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert (scheme, set(fields)) == ("vapid", {"t", "k"})
    head, claims, signature = fields["t"].split(".")
    assert msgspec.json.decode(_of64(head)) == {"typ": "JWT", "alg": "ES256"}
    raw = _of64(signature)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _of64(key))
    public.verify(encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    return msgspec.json.decode(_of64(claims))
