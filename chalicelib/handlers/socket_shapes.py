"""What goes over a WebSocket: messages read field by field, and the frames that answer them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from chalicelib.core import socket_frames
from chalicelib.core.account import no_such_run
from chalicelib.core.cursor import Answer
from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import fields
from chalicelib.core.run import Run
from chalicelib.handlers import http_shapes, problems


class Fields(NamedTuple):
    """What a message of one action says besides its action."""

    required: Mapping[str, type] = {}
    optional: Mapping[str, type] = {}


ACTIONS = {
    "subscribe": Fields({"run_id": str}, {"since": int, "replay": str}),
    "unsubscribe": Fields({"run_id": str}),
    "ping": Fields(),
    "cancel": Fields({"run_id": str}, {"reason": str}),
}


def about(message: Any) -> dict[str, str]:
    """What a message says that it is about, for the frame that refuses it; shortened, since it may say anything."""
    told = message if type(message) is dict else {}
    return {name: told[name][:100] for name in ("action", "run_id") if type(told.get(name)) is str}


def asked(message: Any) -> dict[str, Any]:
    """The fields of a message, checked. Raises `InvalidInput`."""
    if type(message) is not dict:
        return fields(message, "", {}, {})
    said = {name: value for name, value in message.items() if name == "action"}
    action = fields(said, "", {"action": str}, {})["action"]
    if action not in ACTIONS:
        expected = f"one of: {', '.join(ACTIONS)}"
        raise InvalidInput("unknown_action", "there is no such action", field="action", expected=expected)
    return fields(message, "", {"action": str, **ACTIONS[action].required}, ACTIONS[action].optional)


def frames(run_id: str, answer: Answer) -> Sequence[str]:
    """What the log has after a cursor."""
    return socket_frames.bundles(run_id, [http_shapes.event(event) for event in answer.events], done=answer.done)


def subscribed(run_id: str, since: int) -> str:
    return json.dumps({"type": "subscribed", "run_id": run_id, "since": since})


def unsubscribed(run_id: str) -> str:
    return json.dumps({"type": "unsubscribed", "run_id": run_id})


def pong() -> str:
    return json.dumps({"type": "pong"})


def status(run: Run) -> str:
    return json.dumps({"type": "status", "run_id": run.run_id, "status": run.status})


def problem(about: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """A problem as the REST API tells of it, and which message it answers."""
    return json.dumps({"type": "problem", **about, "problem": body})


def gone(run_id: str) -> str:
    """A run that was watched is not there any more."""
    return problem({"run_id": run_id}, problems.of(no_such_run())[1])


def unavailable(about: Mapping[str, str]) -> str:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    detail = "a part of the service does not answer; try again"
    return problem(about, problems.body(status, "unavailable", detail))
