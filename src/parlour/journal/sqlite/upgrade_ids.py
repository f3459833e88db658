"""Upgrade to format 4: replaces the ids of GammonX clients, which would give their seats away.

Older formats use them as players' ids. Steps are chained by their digests, and a stored state names the
digest of the last step: these digests change, too, so that rooms go on and can be replayed as before.
"""

import sqlite3
from base64 import b64encode
from collections.abc import Callable

from parlour.wire import digest

Hide = Callable[[bytes], bytes]
"""Replaces the ids in encoded data."""
Heads = dict[int, tuple[bytes, bytes]]
"""By seq: the old digest of a step, and the new one."""

OURS = "'gammonx:*'"
ROOMS = f"""
    SELECT number FROM rooms WHERE creator GLOB {OURS}
    UNION SELECT room FROM steps WHERE player GLOB {OURS}
    UNION SELECT room FROM seats WHERE player GLOB {OURS}
"""  # noqa: S608 - our own words


def hide_ids(db: sqlite3.Connection, hide: Hide) -> None:
    """Replace the ids everywhere; inside a transaction."""

    def renamed(name: str | None) -> str | None:
        return None if name is None else hide(name.encode()).decode()

    db.create_function("renamed", 1, renamed, deterministic=True)
    db.create_function("hidden", 1, hide, deterministic=True)
    for (room,) in db.execute(ROOMS).fetchall():
        heads = _hide_steps(db, room, hide)
        _hide_states(db, room, hide, heads)
        db.execute(
            "UPDATE rooms SET creator = renamed(creator), card = hidden(card) WHERE number = ?", (room,)
        )
        db.execute("UPDATE seats SET player = renamed(player) WHERE room = ?", (room,))
    mine = f"owner GLOB {OURS} OR instr(body, CAST('gammonx:' AS BLOB))"
    sql = "UPDATE records SET key = renamed(key), owner = renamed(owner), body = hidden(body)"
    db.execute(f"{sql} WHERE kind IN ('ticket', 'standing', 'result') AND ({mine})")


def _hide_steps(db: sqlite3.Connection, room: int, hide: Hide) -> Heads:
    heads: Heads = {}
    rows = db.execute("SELECT rowid, seq, body, hash FROM steps WHERE room = ? ORDER BY seq", (room,))
    for row, seq, body, hash in rows.fetchall():
        new = _follow(hide(body), heads.get(seq - 1))
        heads[seq] = hash, _digest(body, hash, new)
        sql = "UPDATE steps SET player = renamed(player), body = ?, hash = ? WHERE rowid = ?"
        db.execute(sql, (new, heads[seq][1], row))
    return heads


def _hide_states(db: sqlite3.Connection, room: int, hide: Hide, heads: Heads) -> None:
    rows = db.execute("SELECT seq, body, hash FROM states WHERE room = ?", (room,))
    for seq, body, hash in rows.fetchall():
        new = _follow(hide(body), heads.get(seq))
        sql = "UPDATE states SET body = ?, hash = ? WHERE room = ? AND seq = ?"
        db.execute(sql, (new, _digest(body, hash, new), room, seq))


def _follow(body: bytes, head: tuple[bytes, bytes] | None) -> bytes:
    """The same body after a step whose digest has changed."""
    if head is None:
        return body
    before, now = head
    return body.replace(b64encode(before), b64encode(now))


def _digest(old: bytes, hash: bytes, new: bytes) -> bytes:
    """The digest of a changed body; a body that was damaged stays so."""
    return digest(new) if digest(old) == hash else hash
