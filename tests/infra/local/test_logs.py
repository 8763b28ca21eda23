"""Logs that one can read."""

from __future__ import annotations

import json
import logging

from infra.local import logs


def test_a_powertools_line_becomes_text() -> None:
    line = json.dumps(
        {"level": "WARNING", "message": "fenced out", "run_id": "run_1", "service": "pawl", "location": "x"}
    )
    shown = logs.rendered(line)
    assert shown is not None
    assert shown[8:] == " WARNING fenced out run_id=run_1"


def test_an_exception_stands_below_its_line() -> None:
    shown = logs.rendered(json.dumps({"level": "ERROR", "message": "no", "exception": "Traceback\n  here"}))
    assert shown is not None
    assert shown.endswith("no\nTraceback\n  here")


def test_metrics_are_left_out_and_other_lines_are_left_alone() -> None:
    assert logs.rendered('{"_aws": {}, "Steps": [1]}') is None
    assert logs.rendered("") is None
    assert logs.rendered("START") == "START"
    assert logs.rendered('{"a": 1}') == '{"a": 1}'
    assert logs.rendered("17") == "17"


def test_lines_are_written_whole_however_they_come() -> None:
    written: list[str] = []
    output = logs.Readable(written.append)
    for part in ("on", "e\ntw", "o\n", "rest"):
        output.write(part)
    assert written == ["one", "two"]


def test_our_own_lines_and_those_of_the_rooms_are_shown_from_a_level_on() -> None:
    written: list[str] = []
    kept = {name: list(logging.getLogger(name).handlers) for name in logs.LOGGERS}
    try:
        logs.show(written.append, logging.WARNING)
        logging.getLogger("chalicelib.usecases.sweep").warning("%d runs overdue", 2)
        logging.getLogger("infra.local").info("not shown")
    finally:
        for name, handlers in kept.items():
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = handlers, True
            logger.setLevel(logging.NOTSET)
    (line,) = written
    assert line[8:] == " WARNING 2 runs overdue"
