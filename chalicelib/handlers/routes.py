"""Who declares the HTTP routes: the Lambda that serves them, and whatever is no Lambda at all."""

from __future__ import annotations

import os

from chalice.app import Chalice, ChaliceAuthorizer

SERVES_HTTP = ("app.app", "")
"""The packaged handler behind API Gateway; a laptop, a test and the packaging have none."""


def register(app: Chalice, api_auth: ChaliceAuthorizer) -> None:
    """Declare the routes where they are served; every other Lambda starts without the modules behind them."""
    handler = os.environ.get("_HANDLER", "")  # noqa: TID251 - which Lambda this is: no setting, and needed before any
    if handler in SERVES_HTTP:
        from chalicelib.handlers import http

        http.register(app, api_auth)
