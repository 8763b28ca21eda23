"""The parts of events that are too large for the log, each under its digest."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core.errors import TooLarge
from chalicelib.handlers import http_input
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.read_payload import read_payload

MAX_BYTES = 2_000_000
"""A Lambda answers at most 6 MB of JSON, in which two bytes of a letter can become the six of its escape."""

FOR_EVER = "private, max-age=31536000, immutable"


def get_payload(request: Request, caller: Caller, run_id: str, digest: str) -> Response:
    payload = read_payload(
        http_input.run_id(run_id),
        http_input.digest(digest),
        account_id=caller.account_id,
        runs=bootstrap.world().runs,
    )
    if len(payload) > MAX_BYTES:
        expected = f"a payload of at most {MAX_BYTES} bytes"
        raise TooLarge("payload_too_large_to_send", f"it has {len(payload)} bytes", field="digest", expected=expected)
    headers = {"Content-Type": "application/json", "ETag": f'"{digest}"', "Cache-Control": FOR_EVER}
    return Response(payload.decode(), {**headers})
