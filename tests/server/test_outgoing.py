"""Requests to addresses that players chose: none leads into the local network, however it is dressed up."""

import asyncio
import ssl
import threading
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from parlour.errors import Refused
from parlour.server.outgoing import Names, NotReached, Outgoing, is_public, read_url
from tests.listener import Listener


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1",
        "::1", "::", "fe80::1", "fec0::1", "fc00::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:0:0:0:0:0:80ff:fffe",
        "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.192", "192.31.196.1",
        "192.52.193.1", "192.88.99.1", "192.175.48.1", "198.51.100.1", "203.0.113.1", "169.254.0.1",
        "2001:1::1", "2001:1::2", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1",
        "2001:30::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "5f00::1", "100::1", "100:0:0:1::1",
        "64:ff9b:1::808:808", "::8.8.8.8", "::10.0.0.1", "::ffff:0:10.0.0.1", "::ffff:192.88.99.1",
        "64:ff9b::c058:6301", "2002:c058:6301::1", "2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe",
        "2600::5efe:10.0.0.1", "2600::200:5efe:192.168.1.1", "2001::8.8.8.8",
        "fd12:3456::5efe:8.8.8.8", "fe80::5efe:8.8.8.8", "fec0::200:5efe:8.8.8.8", "2001:db8::5efe:8.8.8.8",
        "64:ff9b:1:a00:0:5efe:8.8.8.8", "100::5efe:8.8.8.8", "::5efe:8.8.8.8", "2002:a00:1::5efe:8.8.8.8",
        "2002:7f00:1::200:5efe:8.8.8.8",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_public_internet_is_known_in_every_dress(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "192.0.1.1",
        "192.88.98.1",
        "2606:4700::1111",
        "2001:200::1",
        "64:ff9b::808:808",
        "2600::5efe:8.8.8.8",
    ],
)
def test_an_address_of_the_public_internet_is_reached(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://127.0.0.1:0/", "//example.org", "https://exämple.org/", ""]
)
def test_only_plain_https_addresses_are_taken(url):
    with pytest.raises(Refused, match="bad_address"):
        read_url(url, local=False)


def finds(*answers):
    """A look-up of names that answers in turn, and what it was asked."""
    asked = []

    async def look_up(host, port, owner):
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return look_up, asked


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_this_machine_is_refused_by_whatever_name(host):
    async with Listener() as listener:
        with pytest.raises(Refused, match="bad_address"):
            await Outgoing().post(f"https://{host}:{listener.port}/", "ann", {}, b"{}")
        assert listener.received == []


async def test_a_name_with_one_local_address_is_refused_whatever_the_others_are():
    look_up, _ = finds(["8.8.8.8", "10.0.0.1"])
    with pytest.raises(Refused, match="local network"):
        await Outgoing(look_up=look_up).check("https://example.org/", "ann")


async def test_a_name_that_leads_elsewhere_after_the_check_is_not_followed_there(monkeypatch):
    """DNS rebinding: the name is looked up once, and the connection goes to the address that was checked."""
    connected = []

    async def connect(address, port, **how):
        connected.append((address, how["server_hostname"]))
        raise OSError("nobody there")

    monkeypatch.setattr("asyncio.open_connection", connect)
    look_up, asked = finds(["8.8.8.8"], ["127.0.0.1"])
    with pytest.raises(NotReached):
        await Outgoing(look_up=look_up).post("https://rebind.example/", "ann", {}, b"{}")
    assert (asked, connected) == (["rebind.example"], [("8.8.8.8", "rebind.example")])
    with pytest.raises(Refused, match="local network"):
        await Outgoing(look_up=look_up).post("https://rebind.example/", "ann", {}, b"{}")
    assert len(connected) == 1


async def test_names_that_nobody_answers_for_hold_up_no_thread_of_the_server_and_do_not_become_many():
    """Whoever adds webhooks at such names would else keep the journal from noting the time."""
    asked, answer = [], threading.Event()

    def ask(host, port):
        asked.append(host)
        answer.wait()
        return ["8.8.8.8"]

    names = Names(3, ask)
    outgoing = Outgoing(look_up=names.look_up, timeout=0.01)
    waiting = [outgoing.check(f"https://silent-{number}.example/", "ann") for number in range(50)]
    refused = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(why) for why in refused} == {Refused}
    assert len(asked) == 3
    async with asyncio.timeout(30):
        assert await asyncio.to_thread(lambda: "the journal") == "the journal"
        answer.set()
        assert await names.look_up("example.org", 443, "ann") == ["8.8.8.8"]


async def test_a_player_whose_names_are_all_slow_holds_up_nobody_elses():
    asked, answer = [], threading.Event()

    def ask(host, port):
        asked.append(host)
        if host.startswith("silent"):
            answer.wait()
        return ["8.8.8.8"]

    names = Names(3, ask, share=2)
    slow = [asyncio.create_task(names.look_up(f"silent-{n}.example", 443, "eve")) for n in range(50)]
    async with asyncio.timeout(30):
        for n in range(5):
            assert await names.look_up(f"ann-{n}.example", 443, "ann") == ["8.8.8.8"]
        assert len([host for host in asked if host.startswith("silent")]) == 2
        for late in slow[10:]:
            late.cancel()
        answer.set()
        assert await asyncio.gather(*slow[:10]) == [["8.8.8.8"]] * 10
        assert await names.look_up("example.org", 443, "eve") == ["8.8.8.8"]


async def test_a_look_up_that_ends_by_a_mistake_keeps_no_place():
    def ask(host, port):
        raise KeyError(host)

    names = Names(1, ask, share=1)
    for _ in range(3):
        with pytest.raises(KeyError):
            await names.look_up("example.org", 443, "ann")


async def test_a_name_that_is_not_there_is_refused_with_its_name():
    def ask(host, port):
        raise OSError("no such name")

    with pytest.raises(Refused, match=r"there is no server nowhere\.example"):
        await Outgoing(look_up=Names(1, ask).look_up).check("https://nowhere.example/", "ann")


async def test_what_is_no_answer_of_the_web_is_a_failure():
    async with Listener() as listener:
        outgoing = Outgoing(local=True)
        for nonsense in (b"SSH-2.0-OpenSSH\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 40_000):
            listener.answer = nonsense
            with pytest.raises(NotReached):
                await outgoing.post(listener.url(), "ann", {}, b"{}")


async def test_an_answer_that_is_announced_again_and_again_is_read_no_further_than_any_other():
    """Each announcement is complete by itself; the loop that reads them has everybody else to serve, too."""
    async with Listener() as listener:
        listener.answer = b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000 + b"HTTP/1.1 200 OK\r\n\r\n"
        with pytest.raises(NotReached, match="too long"):
            await Outgoing(local=True).post(listener.url(), "ann", {}, b"{}")


async def test_an_answer_that_is_announced_once_is_taken():
    async with Listener() as listener:
        listener.answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
        assert await Outgoing(local=True).post(listener.url(), "ann", {}, b"{}") == 200


async def test_a_server_that_is_not_there_is_a_failure():
    async with Listener() as listener:
        url = listener.url()
    with pytest.raises(NotReached):
        await Outgoing(local=True).post(url, "ann", {}, b"{}")


async def test_a_long_answer_is_not_read():
    async with Listener() as listener:
        listener.answer = b"HTTP/1.1 202 Accepted\r\nContent-Length: 9999999999\r\n\r\n" + b"a" * 100_000
        assert await Outgoing(local=True).post(listener.url("/a?b=c"), "ann", {"X-Mine": "1"}, b"{}") == 202
        (received,) = listener.received
        assert (received.path, received.body) == ("/a?b=c", b"{}")
        assert (received.headers["host"], received.headers["x-mine"]) == (f"127.0.0.1:{listener.port}", "1")


# Encrypted.


class Encrypted(NamedTuple):
    """An endpoint on this machine that is called `hook.example`, and whoever vouches for it."""

    port: int
    trusting: ssl.SSLContext
    """Knows its certificate as one to be trusted; by default nobody does."""

    def outgoing(self, *, trusts: bool) -> Outgoing:
        look_up, _ = finds(["127.0.0.1"])
        return Outgoing(local=True, look_up=look_up, tls=self.trusting if trusts else None)

    async def post(self, host: str, *, trusts: bool) -> int:
        return await self.outgoing(trusts=trusts).post(f"https://{host}:{self.port}/turns", "ann", {}, b"{}")


def certificate_of(name, folder):
    """A certificate for a name, which nobody but itself has signed, with its key; the file of both."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    how = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(made.public_bytes(Encoding.PEM) + key.private_bytes(*how))
    return file


@pytest.fixture
async def encrypted(tmp_path):
    file = certificate_of("hook.example", tmp_path)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(file)
    async with Listener(tls=own) as listener:
        yield Encrypted(listener.port, ssl.create_default_context(cafile=file)), listener


async def test_an_encrypted_endpoint_with_a_trusted_certificate_is_told(encrypted):
    endpoint, listener = encrypted
    assert await endpoint.post("hook.example", trusts=True) == 200
    assert listener.received[0].headers["host"] == f"hook.example:{endpoint.port}"


async def test_a_certificate_that_nobody_vouches_for_is_refused(encrypted):
    endpoint, listener = encrypted
    with pytest.raises(NotReached, match="CERTIFICATE_VERIFY_FAILED"):
        await endpoint.post("hook.example", trusts=False)
    assert listener.received == []


@pytest.mark.parametrize("host", ["other.example", "localhost", "127.0.0.1"])
async def test_the_certificate_of_another_name_is_refused(encrypted, host):
    endpoint, listener = encrypted
    with pytest.raises(NotReached, match="CERTIFICATE_VERIFY_FAILED"):
        await endpoint.post(host, trusts=True)
    assert listener.received == []
