"""Structured logs: for people at a terminal, as JSON elsewhere; with room and player, never with a token.

Text of others (a player's words in a game's exception, a malformed request) is written without control
characters, so that nobody else can write to the operator's terminal or add lines to the log.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from traceback import TracebackException
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

MAX_CHAIN = 10
"""Exceptions of a chain that are logged."""
MAX_KINDS = 100
"""Different messages of other libraries that are counted apart within a second."""

log = structlog.get_logger()


def escaped(text: str) -> str:
    r"""The text with every invisible character written out: control characters, and also other tricks.

    >>> print(escaped("Ann \x1b[2J\n\u202e"))
    Ann \x1b[2J\n\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shown(value: Any) -> Any:
    match value:
        case str():
            return escaped(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {escaped(str(name)): _shown(one) for name, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_shown(one) for one in value]
        case _:
            return escaped(repr(value))


def escape(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """A processor: escapes the control characters of every value."""
    return {name: value if name == "exception" else _shown(value) for name, value in event.items()}


def format_exception(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """A processor: formats an exception without local variables, which hold seeds."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException):
        told = TracebackException.from_exception(error)
        event["exception"] = "\n".join(_lines(told))
    return event


def _lines(told: TracebackException) -> Iterator[str]:
    chain = [told]
    while len(chain) < MAX_CHAIN:
        before = chain[-1].__cause__ or (None if chain[-1].__suppress_context__ else chain[-1].__context__)
        if before is None:
            break
        chain.append(before)
    for one in reversed(chain):
        yield "Traceback (most recent call last):"
        for frame in one.stack.format():
            yield from map(escaped, frame.rstrip("\n").split("\n"))
        for words in one.format_exception_only():
            yield escaped(words.removesuffix("\n"))


def processors(*, terminal: bool) -> list[Processor]:
    """The processors of every log entry."""
    shape: Processor = (
        structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer(ensure_ascii=True)
    )
    stamp = structlog.processors.TimeStamper(fmt="iso")
    return [structlog.processors.add_log_level, stamp, format_exception, escape, shape]


class ForeignLogs(logging.Handler):
    """Log entries of other libraries in our format; repeated ones become one a second, with a count."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._repeated: dict[tuple[str, int, str], int] = {}
        """How often each message was repeated since its last entry."""

    def emit(self, record: logging.LogRecord) -> None:
        failed = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        kind = (record.name, record.levelno, f"{record.msg} {failed}".strip())
        if kind not in self._repeated and len(self._repeated) >= MAX_KINDS:
            kind = (record.name, record.levelno, "other messages")
        if kind in self._repeated:
            self._repeated[kind] += 1
        else:
            self._repeated[kind] = 0
            self._tell(record.name, record.levelno, record.getMessage(), exc_info=record.exc_info)

    def flush_repeated(self) -> None:
        """Once a second, log each repeated message as one entry."""
        said, self._repeated = self._repeated, {}
        for kind, times in said.items():
            if times:
                self._repeated[kind] = 0
                self._tell(*kind, times=times)

    def _tell(self, name: str, level: int, message: str, **more: Any) -> None:
        log.log(level, message, logger=name, **more)


foreign = ForeignLogs()


def set_up_logs() -> None:
    """Choose the format by where the log goes."""
    structlog.configure(
        processors=processors(terminal=sys.stderr.isatty()),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    if foreign not in logging.getLogger().handlers:
        logging.getLogger().addHandler(foreign)
