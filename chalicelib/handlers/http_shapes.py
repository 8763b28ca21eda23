"""Values as JSON: what clients see of a run, an event, an agent, a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from chalicelib.core import recipe, slots
from chalicelib.core.agent import Agent
from chalicelib.core.api_key import ApiKey
from chalicelib.core.cursor import Answer
from chalicelib.core.events import Event, EventType
from chalicelib.core.files import RunFiles, Upload
from chalicelib.core.moments import spelled
from chalicelib.core.permissions import to_data
from chalicelib.core.policy import Policy
from chalicelib.core.run import Run, Slot
from chalicelib.core.webhook import Webhook


def accepted(run: Run) -> dict[str, Any]:
    return {"run_id": run.run_id, "agent": run.agent, "status": run.status, "created_at": at(run.created_at)}


def listed(run: Run) -> dict[str, Any]:
    return {**accepted(run), "ended_at": at(run.ended_at), "metadata": dict(run.metadata)}


def whole(run: Run, last: Event) -> dict[str, Any]:
    """The run, and how it ended if it has."""
    return {
        **listed(run),
        "first_token_at": at(run.first_token_at),
        "attempt": run.attempt,
        "budget": asdict(run.budget),
        "waiting_for": slots.SLOT if run.slot is Slot.WANTED else run.waiting_for,
        "last_seq": last.seq,
        **_end(last),
    }


def approval(run: Run, asked: Event) -> dict[str, Any]:
    """A question as it stands in an inbox."""
    return {"run_id": run.run_id, "agent": run.agent, "requested_at": at(asked.at), **asked.data}


def _end(last: Event) -> Mapping[str, Any]:
    match last.type:
        case EventType.RUN_DONE:
            return {"output": last.data["output"]}
        case EventType.RUN_FAILED:
            return {"error": last.data["error"]}
        case EventType.RUN_CANCELLED:
            return {"cancelled": last.data}
        case _:
            return {}


def answer(found: Answer) -> dict[str, Any]:
    return {
        "events": [event(one) for one in found.events],
        "next_since": found.next_since,
        "has_more": found.has_more,
        "status": found.status,
        "done": found.done,
        "next_poll_ms": found.next_poll_ms,
    }


def event(one: Event) -> dict[str, Any]:
    return {"seq": one.seq, "type": one.type, "at": at(one.at), "data": one.data}


def agent(one: Agent) -> dict[str, Any]:
    """What an agent's prompt says is between it, its model, and who may change it."""
    return {
        "name": one.name,
        "version": one.version,
        "built_in": one.built_in,
        "description": one.description,
        "model": one.model,
        "tools": list(one.tools),
        "budget": asdict(one.budget),
    }


def whole_agent(one: Agent) -> dict[str, Any]:
    """With everything that it was defined by."""
    return {"name": one.name, "version": one.version, "built_in": one.built_in, **recipe.data(one)}


def upload(one: Upload, *, is_there: bool) -> dict[str, Any]:
    return {
        **asdict(one.file),
        "state": "there" if is_there else "awaiting_upload",
        "created_at": at(one.created_at),
        "expires_at": at(one.expires_at),
    }


def files(of_run: RunFiles) -> list[dict[str, Any]]:
    """What the run was given, then what its tools left behind."""
    kinds = (("input", of_run.inputs), ("artifact", of_run.artifacts))
    return [{**asdict(file), "kind": kind} for kind, some in kinds for file in some]


def key(one: ApiKey) -> dict[str, Any]:
    return {
        "key_id": one.key_id,
        "name": one.name,
        "scopes": sorted(one.scopes),
        "created_at": at(one.created_at),
        "revoked_at": at(one.revoked_at),
    }


def webhook(one: Webhook) -> dict[str, Any]:
    """Never a secret: who just made one is told it besides."""
    return {
        "name": one.name,
        "url": one.url,
        "events": sorted(one.events),
        "created_at": at(one.created_at),
        "disabled_at": at(one.disabled_at),
        "old_secret_until": at(one.old_secret_until),
    }


def policy(one: Policy) -> dict[str, Any]:
    return {
        "version": one.version,
        "permissions": to_data(one.rules),
        "set_at": at(one.set_at),
        "set_by": one.set_by,
    }


def at(time: datetime | None) -> str | None:
    """ISO 8601 with milliseconds; every time is UTC."""
    return spelled(time) if time else None
