"""What an error of the database means: for the connection, for a batch, for one write of it."""

import os

import asyncpg

from parlour.journal.base import NotKept, OutcomeUnknown, Trouble

BROKEN = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""Errors of a connection that is of no use any more; a time that is over (`TimeoutError`) is one of them."""
ERRORS = (asyncpg.PostgresError, *BROKEN)
"""Every error of the database and of the way there."""
ONE_WRITE = ("22", "23")
"""Classes of errors that are about the values of one write: a value out of range, a key that is taken."""


class Failed(Exception):
    """One write of a batch failed: the error is its cause."""


def is_lost(error: BaseException) -> bool:
    """True if nobody knows what became of a statement: the connection broke, or the answer took too long."""
    if isinstance(error, asyncpg.PostgresError):
        code, severity = str(error.sqlstate or ""), getattr(error, "severity_en", None) or error.severity
        return severity in ("FATAL", "PANIC") or code.startswith("08") or code == "40003"
    if isinstance(error, ValueError):  # asyncpg could not send a value
        return False
    return isinstance(error, BROKEN)


def may_succeed(error: BaseException) -> bool:
    """True if the same transaction may succeed now: two of them were in each other's way."""
    return isinstance(cause_of(error), asyncpg.TransactionRollbackError)


def is_of_one_write(error: BaseException) -> bool:
    """True if the others of a batch may succeed without the one that failed."""
    cause = cause_of(error)
    if isinstance(cause, asyncpg.PostgresError):
        return str(cause.sqlstate or "").startswith(ONE_WRITE)
    return not is_lost(cause)


def is_read_only(error: BaseException) -> bool:
    """True if this PostgreSQL only reads: a standby, say, while another has taken over."""
    return isinstance(cause_of(error), asyncpg.ReadOnlySQLTransactionError)


def cause_of(error: BaseException) -> BaseException:
    """The error itself, whichever write of a batch met it."""
    return error.__cause__ if isinstance(error, Failed) and error.__cause__ is not None else error


def blamed(error: BaseException) -> Trouble:
    """The journal's error for a failed write."""
    cause = cause_of(error)
    return cause if isinstance(cause, Trouble) else not_kept(cause)


def not_kept(error: BaseException) -> NotKept:
    why = NotKept(f"not kept: {said(error)}")
    why.__cause__ = error
    return why


def unreadable(error: BaseException) -> NotKept:
    why = NotKept(f"the journal cannot be read: {said(error)}")
    why.__cause__ = error
    return why


def unknown(error: BaseException) -> OutcomeUnknown:
    why = OutcomeUnknown(f"it is not known whether this is kept: {said(error)}")
    why.__cause__ = error
    return why


def said(error: BaseException) -> str:
    """What an error says; some say nothing, and some only that a call failed.

    >>> said(TimeoutError()), said(ConnectionRefusedError(111, "Connect call failed")), said(ValueError("no"))
    ('PostgreSQL does not answer', 'Connection refused', 'no')
    """
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    text = str(error)
    return text or ("PostgreSQL does not answer" if isinstance(error, TimeoutError) else repr(error))
