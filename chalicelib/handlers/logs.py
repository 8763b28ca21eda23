"""One way to log: our modules' lines go out as the doors' own do, as JSON and with the invocation's context."""

from __future__ import annotations

import logging

from aws_lambda_powertools import Logger

OURS = "chalicelib"


def share(logger: Logger) -> None:
    """Give the doors' handlers and level to every logger of ours; Lambda's root logger would repeat it as text."""
    ours = logging.getLogger(OURS)
    ours.handlers = list(logger.handlers)
    ours.setLevel(logger.log_level)
    ours.propagate = False
