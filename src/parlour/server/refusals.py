"""What clients are told when the journal could not do its part."""

from parlour.errors import Code, Refused
from parlour.journal.base import Damaged, DiskFailed, Trouble

NOT_WRITTEN = (Code.NOT_SAVED, Code.OUTCOME_UNKNOWN)
"""The journal is to blame, and not what was asked for."""
OUTCOME_NOT_KNOWN = "it is not known whether this happened; come back in a moment and see"


def excuse(error: Refused | Trouble) -> Refused:
    """What a client is told when the journal could not do its part."""
    match error:
        case Refused():
            return error
        case Damaged():
            return Refused(Code.ROOM_DAMAGED, "what is kept of this is damaged; an operator must look at it")
        case DiskFailed():
            return Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN)
        case _:
            return Refused(Code.NOT_SAVED, "the journal could not do this, so it did not happen; try again")
