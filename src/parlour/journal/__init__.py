"""The journal, which keeps steps: the interface in `base`, and one file for each kind of journal."""

from parlour.journal.base import Journal
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal

JOURNALS: dict[str, type[Journal]] = {"memory": MemoryJournal, "sqlite": SqliteJournal}
