"""Structured logs: for people at a terminal, as JSON elsewhere; with room and player, never with a token."""

import logging
import sys

import structlog


def set_up_logs() -> None:
    """Choose the shape by where the log goes."""
    terminal = sys.stderr.isatty()
    # The renderer's own tracebacks show local variables, and with them seeds.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    shape = plain if terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            *([] if terminal else [structlog.processors.format_exc_info]),
            shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
