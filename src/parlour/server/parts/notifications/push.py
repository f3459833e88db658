"""Web push: messages encrypted for one browser (RFC 8291) and the server's signature (VAPID, RFC 8292).

On `cryptography` alone, which the extra `parlour[push]` installs; this module is imported where it is needed.
"""

import base64
import os
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

RECORD_SIZE = 4096
"""Bytes of the one encrypted record of a message, at most; push services take no more."""
TOKEN_LASTS = 12 * 3600
"""Seconds for which a signature is valid; push services allow a day."""
NOBODY = "mailto:nobody@example.com"
"""The contact of a server that does not know its own address; Apple refuses `localhost`, or none."""
_LOCAL = ("home", "internal", "invalid", "lan", "local", "localdomain", "localhost", "test")
"""Ends of names that mean nothing outside of one network."""
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""How many private keys there are on the curve P-256, and one more."""


class Browser(NamedTuple):
    """The keys of a browser's subscription: its public key, and a secret that only it and we know."""

    key: bytes
    secret: bytes


def encode64(data: bytes) -> str:
    """Base64 as URLs have it, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode64(text: str) -> bytes:
    """The same back, with or without padding; `ValueError` for anything else."""
    bare = text.rstrip("=")
    return base64.b64decode(bare.encode("ascii") + b"=" * (-len(bare) % 4), b"-_", validate=True)


def read_browser(key: str, secret: str) -> Browser:
    """The keys of a subscription; `ValueError` unless they are a point of the curve and 16 bytes."""
    browser = Browser(decode64(key), decode64(secret))
    _public_key(browser.key)
    if len(browser.secret) != 16:
        raise ValueError("expected a secret of 16 bytes")
    return browser


def encrypt(
    message: bytes,
    browser: Browser,
    *,
    private: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """A message that only this browser can read; key and salt are new each time, unless a test gives them."""
    private = private or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(16)
    public = public_bytes(private)
    shared = private.exchange(ec.ECDH(), _public_key(browser.key))
    info = b"WebPush: info\x00" + browser.key + public
    material = _derive(shared, browser.secret, info, 32)
    key = _derive(material, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(material, salt, b"Content-Encoding: nonce\x00", 12)
    header = salt + RECORD_SIZE.to_bytes(4, "big") + bytes([len(public)]) + public
    if len(message) > RECORD_SIZE - len(header) - 17:
        raise ValueError(f"a message of {len(message)} bytes is too long for one record")
    return header + AESGCM(key).encrypt(nonce, message + b"\x02", None)  # 2: this is the last record


class ServerKey:
    """The key by which push services know this server: the same for all its workers, and for ever."""

    def __init__(self, secret: bytes) -> None:
        number = int.from_bytes(secret, "big") % (_ORDER - 1) + 1
        self._private = ec.derive_private_key(number, ec.SECP256R1())
        self.public = encode64(public_bytes(self._private))
        """What browsers are given to subscribe with."""

    def sign(self, url: str, date: float, site: str) -> str:
        """The Authorization header of a message to a push service, valid for a while."""
        to = urlsplit(url)
        claims = {
            "aud": f"{to.scheme}://{to.netloc}",
            "exp": int(date) + TOKEN_LASTS,
            "sub": contact_of(site),
        }
        parts = ({"typ": "JWT", "alg": "ES256"}, claims)
        signed = ".".join(encode64(msgspec.json.encode(part)) for part in parts)
        r, s = decode_dss_signature(self._private.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = encode64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return f"vapid t={signed}.{signature}, k={self.public}"


def contact_of(site: str) -> str:
    """Whom a push service may ask about this server: its site, or nobody in particular.

    Some services refuse messages that say nothing, or name what the public internet does not know.

    >>> contact_of("https://play.example.org"), contact_of("http://192.168.1.5:8000"), contact_of("")
    ('https://play.example.org', 'mailto:nobody@example.com', 'mailto:nobody@example.com')
    """
    to = urlsplit(site)
    *more, last = (to.hostname or "").rstrip(".").split(".")
    is_public = to.scheme == "https" and bool(more) and last not in _LOCAL and not last.isdecimal()
    return site if is_public and ":" not in last else NOBODY


def public_bytes(private: ec.EllipticCurvePrivateKey) -> bytes:
    """The public half of a key, as it is sent."""
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _public_key(data: bytes) -> ec.EllipticCurvePublicKey:
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data)


def _derive(material: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(hashes.SHA256(), size, salt, info).derive(material)
