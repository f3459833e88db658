"""Nobody but the server speaks in its log, and nobody can fill it."""

import io
import json
import logging

import pytest
import structlog

from parlour.server.logs import MAX_KINDS, ForeignLogs, processors

EVIL = 'Ann \x1b[2J\x1b]0;owned\x07\r\n2026-01-01 [info ] forged \x7f\x9b31m\u2028\u202e"'
SAID = r'Ann \x1b[2J\x1b]0;owned\x07\r\n2026-01-01 [info ] forged \x7f\x9b31m\u2028\u202e"'


class Paper:
    """What is written to a log of one of both shapes."""

    def __init__(self, *, terminal: bool) -> None:
        self._out = io.StringIO()
        self.terminal = terminal
        structlog.configure(
            processors=processors(terminal=terminal),
            logger_factory=structlog.PrintLoggerFactory(self._out),
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
            cache_logger_on_first_use=False,
        )

    @property
    def text(self) -> str:
        """All of it, without the colours that are ours."""
        text = self._out.getvalue()
        for colour in (0, 1, 2, 22, 31, 32, 33, 34, 35, 36):
            text = text.replace(f"\x1b[{colour}m", "")
        return text.replace("\x1b[0m", "")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


@pytest.fixture(params=[True, False], ids=["terminal", "JSON"])
def paper(request):
    before = structlog.get_config()
    yield Paper(terminal=request.param)
    structlog.configure(**before)


def is_clean(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def test_no_value_of_a_line_has_control_characters(paper):
    log = structlog.get_logger()
    log.info(EVIL, player=EVIL, many=[EVIL, {"a": EVIL, EVIL: 1}], error=ValueError(EVIL), raw=EVIL.encode())
    assert len(paper.lines) == 1
    assert is_clean(paper.text)
    if not paper.terminal:
        line = json.loads(paper.text)
        assert line["player"] == SAID
        assert line["many"] == [SAID, {"a": SAID, SAID: 1}]


def test_no_exception_has_control_characters_or_lines_of_its_own(paper):
    class Evil(Exception):
        def __str__(self) -> str:
            return EVIL

    log = structlog.get_logger()
    try:
        try:
            raise Evil
        except Evil as first:
            first.add_note(EVIL)
            raise KeyError(EVIL) from ExceptionGroup(EVIL, [ValueError(EVIL)])
    except KeyError:
        log.exception("game_failed", room="ABCD")
    assert is_clean(paper.text)
    shown = paper.text if paper.terminal else json.loads(paper.text)["exception"]
    assert not [line for line in shown.splitlines() if line.lstrip().startswith("2026-01-01")]
    assert "KeyError" in shown
    assert "test_logs.py" in shown


def test_a_long_chain_of_exceptions_is_told_in_short(paper):
    error: Exception | None = None
    for number in range(3000):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    structlog.get_logger().error("failed", exc_info=error)
    assert paper.text.count("ValueError") == 10


def test_other_libraries_speak_in_our_shape_without_control_characters(paper):
    handler = ForeignLogs()
    handler.handle(logging.makeLogRecord({"name": "uvicorn.error", "levelno": 30, "msg": EVIL}))
    record = {"name": "asyncio", "levelno": 40, "msg": "%s failed", "args": (EVIL,)}
    handler.handle(logging.makeLogRecord({**record, "exc_info": (ValueError, ValueError(EVIL), None)}))
    assert is_clean(paper.text)
    if not paper.terminal:
        first, second = map(json.loads, paper.lines)
        assert (first["event"], first["level"], first["logger"]) == (SAID, "warning", "uvicorn.error")
        assert (second["event"], second["level"]) == (f"{SAID} failed", "error")


def test_what_other_libraries_repeat_is_one_line_a_second_with_a_count(paper):
    handler = ForeignLogs()
    again = {"name": "uvicorn.error", "levelno": 30, "msg": "Invalid HTTP request received."}
    for _ in range(3):
        for _ in range(7000):
            handler.handle(logging.makeLogRecord(again))
        handler.flush_repeated()  # a second has passed
    handler.flush_repeated()
    assert len(paper.lines) == 4
    if not paper.terminal:
        assert [json.loads(line).get("times") for line in paper.lines] == [None, 6999, 7000, 7000]
    handler.handle(logging.makeLogRecord(again))
    assert len(paper.lines) == 5


def test_messages_that_are_never_the_same_are_counted_together_in_the_end(paper):
    handler = ForeignLogs()
    for number in range(10 * MAX_KINDS):
        handler.handle(logging.makeLogRecord({"name": "x", "levelno": 30, "msg": f"number {number}"}))
    handler.flush_repeated()
    assert len(paper.lines) <= MAX_KINDS + 2
