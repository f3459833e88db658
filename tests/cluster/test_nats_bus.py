"""The bus by a real NATS: order, batches, and every way in which NATS or a peer can go."""

import asyncio
import re
import subprocess

import pytest

from parlour.cluster.bus import Bus, BusFailed
from parlour.cluster.frames import LONGEST_FRAME
from parlour.cluster.nats_bus import NatsBus
from tests.nats import Nats
from tests.postgres import free_port

pytestmark = pytest.mark.e2e

SOON = 10.0
"""Seconds in which something has to happen that ought to happen at once."""


class Worker:
    """A bus, and all that it told in order."""

    def __init__(self, url, id, cluster="test"):
        self.bus = NatsBus(url, cluster, id)
        self.told: list[tuple[object, ...]] = []
        self.bus.heard = lambda peer, messages: self.told.append(("heard", peer, *messages))
        self.bus.lost = lambda peer: self.told.append(("lost", peer))
        self.bus.cut = lambda: self.told.append(("cut",))
        self.bus.joined_again = lambda: self.told.append(("joined again",))

    @property
    def messages(self):
        return [message for event in self.told if event[0] == "heard" for message in event[2:]]

    def was_told(self, *event):
        return event in self.told

    async def hears(self, message):
        await until(lambda: message in self.messages)

    async def die(self):
        """Be gone without a last word, as a killed process is: its socket closes, and it does not return."""
        self.bus._stopped = True
        connection = self.bus._connection
        assert connection is not None
        connection._abort()
        await until(lambda: connection.is_broken)


async def until(condition):
    """Wait for what has to happen; the seconds that it took."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    while not condition():
        assert loop.time() < start + SOON, "it did not happen in time"
        await asyncio.sleep(0.005)
    return loop.time() - start


@pytest.fixture
def nats():
    server = Nats()
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def join(nats):
    """Start workers, and stop them in the end."""
    workers: list[Worker] = []

    async def join(*ids):
        for id in ids:
            worker = Worker(nats.url, id)
            await worker.bus.start()
            workers.append(worker)
        return workers[-len(ids) :]

    yield join
    for worker in workers:
        await worker.bus.stop()


async def opened(ann, bob):
    """Let two workers talk once."""
    ann.bus.send(bob.bus.me, b"first")
    await bob.hears(b"first")
    bob.bus.send(ann.bus.me, b"answer")
    await ann.hears(b"answer")
    ann.told.clear()
    bob.told.clear()


# Messages.


async def test_messages_are_heard_in_the_order_sent(join):
    ann, bob = await join(1, 2)
    for n in range(1000):
        ann.bus.send(2, b"%d" % n)
        if n % 7 == 0:
            await asyncio.sleep(0)
    await bob.hears(b"999")
    assert bob.messages == [b"%d" % n for n in range(1000)]


async def test_messages_of_one_turn_make_one_frame(join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    for n in range(10):
        ann.bus.send(2, b"%d" % n)
    await bob.hears(b"9")
    assert bob.told == [("heard", 1, *(b"%d" % n for n in range(10)))]


async def test_a_message_of_three_megabytes_arrives(join):
    ann, bob = await join(1, 2)
    long = bytes(range(256)) * (3 * 1024 * 1024 // 256)
    ann.bus.send(2, b"before")
    ann.bus.send(2, long)
    ann.bus.send(2, b"after")
    await bob.hears(b"after")
    assert bob.messages == [b"before", long, b"after"]


async def test_a_message_to_all_is_heard_by_all_others(join):
    ann, bob, eve = await join(1, 2, 3)
    ann.bus.broadcast(b"news")
    await bob.hears(b"news")
    await eve.hears(b"news")
    bob.bus.broadcast(b"more")
    await ann.hears(b"more")
    assert ann.messages == [b"more"]


async def test_clusters_do_not_hear_each_other(nats, join):
    (ann,) = await join(1)
    stranger = Worker(nats.url, 2, "another")
    await stranger.bus.start()
    stranger.bus.send(1, b"from another cluster")
    stranger.bus.broadcast(b"to another cluster")
    (bob,) = await join(3)
    await opened(ann, bob)
    await stranger.bus.stop()
    assert ann.told == []


async def test_a_bus_that_is_stopped_has_sent_everything(join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    for n in range(100):
        ann.bus.send(2, bytes(10_000) + b"%d" % n)
    await ann.bus.stop()
    await until(lambda: len(bob.messages) == 100)


async def test_a_worker_that_was_not_there_yet_hears_what_was_sent_to_it(join):
    (ann,) = await join(1)
    ann.bus.send(2, b"early")
    (bob,) = await join(2)
    await bob.hears(b"early")
    assert ("lost", 2) not in ann.told


# Failures.


async def test_a_dead_nats_is_noticed_at_once(nats, join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    nats.kill()
    assert await until(lambda: ann.was_told("cut") and bob.was_told("cut")) < 0.5
    assert ann.told == [("cut",), ("lost", 2)]
    assert not ann.bus.is_connected


async def test_everything_goes_on_when_a_dead_nats_is_back(nats, join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    nats.kill()
    await until(lambda: ann.was_told("cut") and bob.was_told("cut"))
    ann.bus.send(2, b"meanwhile")
    nats.start()
    await bob.hears(b"meanwhile")
    assert ann.told == [("cut",), ("lost", 2), ("joined again",)]
    assert bob.told == [("cut",), ("lost", 1), ("joined again",), ("heard", 1, b"meanwhile")]
    assert ann.bus.is_connected


async def test_what_was_under_way_when_nats_died_is_not_heard_in_part(nats, join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    for n in range(100):
        ann.bus.send(2, bytes(100_000) + b"%d" % n)
    await until(lambda: bob.messages)
    nats.kill()
    await until(lambda: ann.was_told("lost", 2) and bob.was_told("lost", 1))
    nats.start()
    ann.bus.send(2, b"afterwards")
    await bob.hears(b"afterwards")
    *before, last = bob.messages
    assert [message[100_000:] for message in before] == [b"%d" % n for n in range(len(before))]
    assert bob.told.index(("lost", 1)) == len(bob.told) - 3, "told before what is heard next"


@pytest.mark.parametrize("load", [0, 200], ids=["idle", "while much is sent"])
async def test_a_frozen_nats_is_noticed_within_three_seconds(nats, join, load):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    nats.pause()
    for _ in range(load):
        ann.bus.send(2, bytes(100_000))
    assert await until(lambda: ann.was_told("cut") and bob.was_told("cut")) < 10


async def test_everything_goes_on_when_a_frozen_nats_wakes_up(nats, join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    nats.pause()
    for _ in range(200):
        ann.bus.send(2, bytes(100_000))
    await until(lambda: ann.was_told("cut") and bob.was_told("cut"))
    nats.resume()
    await until(lambda: ann.bus.is_connected and bob.bus.is_connected)
    ann.bus.send(2, b"afterwards")
    await bob.hears(b"afterwards")
    assert bob.messages == [b"afterwards"]


async def test_a_short_freeze_is_no_failure(nats, join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    nats.pause()
    ann.bus.send(2, b"patience")
    await asyncio.sleep(1)  # as long as NATS stands still
    nats.resume()
    await bob.hears(b"patience")
    assert ann.told == []


async def test_messages_to_a_peer_that_has_died_are_told_as_lost(join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    await bob.die()
    ann.bus.send(2, b"a")
    await until(lambda: ann.was_told("lost", 2))
    assert ann.told == [("lost", 2)]


async def test_nothing_is_told_of_a_dead_peer_that_was_forgotten(join):
    ann, bob, eve = await join(1, 2, 3)
    await opened(ann, bob)
    await bob.die()
    ann.bus.send(2, b"a")
    ann.bus.send(3, b"a")
    ann.bus.forget(2)
    eve.bus._stopped = True
    await until(lambda: ann.was_told("lost", 3))  # as long as it takes to miss somebody
    assert ann.told == [("lost", 3)]


async def test_a_frame_that_was_lost_is_told_to_both_ends(join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    publish, ann.bus._transmit = ann.bus._transmit, lambda worker, frame: None
    ann.bus.send(2, b"lost")
    await asyncio.sleep(0)
    ann.bus._transmit = publish
    await until(lambda: ann.was_told("lost", 2) and bob.was_told("lost", 1))
    ann.bus.send(2, b"afterwards")
    await bob.hears(b"afterwards")
    assert bob.told == [("lost", 1), ("heard", 1, b"afterwards")]


async def test_a_foreign_message_on_our_subject_changes_nothing(join):
    ann, bob = await join(1, 2)
    await opened(ann, bob)
    ann.bus._publish("parlour.test.w.2", b"GET / HTTP/1.1")
    ann.bus.send(2, b"a")
    await bob.hears(b"a")
    assert bob.told == [("heard", 1, b"a")]


@pytest.mark.parametrize("fail", [Nats.kill, Nats.pause])
async def test_if_one_nats_is_away_the_next_one_is_used(nats, fail):
    other = Nats()
    other.start()
    ann, bob = (Worker(f"{other.url}, {nats.url}", id) for id in (1, 2))
    for worker in (ann, bob):
        await worker.bus.start()
    await opened(ann, bob)
    fail(other)
    await until(lambda: ann.was_told("joined again") and bob.was_told("joined again"))
    ann.bus.send(2, b"afterwards")
    await bob.hears(b"afterwards")
    for worker in (ann, bob):
        await worker.bus.stop()
    other.stop()


# What cannot be used.


async def failure(url):
    with pytest.raises(BusFailed) as failed:
        await NatsBus(url, "test", 1).start()
    return str(failed.value)


async def test_nobody_there_gives_a_sentence():
    port = free_port()
    assert await failure(f"nats://ann:secret@127.0.0.1:{port}") == (
        f"NATS at 127.0.0.1:{port} cannot be used: connection refused"
    )


async def test_somebody_silent_gives_a_sentence(nats):
    nats.pause()
    assert await failure(nats.url) == f"NATS at 127.0.0.1:{nats.port} cannot be used: it does not answer"


async def test_somebody_else_gives_a_sentence():
    async def refuse(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert (await failure(f"127.0.0.1:{port}")).startswith(f"NATS at 127.0.0.1:{port} cannot be used: ")


async def test_an_unknown_host_gives_a_sentence():
    sentence = await failure("nats://ann:secret@nowhere.invalid")
    assert re.fullmatch(r"NATS at nowhere\.invalid:4222 cannot be used: .+", sentence)
    assert "secret" not in sentence


@pytest.mark.parametrize(
    "url", ["nats://ann:sec/ret@127.0.0.1:4222", "nats://[", "", "nats://a:b:c", "x://y"]
)
async def test_an_address_that_cannot_be_read_gives_a_sentence(url):
    assert (await failure(url)).startswith("NATS at ")


@pytest.mark.parametrize("user", ["", "parlour:wrong@", "parlour@"])
async def test_wrong_credentials_give_a_sentence_without_them(user):
    nats = Nats("--user", "parlour", "--pass", "right")
    nats.start()
    try:
        sentence = await failure(f"nats://{user}127.0.0.1:{nats.port}")
        assert sentence.startswith(f"NATS at 127.0.0.1:{nats.port} cannot be used: ")
        assert sentence.endswith("the user or the password is wrong")
    finally:
        nats.stop()


async def test_a_user_and_a_password_are_taken_from_the_address():
    nats = Nats("--user", "parlour", "--pass", "right")
    nats.start()
    try:
        bus: Bus = NatsBus(f"nats://parlour:right@127.0.0.1:{nats.port}", "test", 1)
        await bus.start()
        assert bus.is_connected
        await bus.stop()
    finally:
        nats.stop()


@pytest.fixture
def encrypted(tmp_path):
    """A NATS with TLS, and the certificate that it shows."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=nats"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(certificate), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    server = Nats("--tls", "--tlscert", str(certificate), "--tlskey", str(key))
    server.start()
    yield server, certificate
    server.stop()


async def test_tls_is_spoken_with_a_server_whose_certificate_is_trusted(encrypted, monkeypatch):
    nats, certificate = encrypted
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    ann, bob = (Worker(f"tls://127.0.0.1:{nats.port}", id) for id in (1, 2))
    for worker in (ann, bob):
        await worker.bus.start()
    await opened(ann, bob)
    for worker in (ann, bob):
        await worker.bus.stop()


async def test_a_certificate_that_is_not_trusted_gives_a_sentence(encrypted):
    nats, _ = encrypted
    sentence = await failure(f"tls://127.0.0.1:{nats.port}")
    assert sentence.startswith(f"NATS at 127.0.0.1:{nats.port} cannot be used: ")
    assert "certificate" in sentence


async def test_a_server_without_tls_is_not_used_if_tls_is_asked_for(nats):
    sentence = await failure(f"tls://127.0.0.1:{nats.port}")
    assert sentence.endswith("cannot be used: it does not speak TLS, expected because of tls://")


async def configured(tmp_path, text):
    """What becomes of a bus by a NATS with such settings."""
    settings = tmp_path / "nats.conf"
    settings.write_text(text)
    nats = Nats("-c", str(settings))
    nats.start()
    try:
        return (await failure(f"nats://ann:ann@127.0.0.1:{nats.port}")).partition(" cannot be used: ")[2]
    finally:
        nats.stop()


async def test_a_user_who_may_not_speak_gives_a_sentence(tmp_path):
    users = (
        "authorization: {users: [{user: ann, password: ann, permissions: {publish: 'x', subscribe: '>'}}]}"
    )
    sentence = await configured(tmp_path, users)
    assert sentence == "it does not allow the user to publish and subscribe to parlour.>"


async def test_a_nats_that_takes_only_short_messages_gives_a_sentence(tmp_path):
    sentence = await configured(tmp_path, "max_payload: 1000")
    assert sentence == f"it takes 1,000 bytes in a message, expected max_payload: {LONGEST_FRAME:,}"


def test_a_cluster_has_a_plain_name():
    with pytest.raises(
        ValueError, match=r"expected letters, digits, - and _ as the name of a cluster, got 'a\.b'"
    ):
        NatsBus("nats://127.0.0.1", "a.b", 1)
