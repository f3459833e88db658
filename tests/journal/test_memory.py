"""What only the journal in memory promises: what it costs."""

from parlour.journal import memory
from parlour.journal.base import RecordQuery, RoomQuery
from parlour.journal.memory import MemoryJournal
from tests.journal.made import STATE, summary


async def test_a_heartbeat_decodes_no_summary(tmp_path, monkeypatch):
    journal = MemoryJournal(tmp_path, "process")
    await journal.open()
    for number in range(3):
        await journal.create(summary(f"R{number}"), STATE, 5.0)
    await journal.create(summary("OVER", ended="game_ended", ended_at=1.0), STATE, None)
    decoded: list[bytes] = []
    monkeypatch.setattr(memory, "_read_summary", decoded.append)
    await journal.beat(9.0)
    assert not await journal.prune(2.0, 10)
    assert sorted(await journal.room_ids(RoomQuery(due_by=9.0))) == ["R0", "R1", "R2"]
    assert decoded == []


async def test_to_ask_for_what_is_not_there_takes_no_place(tmp_path):
    journal = MemoryJournal(tmp_path, "process")
    await journal.open()
    for number in range(3):
        await journal.record("note", "n", f"group {number}")
        await journal.records(RecordQuery("note", f"group {number}"))
    assert journal._records == {}
