"""The journal, which keeps steps: the interface in `base`, and one module or folder for each kind."""

from pathlib import Path

from parlour.journal.base import Durability, Journal, Trouble
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal

JOURNALS: dict[str, type[MemoryJournal] | type[SqliteJournal]] = {
    "memory": MemoryJournal,
    "sqlite": SqliteJournal,
}
NO_EXTRA = "a journal in PostgreSQL needs an extra: pip install 'parlour[cluster]'"
DATABASES = ("postgresql://", "postgres://")
"""How the address of a journal in a database begins."""


def is_database(where: str) -> bool:
    """True if a setting names a journal in a database."""
    return where.startswith(DATABASES)


def make_journal(where: str, folder: Path, durability: Durability, *, accept_loss: bool = False) -> Journal:
    """The journal that a setting names: one of `JOURNALS` in a folder, or the address of a database."""
    if where in JOURNALS:
        return JOURNALS[where](folder, durability, accept_loss=accept_loss)
    if not is_database(where):
        raise Trouble(f"--journal: expected {', '.join(JOURNALS)} or postgresql://..., got {where[:64]!r}")
    try:
        from parlour.journal.postgresql import PostgresJournal  # noqa: PLC0415 - an extra
    except ImportError:
        raise Trouble(NO_EXTRA) from None
    return PostgresJournal(where, durability)
