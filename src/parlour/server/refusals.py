"""Refusals for clients when the journal fails."""

from parlour.errors import Code, Refused
from parlour.journal.base import Damaged, OutcomeUnknown, Trouble

NOT_WRITTEN = (Code.NOT_SAVED, Code.OUTCOME_UNKNOWN)
"""Errors of the journal, not of the request."""
OUTCOME_NOT_KNOWN = "it is not known whether this happened; come back in a moment and see"


def excuse(error: Refused | Trouble) -> Refused:
    """The refusal that a client gets when the journal failed."""
    match error:
        case Refused():
            return error
        case Damaged():
            return Refused(Code.ROOM_DAMAGED, "what is kept of this is damaged; an operator must look at it")
        case OutcomeUnknown():
            return Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN)
        case _:
            return Refused(Code.NOT_SAVED, "the journal could not do this, so it did not happen; try again")
