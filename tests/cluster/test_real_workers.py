"""Workers as processes, with a real PostgreSQL and NATS: what is killed or cut costs a pause at most."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial

import pytest
from nats.aio.client import Client

from parlour.client import Lost
from parlour.cluster.frames import Data, decode
from tests.cluster.cutting import CuttingProxy
from tests.cluster.guests import TALK_EVERY, Line, Saying
from tests.cluster.real import ADOPTED_WITHIN, Cluster, RealWorker, kept, until
from tests.nats import Nats
from tests.postgres import Postgres
from tests.torture.kept import Kept

pytestmark = pytest.mark.e2e


HANDED_OVER_WITHIN = 5.0
"""Seconds; it takes some 0.3 on a machine that has nothing else to do."""


@pytest.fixture(scope="module")
def trio(tmp_path_factory, postgres, nats) -> Iterator[Cluster]:
    """Three workers for all tests that do nothing to them."""
    cluster = Cluster(tmp_path_factory.mktemp("trio"), postgres, nats)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(cluster.open(3))).result()
    yield cluster
    cluster.end()


@pytest.fixture
def own_nats() -> Iterator[Nats]:
    """A NATS to which anything may be done."""
    server = Nats()
    server.start()
    yield server
    server.stop()


@asynccontextmanager
async def chatting(*lines: Line) -> AsyncIterator[list[float]]:
    """While this lasts these people talk, and everything that they say is acknowledged.

    Gives how long each answer took, at the end with the longest one last.
    """
    clock = asyncio.get_running_loop().time
    pauses: list[float] = []
    talking = True

    async def talk(line: Line) -> None:
        number = 0
        while talking:
            number += 1
            asked = clock()
            answer = await line.ask("chat", {"text": f"{number}", "id": f"chat-{number}"})
            assert answer.status == "ok", answer
            pauses.append(clock() - asked)
            await asyncio.sleep(TALK_EVERY)

    tasks = [asyncio.create_task(talk(line)) for line in lines]
    try:
        yield pauses
    finally:
        talking = False
        await asyncio.gather(*tasks)
        pauses.sort()


def texts(line: Line) -> list[tuple[int, str]]:
    """What somebody heard people say, and by which step."""
    return [(heard.payload["seq"], heard.payload["text"]) for heard in line.all("chat")]


async def check_heard(cluster: Cluster, room: str, *lines: Line) -> Kept:
    """Everybody has heard everything that was said while they were there, once and in order."""

    async def all_heard() -> Kept | None:
        there = await kept(cluster, room)  # again each time: who is gone is a step, too, and may still come
        return there if all(line.seq == there.seq for line in lines) else None

    there: Kept = await until(all_heard, "the last step")
    for line in lines:
        said = [(seq, text) for seq in range(1, there.seq + 1) for text in _said(there, seq, line.guest.id)]
        first = line.all("sync")[0].payload["seq"]
        assert texts(line) == [one for one in said if one[0] > first]
        assert line.seqs == sorted(set(line.seqs))
    return there


def _said(there: Kept, seq: int, player: str) -> list[str]:
    return [payload["text"] for name, payload in there.messages(seq, player) if name == "chat"]


# Where nothing is wrong.


@pytest.mark.parametrize("places", [(0, 0, 1), (0, 1, 2), (1, 1, 1)])
async def test_players_and_watchers_at_different_workers_are_in_one_game(trio, come, places):
    owner = trio.workers[0]
    room = await trio.new_room(owner)
    at = [trio.workers[place] for place in places]
    ann, bob = await come(room, ann=at[0], bob=at[1])
    (zoe,) = await come(room, zoe=at[2], watching=True)
    for line, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
        assert (await line.play("mark", cell=cell)).status == "ok"
    await until(lambda: {*map(len, (ann.cells, bob.cells, zoe.cells))} == {5}, "five moves for everybody")
    assert ann.cells == bob.cells == zoe.cells == [0, 3, 1, 4, 2]
    assert ann.all("update")[-1].payload["result"]["outcome"]["won"] == [ann.guest.id]
    assert (await asyncio.to_thread(at[2].room, room))["seq"] == ann.seq


async def test_a_refusal_comes_from_another_worker_with_its_reason(trio, come):
    room = await trio.new_room(trio.workers[0])
    ann, bob = await come(room, ann=trio.workers[1], bob=trio.workers[2])
    answer = await bob.play("mark", cell=0)
    assert answer.refusal is not None
    assert answer.refusal.code == "not_your_turn"


async def test_a_token_of_one_worker_is_good_at_all(trio):
    guest = await asyncio.to_thread(trio.workers[0].guest, "ann")
    room = await trio.new_room(trio.workers[1])
    line = Line(guest, room)
    await line.connect(trio.workers[2])
    assert (await line.join()).response["player"] == guest.id
    await line.close()


HIDDEN = re.compile(rb"\b[rb][0-9SFMB]\b")
"""A piece of Stratego whose rank is to be seen."""


@pytest.mark.parametrize("owner", [0, 1, 2])
async def test_no_secret_goes_to_a_worker_where_nobody_may_know_it(trio, nats, come, owner):
    """Red and blue are at one worker, and somebody watches at another: it is sent no rank."""
    at, watched, _ = trio.workers
    mailboxes: dict[str, bytes] = {}

    async def overhear(message) -> None:
        frame = decode(message.data)
        if isinstance(frame, Data):
            mailboxes[message.subject] = mailboxes.get(message.subject, b"") + b" ".join(frame.messages)

    spy = Client()
    await spy.connect(nats.url)
    await spy.subscribe("parlour.>", cb=overhear)
    await spy.flush()
    config = {"setup": "random"}
    room = await trio.new_room(trio.workers[owner], "stratego", config=config)
    red, blue = await come(room, red=at, blue=at)
    (zoe,) = await come(room, zoe=watched, watching=True)
    assert HIDDEN.search(str(red.view["board"]).encode())
    for _ in range(3):
        for line in (red, blue):
            refusal = await line.play("move", **{"from": 45, "to": 45})
            board = " ".join(line.view["board"]).split()
            moves = [one for one in refusal.response["legal"] if one["type"] == "move"]
            move = next(one for one in moves if board[one["to"]] == ".")  # whoever attacks shows a rank
            assert (await line.ask("game_event", {"event": move})).status == "ok"
    await until(lambda: zoe.seq == red.seq, "all moves at the watcher")
    told = {int(subject.rpartition(".")[2]): heard for subject, heard in mailboxes.items()}
    await spy.close()
    ids = {await trio.id_of(worker): worker for worker in trio.workers}
    boards = {worker: b"board" in told.get(id, b"") for id, worker in ids.items()}
    assert boards == {
        worker: worker is not trio.workers[owner] and worker in (at, watched) for worker in boards
    }
    for id, worker in ids.items():
        if worker is not at:
            assert not HIDDEN.search(told.get(id, b"")), f"a rank went to worker {id}"


# A worker that dies, freezes, stops or joins.


async def test_a_room_whose_owner_is_killed_goes_on_soon_and_loses_nothing(cluster, come):
    at, other, owner = await cluster.open(3)
    room = await cluster.new_room(owner)
    ann, bob = await come(room, ann=at, bob=other)
    (zoe,) = await come(room, zoe=at, watching=True)
    for line, cell in ((ann, 0), (bob, 3)):
        assert (await line.play("mark", f"mark-{cell}", cell=cell)).status == "ok"
    async with chatting(ann, bob) as pauses:
        await until(lambda: len(pauses) > 10, "some talk")
        owner.kill()
        before = len(pauses)
        await until(lambda: len(pauses) > before + 20, "more talk")
    assert pauses[-1] < ADOPTED_WITHIN
    assert (await ann.play("mark", "mark-1", cell=1)).status == "ok"
    await check_heard(cluster, room, ann, bob, zoe)
    assert ann.cells == bob.cells == zoe.cells == [0, 3, 1]
    assert ann.closed is bob.closed is zoe.closed is None
    assert await cluster.owner(room) in (at, other)


async def test_a_frozen_owner_is_fenced_and_writes_nothing_when_it_wakes(cluster, come):
    at, owner = await cluster.open(2)
    room = await cluster.new_room(owner)
    ann, bob = await come(room, ann=at, bob=owner)
    me = await cluster.id_of(owner)
    owner.signal(signal.SIGSTOP)
    frozen = asyncio.get_running_loop().time()
    late = bob.ask_soon("chat", {"text": "too late", "id": "late"})
    async with chatting(ann) as pauses:
        await asyncio.sleep(3 - (asyncio.get_running_loop().time() - frozen))
        owner.signal(signal.SIGCONT)
        code = await owner.ended()
    assert code == 1
    assert "this worker was declared gone by the others" in owner.log
    assert pauses[-1] < ADOPTED_WITHIN
    await until(lambda: bob.closed, "a close")
    assert bob.closed == 1012
    assert isinstance(late.exception(), Lost)
    there = await check_heard(cluster, room, ann)
    assert "late" not in {step.id for step in there.steps}
    assert await cluster.fate(me) == "gone"
    await bob.connect(at)
    assert (await bob.join(since=bob.seq)).status == "ok"
    assert (await bob.ask("chat", {"text": "too late", "id": "late"})).status == "ok"
    await check_heard(cluster, room, ann, bob)


async def test_an_owner_that_is_stopped_hands_its_rooms_over(cluster, come):
    at, other, owner = await cluster.open(3)
    room = await cluster.new_room(owner)
    ann, bob = await come(room, ann=at, bob=other)
    (zoe,) = await come(room, zoe=owner, watching=True)
    async with chatting(ann, bob) as pauses:
        await until(lambda: len(pauses) > 10, "some talk")
        code = await asyncio.to_thread(owner.stop)
        before = len(pauses)
        await until(lambda: len(pauses) > before + 20, "more talk")
    assert code == 0, owner.log
    assert pauses[-1] < HANDED_OVER_WITHIN
    assert (ann.closed, bob.closed, zoe.closed) == (None, None, 1012)
    await zoe.connect(other)
    assert (await zoe.join(since=zoe.seq, spectate=True)).status == "ok"
    await check_heard(cluster, room, ann, bob, zoe)


async def test_a_worker_that_joins_gets_rooms_while_they_are_played(cluster, come):
    at, other = await cluster.open(2)
    rooms = [await cluster.new_room(worker) for worker in (at, other) for _ in range(8)]
    lines = [(await come(room, ann=at, bob=other)) for room in rooms]
    async with chatting(*(ann for ann, _ in lines)) as pauses:
        await until(lambda: len(pauses) > 100, "some talk")
        (third,) = await cluster.open(1)
        owners = [await cluster.owner(room) for room in rooms]
        before = len(pauses)
        await until(lambda: len(pauses) > before + 100, "more talk")
    assert third in owners
    assert pauses[-1] < HANDED_OVER_WITHIN
    for room, (ann, bob) in zip(rooms, lines, strict=True):
        await check_heard(cluster, room, ann, bob)
        assert ann.closed is bob.closed is None


# The bus.


async def test_a_bus_that_is_away_for_a_moment_costs_nobody_a_step_or_a_connection(
    tmp_path, postgres, own_nats, come
):
    cluster = Cluster(tmp_path, postgres, own_nats)
    try:
        at, owner = await cluster.open(2)
        room = await cluster.new_room(owner)
        ann, bob = await come(room, ann=at, bob=owner)
        async with chatting(ann, bob) as pauses:
            await until(lambda: len(pauses) > 10, "some talk")
            own_nats.kill()
            before = len(pauses)
            await until(lambda: len(pauses) > before + 3, "talk at the owner, which needs no bus")
            own_nats.start()
            answered = len(texts(ann))
            await until(lambda: len(texts(ann)) > answered + 20, "talk that comes through")
        await check_heard(cluster, room, ann, bob)
        assert ann.closed is bob.closed is None
        assert at.running
        assert owner.running
    finally:
        cluster.end()


async def test_a_bus_that_freezes_for_a_moment_costs_nobody_a_step_or_a_connection(
    tmp_path, postgres, own_nats, come
):
    cluster = Cluster(tmp_path, postgres, own_nats)
    try:
        at, owner = await cluster.open(2)
        room = await cluster.new_room(owner)
        ann, bob = await come(room, ann=at, bob=owner)
        async with chatting(ann, bob) as pauses:
            await until(lambda: len(pauses) > 10, "some talk")
            own_nats.pause()
            await asyncio.sleep(0.5)  # the freeze
            own_nats.resume()
            answered = len(texts(ann))
            await until(lambda: len(texts(ann)) > answered + 20, "talk that comes through")
        await check_heard(cluster, room, ann, bob)
        assert ann.closed is bob.closed is None
    finally:
        cluster.end()


async def test_a_worker_that_is_cut_off_from_the_bus_hands_its_rooms_over(cluster, nats, come):
    at, other = await cluster.open(2)
    proxy = CuttingProxy(nats.port)
    await proxy.start()
    owner = cluster.add(bus=proxy.url)
    await owner.open()
    await cluster.all_shared()
    room = await cluster.new_room(owner)
    ann, bob = await come(room, ann=at, bob=other)
    (zoe,) = await come(room, zoe=owner, watching=True)
    proxy.cut()
    code = await owner.ended()
    assert code == 1
    assert "no bus for 3 s: this worker hands its rooms over" in owner.log
    assert zoe.closed == 1012
    async with chatting(ann, bob) as pauses:
        await until(lambda: len(pauses) > 10, "talk")
    await zoe.connect(at)
    assert (await zoe.join(since=zoe.seq, spectate=True)).status == "ok"
    await check_heard(cluster, room, ann, bob, zoe)
    assert ann.closed is bob.closed is None
    await proxy.stop()


async def test_workers_without_a_bus_for_long_stop_and_their_clients_come_again(
    tmp_path, postgres, own_nats, come
):
    cluster = Cluster(tmp_path, postgres, own_nats)
    try:
        at, owner = await cluster.open(2)
        room = await cluster.new_room(owner)
        ann, bob = await come(room, ann=at, bob=owner)
        own_nats.kill()
        codes = await asyncio.gather(at.ended(), owner.ended())
        assert list(codes) == [1, 1]
        for worker in (at, owner):
            assert "no bus for 3 s" in worker.log
        assert ann.closed == bob.closed == 1012
        own_nats.start()
        await asyncio.gather(at.open(), owner.open())
        for line in (ann, bob):
            await line.connect(at)
            assert (await line.join(since=line.seq)).status == "ok"
            assert (await line.ask("chat", {"text": "back", "id": "back"})).status == "ok"
        await check_heard(cluster, room, ann, bob)
    finally:
        cluster.end()


# The database.


async def is_healthy(worker: RealWorker) -> bool:
    return await worker.health() == 200


async def is_unhealthy(worker: RealWorker) -> bool:
    return await worker.health() == 503


async def test_a_database_that_crashes_loses_nothing_acknowledged_and_refuses_nothing_kept(
    tmp_path, nats, come
):
    postgres = Postgres()
    postgres.start()
    cluster = Cluster(tmp_path, postgres, nats)
    try:
        at, owner = await cluster.open(2)
        room = await cluster.new_room(owner)
        ann, bob = await come(room, ann=at, bob=owner)
        saying = Saying(ann, bob)
        async with saying.meanwhile(at):
            await until(lambda: len(saying.acknowledged) > 20, "some talk")
            await asyncio.to_thread(postgres.crash)
            for worker in (at, owner):
                await until(partial(is_unhealthy, worker), "a worker that says it cannot write")
            await asyncio.to_thread(postgres.start)
            before = len(saying.acknowledged)
            await until(lambda: len(saying.acknowledged) > before + 20, "more talk")
            for worker in (at, owner):
                await until(partial(is_healthy, worker), "a worker that says it can write")
        there = await kept(cluster, room)
        done = {step.id for step in there.steps}
        assert saying.acknowledged <= done
        assert not saying.refused & done
        assert {*saying.closed} <= {1012}
        assert await cluster.owner(room) is owner
        assert not await cluster.ask("SELECT FROM workers WHERE gone")
    finally:
        cluster.end()
        postgres.stop()


# What is wrong from the start.


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--bus", "nats://127.0.0.1:1"), "NATS at 127.0.0.1:1 cannot be used: connection refused"),
        (("--bus", "nats://nowhere.invalid:4222"), "NATS at nowhere.invalid:4222 cannot be used"),
        (("--bus", "nats://127.0.0.1:1", "--journal", "sqlite"), "--bus: workers share a database"),
    ],
)
async def test_a_worker_that_cannot_begin_says_why(cluster, options, sentence):
    worker = RealWorker(cluster.folder / "data", "--journal", cluster.url, *options)
    cluster.workers.append(worker)
    worker.begin()
    assert await worker.ended() == 1
    assert sentence in " ".join(worker.log.split())


async def test_a_worker_does_not_share_with_a_server_that_is_alone(cluster):
    alone = await _alone(cluster)
    worker = cluster.add()
    worker.begin()
    assert await worker.ended() == 1
    assert "stop it, or start it with --bus" in " ".join(worker.log.split())
    assert await alone.health() == 200


async def test_a_second_server_stands_by_and_takes_over_when_the_first_is_killed(cluster, come):
    first = await _alone(cluster)
    room = (await asyncio.to_thread(first.open_room))["id"]
    ann, bob = await come(room, ann=first, bob=first)
    second = await _standing_by(cluster)
    assert (await ann.play("mark", "first", cell=0)).status == "ok"
    killed = asyncio.get_running_loop().time()
    await asyncio.to_thread(first.kill)
    await asyncio.to_thread(second.wait_until_open)
    assert asyncio.get_running_loop().time() - killed < ADOPTED_WITHIN
    for line in (ann, bob):
        await line.connect(second)
        assert (await line.join(since=line.seq)).status == "ok"
    assert (await bob.play("mark", "second", cell=3)).status == "ok"
    assert ann.cells == bob.cells == [0, 3]


async def test_a_server_whose_place_was_taken_writes_nothing_more_and_stops(cluster, come):
    first = await _alone(cluster)
    room = (await asyncio.to_thread(first.open_room))["id"]
    (ann,) = await come(room, ann=first)
    second = await _standing_by(cluster)
    await cluster.ask(LOSE_TURN)
    await asyncio.to_thread(second.wait_until_open)
    assert await first.ended() == 1
    assert "another server has taken over the database" in first.log
    assert ann.closed == 1012


LOSE_TURN = """SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted AND objsubid = 1"""


async def _alone(cluster: Cluster) -> RealWorker:
    """A server without others."""
    server = RealWorker(cluster.folder / "alone", "--journal", cluster.url)
    cluster.workers.append(server)
    await server.open()
    return server


async def _standing_by(cluster: Cluster) -> RealWorker:
    """A server that waits for its turn."""
    server = RealWorker(cluster.folder / "second", "--journal", cluster.url)
    cluster.workers.append(server)
    server.begin()
    await asyncio.to_thread(server.wait_for_log, "another_server_is_there")
    return server
