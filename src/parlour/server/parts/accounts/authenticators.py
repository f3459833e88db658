"""What an authenticator is asked and what it signs, by the library of `parlour[accounts]`."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    options_to_json_dict,
    parse_authentication_credential_json,
    parse_client_data_json,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from parlour.errors import Code, Refused
from parlour.server.parts.accounts.sites import Site
from parlour.server.sessions import Passkey

NAME = "Parlour"
"""What browsers call the site beside its address."""


class Attested(msgspec.Struct, frozen=True):
    """A new credential, as its authenticator tells it."""

    id: str
    key: bytes
    count: int


def ask_for_new(
    site: Site, player: tuple[str, str], challenge: str, seconds: float, known: Iterable[Passkey]
) -> dict[str, Any]:
    """What `navigator.credentials.create` is asked, for a player by id and name who has these passkeys."""
    id, name = player
    options = generate_registration_options(
        rp_id=site.domain,
        rp_name=NAME,
        user_id=_handle(id),
        user_name=name,
        challenge=challenge.encode(),
        timeout=int(seconds * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,  # so that signing in needs no name
            user_verification=UserVerificationRequirement.PREFERRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.id))
            for one in known
            if one.domain == site.domain
        ],
    )
    return options_to_json_dict(options)


def ask_for_any(site: Site, challenge: str, seconds: float) -> dict[str, Any]:
    """What `navigator.credentials.get` is asked: any passkey of this site."""
    options = generate_authentication_options(
        rp_id=site.domain, challenge=challenge.encode(), timeout=int(seconds * 1000)
    )
    return options_to_json_dict(options)


def _handle(id: str) -> bytes:
    """What an authenticator knows a player by, which says nothing to others."""
    return hashlib.sha256(id.encode()).digest()


def read_challenge(credential: dict[str, Any], site: Site) -> str:
    """The challenge that was signed; refused if a page of another origin asked for it."""
    with _explained():
        said = parse_client_data_json(base64url_to_bytes(credential["response"]["clientDataJSON"]))
        challenge = said.challenge.decode()
    if said.origin != site.origin:
        why = f"expected a passkey that was used at {site.origin}, got one of {said.origin[:100]}"
        raise Refused(Code.BAD_PASSKEY, why, path="$.passkey")
    return challenge


def check_new(credential: dict[str, Any], challenge: str, site: Site) -> Attested:
    """The credential that an authenticator has made; who built the authenticator is not asked."""
    with _explained():
        made = verify_registration_response(
            credential=credential,
            expected_challenge=challenge.encode(),
            expected_rp_id=site.domain,
            expected_origin=site.origin,
        )
        decoded_public_key_to_cryptography(decode_credential_public_key(made.credential_public_key))
        return Attested(bytes_to_base64url(made.credential_id), made.credential_public_key, made.sign_count)


def read_id(credential: dict[str, Any]) -> str:
    """The id of the credential that somebody signs in with."""
    with _explained():
        return bytes_to_base64url(parse_authentication_credential_json(credential).raw_id)


def check_signature(
    credential: dict[str, Any], challenge: str, site: Site, player: str, passkey: Passkey
) -> int:
    """How often the authenticator has signed by now, if it did sign this challenge with that passkey."""
    if passkey.domain != site.domain:  # a page of a subdomain can have it sign, too
        why = f"expected a passkey of {site.domain}, got one of another site"
        raise Refused(Code.BAD_PASSKEY, why, path="$.passkey")
    with _explained():
        signed = parse_authentication_credential_json(credential)
        verified = verify_authentication_response(
            credential=signed,
            expected_challenge=challenge.encode(),
            expected_rp_id=site.domain,
            expected_origin=site.origin,
            credential_public_key=passkey.key,
            credential_current_sign_count=0,
        )
    if signed.response.user_handle not in (None, b"", _handle(player)):
        raise Refused(Code.BAD_PASSKEY, "this passkey was made for another player", path="$.passkey")
    count = verified.new_sign_count
    if (count or passkey.count) and count <= passkey.count:
        why = "this passkey has counted backwards: it may be a copy; sign in another way and remove it"
        raise Refused(Code.BAD_PASSKEY, why, path="$.passkey")
    return count


@contextmanager
def _explained() -> Iterator[None]:
    """Refuse what the library cannot read or verify."""
    try:
        yield
    except WebAuthnException as error:
        raise _no_passkey(str(error).removesuffix(". See __cause__ for more info")) from None
    except Exception as error:  # noqa: BLE001 - it reads bytes that anybody can send
        raise _no_passkey(type(error).__name__) from None


def _no_passkey(why: str) -> Refused:
    message = f"expected what an authenticator signs for this site, got something else: {why[:200]}"
    return Refused(Code.BAD_PASSKEY, message, path="$.passkey")
