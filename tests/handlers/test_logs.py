"""What our modules say in a Lambda's log."""

from __future__ import annotations

import io
import json
import logging

from aws_lambda_powertools import Logger

from chalicelib.handlers import logs


def test_a_line_of_ours_comes_out_once_as_json_with_its_extra_fields() -> None:
    out = io.StringIO()
    ours = logging.getLogger(logs.OURS)
    before = (ours.handlers, ours.level, ours.propagate)
    try:
        logs.share(Logger(service="a-test", stream=out, level="INFO"))
        logging.getLogger("chalicelib.usecases.sweep").info("swept", extra={"action": "tick", "due": 3})
    finally:
        ours.handlers, ours.level, ours.propagate = before
    (line,) = map(json.loads, out.getvalue().splitlines())
    assert (line["message"], line["action"], line["due"], line["level"]) == ("swept", "tick", 3, "INFO")
