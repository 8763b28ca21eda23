"""Logs that one can read: what Powertools prints as JSON comes out as a line of text."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOBase
from typing import Any

SHOWN_FIRST = ("timestamp", "level", "message")
NOISE = frozenset(
    (
        *("service", "location", "cold_start", "sampling_rate", "xray_trace_id", "correlation_id", "exception_name"),
        *("function_name", "function_arn", "function_memory_size", "function_request_id"),
    )
)
"""What a laptop has one of, or says elsewhere in the line."""

LOGGERS = ("infra.local", "chalicelib")

Write = Callable[[str], Any]


def rendered(line: str) -> str | None:
    """A line of a Lambda's output as text; None if there is nothing in it to read."""
    try:
        told = json.loads(line)
    except ValueError:
        return line or None
    if not isinstance(told, dict):
        return line
    if "_aws" in told:  # an embedded metric
        return None
    if "message" not in told:
        return line
    more = (f"{name}={value}" for name, value in told.items() if name not in (*SHOWN_FIRST, "exception", *NOISE))
    text = " ".join((_now(), f"{told.get('level', 'INFO'):<7}", str(told["message"]), *more))
    return f"{text}\n{told['exception']}" if "exception" in told else text


class Readable(TextIOBase):
    """Stands in for `sys.stdout` while Lambdas run in this process."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if (shown := rendered(line)) is not None:
                self._write(shown)
        return len(text)


class _Lines(logging.Handler):
    def __init__(self, write: Write) -> None:
        super().__init__()
        self._out = write

    def emit(self, record: logging.LogRecord) -> None:
        self._out(f"{_now()} {record.levelname:<7} {self.format(record)}")


def show(write: Write, level: int) -> None:
    """Show what the local cloud and the rooms have to say by plain logging, from that level on."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [_Lines(write)]
        logger.setLevel(level)
        logger.propagate = False


def _now() -> str:
    return datetime.now(UTC).astimezone().strftime("%H:%M:%S")
