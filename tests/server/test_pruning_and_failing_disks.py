"""Held rooms, pruning of ended rooms, failing disks, and a clean stop."""

import pytest

from parlour.errors import Refused
from parlour.games import GAMES
from parlour.journal.base import DiskFailed, NotKept
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal
from parlour.wire import Chat, Join
from tests.journal.made import summary
from tests.server.world import PLAYABLE, HandClock, World

# A game that is not there.


async def test_a_room_whose_game_is_missing_sleeps_with_its_timers_held():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 50})
        await world.wait(20)
        async with await world.restart(GAMES) as without:
            assert (await without.server.rooms.look("ABCD")).status == "game_missing"
            ann = await without.person("ann")
            assert (await ann.join("ABCD"))[1]["code"] == "unknown_game"
            await without.wait(10_000)
            async with await without.restart(PLAYABLE) as back:
                assert (await back.server.rooms.look("ABCD")).status == "waiting"
                await back.wait(29)
                assert "rang bell" not in back.room().state.calls
                await back.wait(1)
                assert "rang bell" in back.room().state.calls


async def test_rooms_of_other_games_do_not_notice_a_missing_one():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        await world.open("tictactoe", "FINE")
        async with await world.restart(GAMES) as without:
            await without.seated("FINE", "ann", "bob")


async def test_a_room_that_was_held_twice_loses_no_time():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        await world.wait(100)
        async with await world.restart(GAMES) as without:
            await without.wait(5_000)
            async with await without.restart(GAMES) as still:
                await still.wait(5_000)
                async with await still.restart(PLAYABLE) as back:
                    await back.wait(199)
                    assert (await back.server.rooms.look("ABCD")).ended is None
                    await back.wait(1)
                    assert (await back.server.rooms.look("ABCD")).ended == "game_timeout"


# Rooms that ended long ago.


async def test_an_ended_room_can_be_looked_at_for_its_time_and_is_then_forgotten():
    async with World(PLAYABLE, keep_ended=1.0) as world:
        await world.open("probe")
        await world.wait(300)
        assert (await world.server.rooms.look("ABCD")).status == "ended"
        await world.wait(86_400 - 1)
        assert await world.journal.find("ABCD") is not None
        await world.wait(2)
        assert await world.journal.find("ABCD") is None


class Jumpy(HandClock):
    """A clock whose wall time can be set."""

    ahead = 0.0

    def date(self):
        return super().date() + self.ahead


@pytest.mark.parametrize("journal", [MemoryJournal, SqliteJournal])
async def test_a_wall_clock_that_jumps_forgets_nothing_and_keeps_nothing_longer(tmp_path, journal):
    clock = Jumpy()
    async with World(PLAYABLE, journal(tmp_path, "process"), clock, keep_ended=1.0) as world:
        await world.open("probe")
        await world.wait(300)
        clock.ahead = 40 * 86_400
        await world.wait(3)
        await world.open("probe", "LATER")
        await world.wait(300)
        clock.ahead = -40 * 86_400
        await world.wait(3)
        assert [(await world.server.rooms.look(id)).status for id in ("ABCD", "LATER")] == ["ended", "ended"]
        clock.ahead = 0
        await world.wait(86_400)
        assert [await world.journal.find(id) for id in ("ABCD", "LATER")] == [None, None]


@pytest.mark.parametrize("kind", [MemoryJournal, SqliteJournal])
async def test_forgetting_keeps_up_with_whoever_opens_a_hundred_rooms_a_second(tmp_path, kind):
    async with World(PLAYABLE, kind(tmp_path, "process"), keep_ended=1.0) as world:
        await world.wait(2 * 86_400)
        made = [
            await world.journal.create(summary(f"R{n}", ended="x", ended_at=1.0), b"{}", None)
            for n in range(300)
        ]
        await world.server.rooms.beat()
        await world.server.rooms.beat()
        assert [number for number in made if await world.journal.find(number) is not None] == []


# Disks.


class Failing(MemoryJournal):
    """A journal whose disk fails when told to."""

    error: Exception | None = None

    def append(self, room, steps, writes, kept):
        if self.error is not None:
            kept(self.error)
        else:
            super().append(room, steps, writes, kept)

    async def beat(self, now):
        if self.error is not None:
            raise self.error
        await super().beat(now)


async def test_the_servers_health_is_degraded_while_nothing_can_be_kept(tmp_path):
    journal = Failing(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        journal.error = NotKept("database or disk is full")
        assert (await ann.play("ABCD", {"type": "tell"}))[1]["code"] == "not_saved"
        assert world.server.environment.trouble == "database or disk is full"
        journal.error = None
        await world.wait(1)
        assert world.server.environment.trouble is None


async def test_after_a_failed_disk_the_server_gives_up(tmp_path):
    journal = Failing(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        gave_up: list[Exception] = []
        world.server.environment.give_up = gave_up.append
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        journal.error = DiskFailed("disk I/O error")
        ann.send_soon('[null, "1", "game:ABCD", "game_event", {"event": {"type": "tell"}}]')
        await world.quiet()
        assert gave_up
        journal.error = None


async def test_whoever_asked_for_what_may_have_happened_is_sent_away_to_come_back_and_see(tmp_path):
    journal = Failing(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        ann.forget()
        journal.error = DiskFailed("disk I/O error")
        ann.send_soon('[null, "asked", "game:ABCD", "game_event", {"event": {"type": "tell"}}]')
        await world.quiet()
        assert ann.closed == (1012, "come again")
        assert [frame for frame in ann.frames if frame[1] == "asked"] == []
        with pytest.raises(Refused) as unknown:
            await world.ask("ABCD", Chat("ann", "Ann", "hello"), None)
        assert unknown.value.code == "outcome_unknown"
        journal.error = None


class Late(MemoryJournal):
    """A journal that says no to what it keeps."""

    late = False

    def append(self, room, steps, writes, kept):
        late = NotKept("no answer in time")
        super().append(room, steps, writes, (lambda _: kept(late)) if self.late else kept)


async def test_a_step_that_is_there_although_its_write_failed_is_not_refused(tmp_path):
    journal = Late(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        journal.late = True
        with pytest.raises(Refused) as unknown:
            await world.ask("ABCD", Chat("ann", "Ann", "hello"), None)
        assert unknown.value.code == "outcome_unknown"
        assert ann.closed == (1012, "come again")
        journal.late = False


class Unreadable(MemoryJournal):
    """A journal whose steps cannot be read when told so."""

    away = False

    async def replay(self, room, after=0):
        if self.away:
            raise NotKept("the database is away")
        async for step in super().replay(room, after):
            yield step


async def test_a_command_that_was_done_is_not_refused_because_the_journal_cannot_be_read(tmp_path):
    journal = Unreadable(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        assert (await ann.play("ABCD", {"type": "tell"}, "once"))[0] == "ok"
        ann.forget()
        journal.away = True
        ann.send_soon('[null, "asked", "game:ABCD", "game_event", {"event": {"type": "tell"}, "id": "once"}]')
        await world.quiet()
        assert ann.closed == (1012, "come again")
        assert [frame for frame in ann.frames if frame[1] == "asked"] == []
        journal.away = False


# A clean stop.


async def test_a_clean_stop_stores_all_rooms_in_few_transactions(tmp_path):
    journal = SqliteJournal(tmp_path, "process")
    world = World(PLAYABLE, journal)
    async with world:
        for number in range(200):
            await world.open("probe", f"R{number}")
            await world.ask(f"R{number}", Join("ann", "Ann"), None)
        assert journal._writer is not None
        said: list[str] = []
        journal._writer._db.set_trace_callback(said.append)
    assert said.count("COMMIT") <= 5
    await journal.open()
    assert {(await journal.stored(number)).seq for number in range(1, 201)} == {1}
    await journal.close()
