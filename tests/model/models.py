"""The models and tools of the worlds that are searched."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.agent import Agent
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.reply import AskedCall, Reply, ToolSaid, Usage
from chalicelib.core.tools import Effect, ToolSpec
from chalicelib.ports.model import ModelRequest
from tests.model.puppet import Said, Surroundings

ANSWER_WITHIN = 600
"""Seconds; a search that waits them out is short enough."""

_USAGE = Usage(1, 1)
_SCHEMA = {"type": "object"}


def _reply(text: str, *tools: str) -> Reply:
    return Reply(text, tuple(AskedCall(name, {}) for name in tools), _USAGE, "stop")


def streams(request: ModelRequest) -> Sequence[Said]:
    """Two pieces of text, then the whole."""
    return ["a", "b", _reply("ab")]


def short(request: ModelRequest) -> Sequence[Said]:
    return ["a", _reply("a")]


def refuses(request: ModelRequest) -> Sequence[Said]:
    return ["a", ModelRefused("no such model")]


def says_nothing(request: ModelRequest) -> Sequence[Said]:
    return [_reply("")]


def asks(*tools: str) -> Surroundings:
    def says(request: ModelRequest) -> Sequence[Said]:
        worked = any(isinstance(message, ToolSaid) for message in request.messages)
        return [_reply("") if worked else _reply("", *tools)]

    return around(says)


def is_down(seconds: float, *, crowded: bool = False) -> Surroundings:
    """The first call of a step fails and has to wait so long; the next one is answered."""

    def says(request: ModelRequest) -> Sequence[Said]:
        down = request.attempt_no == 0 and request.step == 1
        return [ModelUnavailable("busy", retry_after=seconds)] if down else [_reply("")]

    return around(says, crowded=crowded)


def looks_twice(request: ModelRequest) -> Sequence[Said]:
    return [_reply("", "look") if request.step < 3 else _reply("")]


def around(says: object, **more: bool) -> Surroundings:
    tools = {
        "look": ToolSpec("look", "looks", _SCHEMA, Effect.READ, 20),
        "pay": ToolSpec("pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 20),
        "timed_pay": ToolSpec("timed_pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 31),
        "slow_pay": ToolSpec("slow_pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 40),
        "charge": ToolSpec("charge", "charges", _SCHEMA, Effect.IRREVERSIBLE, 20),
    }
    rules = tuple(Grant(Ruling.ALLOW, name, calls=9, preapproved=name != "charge") for name in tools)
    agent = Agent(
        "demo", "a model's", "Be brief.", "scripted:test", tuple(tools), permissions=rules, answer_within=ANSWER_WITHIN
    )
    return Surroundings(agent, says, tools, **more)  # type: ignore[arg-type]
