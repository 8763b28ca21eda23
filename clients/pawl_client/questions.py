"""What runs ask people, in words: the question, why it is asked, and what was answered. No terminal here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pawl_client.shortly import apart, short, visible

WHY = "asked about: "
"""How the server begins a line of a question's `rule` that is a reason; the others are rules."""

_HEADS = {
    "call": "may {name} be called?",
    "outcome": "{name} was called, and nobody knows how it ended. Did it happen?",
}
_ON_EXPIRY = {
    ("call", "deny"): "then the call is denied",
    ("outcome", "deny"): "then the model is told that nobody knows",
}
_DECIDED = {
    "approve": "approved by {by}",
    "deny": "denied by {by}",
    "edit": "approved with other arguments by {by}",
    "happened": "it happened, says {by}",
    "retry": "it did not happen and is made again, says {by}",
    "abort": "it did not happen and is not made again, says {by}",
    "expired": "nobody answered in time",
}


def head(asked: Mapping[str, Any]) -> str:
    """The question in a line."""
    return _HEADS.get(asked["question"], "{name}?").format(name=visible(asked["name"]))


def lines(asked: Mapping[str, Any]) -> Iterator[str]:
    """All that one has to know before one answers, below the head."""
    yield from map(visible, asked["preview"].split("\n"))
    args = asked["args"]
    yield f"exactly: {short(args) if apart(args) else visible(json.dumps(args, ensure_ascii=False))}"
    yield from (_reason(visible(line)) for line in asked["rule"].split("\n"))
    then = _ON_EXPIRY.get((asked["question"], asked["on_expiry"]), "then the run fails")
    yield f"open until {when(asked['expires_at'])}; {then}"


def _reason(line: str) -> str:
    return f"because {line.removeprefix(WHY)}" if line.startswith(WHY) else f"rule: {line}"


def commands(run_id: str, asked: Mapping[str, Any]) -> str:
    """What to type to answer."""
    place = f"{run_id} {asked['approval_id']}"
    if asked["question"] == "call":
        return f"pawl approve {place}   or   pawl deny {place}"
    return f"pawl resolve {place} happened|retry|abort"


def decided(resolved: Mapping[str, Any]) -> str:
    """Who answered what."""
    # A server may be newer than its client, and know other decisions.
    words = _DECIDED.get(resolved["decision"], f"{resolved['decision']} by {{by}}")
    further = ", and further calls of the tool in this run" if resolved.get("grant") else ""
    note = f": {resolved['note']}" if resolved.get("note") else ""
    return words.format(by=resolved["by"]) + further + note


def when(at: str) -> str:
    """A time to the minute, in UTC and saying so."""
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
