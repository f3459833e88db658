"""Web push: the encryption of RFC 8291 against its own example, and a signature that others can verify."""

import pytest
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from parlour.journal.memory import MemoryJournal
from parlour.server.outgoing import Outgoing
from parlour.server.parts.notifications.endpoints import Endpoints
from parlour.server.parts.notifications.push import (
    ServerKey,
    decode64,
    encode64,
    encrypt,
    read_browser,
)
from parlour.server.sessions import Sessions
from tests.push_receiver import PushReceiver, claims_of
from tests.server.world import HandClock

# RFC 8291, Appendix A.
PLAINTEXT = b"When I grow up, I want to be a watermelon"
SERVER_PRIVATE = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
BROWSER_PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
BROWSER_SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
    "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_rfc_comes_out_byte_for_byte():
    private = ec.derive_private_key(int.from_bytes(decode64(SERVER_PRIVATE), "big"), ec.SECP256R1())
    browser = read_browser(BROWSER_PUBLIC, BROWSER_SECRET)
    assert encode64(encrypt(PLAINTEXT, browser, private=private, salt=decode64(SALT))) == MESSAGE


def test_only_the_browser_that_subscribed_can_read_a_message():
    ann, bob = PushReceiver(), PushReceiver()
    sent = encrypt(b"your turn", read_browser(ann.key, ann.secret))
    assert ann.decrypt(sent) == b"your turn"
    with pytest.raises(InvalidTag):
        bob.decrypt(sent)


def test_no_two_messages_are_alike():
    ann = PushReceiver()
    browser = read_browser(ann.key, ann.secret)
    assert encrypt(b"your turn", browser) != encrypt(b"your turn", browser)


def test_a_message_that_does_not_fit_into_one_record_is_refused():
    ann = PushReceiver()
    with pytest.raises(ValueError, match="too long"):
        encrypt(b"x" * 4096, read_browser(ann.key, ann.secret))


@pytest.mark.parametrize(
    ("key", "secret"),
    [("", BROWSER_SECRET), (BROWSER_PUBLIC, "AAAA"), (BROWSER_PUBLIC[:-4], BROWSER_SECRET), ("ä", "ö")],
)
def test_keys_that_are_none_are_refused(key, secret):
    with pytest.raises(ValueError):  # noqa: PT011 - whichever says so
        read_browser(key, secret)


def test_a_push_service_can_verify_who_sends():
    key = ServerKey(bytes(range(32)))
    header = key.sign("https://push.example:8443/abc?d=1", 1735689600.0, "https://play.example")
    claims = claims_of(header, key.public)
    assert claims == {
        "aud": "https://push.example:8443",
        "exp": 1735689600 + 12 * 3600,
        "sub": "https://play.example",
    }


@pytest.mark.parametrize(
    "site",
    [
        "", "http://play.example.org", "http://localhost:8000", "https://localhost", "https://127.0.0.1:8000",
        "https://192.168.1.5", "https://[2001:db8::1]", "https://games", "https://games.local",
        "https://games.lan:8443", "https://a.localhost.", "https://",
    ],
)  # fmt: skip
def test_whoever_has_no_public_address_names_a_contact_that_push_services_take(site):
    """Apple's refuses a message without one, or with one of a local network."""
    key = ServerKey(bytes(range(32)))
    header = key.sign("https://push.example/abc", 0.0, site)
    assert claims_of(header, key.public)["sub"] == "mailto:nobody@example.com"


@pytest.mark.parametrize("site", ["https://play.example.org", "https://play.example.org:8443/games"])
def test_whoever_has_a_public_address_can_be_asked_there(site):
    key = ServerKey(bytes(range(32)))
    assert claims_of(key.sign("https://push.example/abc", 0.0, site), key.public)["sub"] == site


def test_a_signature_of_another_key_does_not_verify():
    header = ServerKey(bytes(range(32))).sign("https://push.example/abc", 0.0, "")
    with pytest.raises(InvalidSignature):
        claims_of(header, ServerKey(bytes(32)).public)


async def test_all_workers_of_a_journal_have_the_same_key(tmp_path):
    journal = MemoryJournal(tmp_path, "process")
    await journal.open()
    keys = [await Endpoints(journal, Sessions(journal, HandClock()), Outgoing()).push_key() for _ in range(2)]
    assert keys[0] is not None
    assert keys[0].public == keys[1].public  # type: ignore[union-attr]


def test_the_server_key_is_a_point_that_browsers_take():
    public = decode64(ServerKey(b"\xff" * 32).public)
    assert (len(public), public[0]) == (65, 4)
