"""Questions to people, over all runs, and their answers; and the results of calls that are answered from outside."""

from __future__ import annotations

from typing import Any

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core.approvals import Decision, Verdict
from chalicelib.core.errors import InvalidInput
from chalicelib.core.tools import ToolResult
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.answer_call import answer_call
from chalicelib.usecases.list_approvals import list_approvals
from chalicelib.usecases.resolve import resolve

DEFAULT_LIMIT, MAX_LIMIT = 20, 50


def get_approvals(request: Request, caller: Caller) -> Response:
    params = http_input.params(request)
    found, after = list_approvals(
        account_id=caller.account_id,
        limit=http_input.number(params, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        after=http_input.after(params),
        runs=bootstrap.world().runs,
    )
    return Response({"approvals": [http_shapes.approval(run, asked) for run, asked in found], "next": after})


def post_decision(request: Request, caller: Caller, run_id: str, approval_id: str) -> Response:
    world = bootstrap.world()
    resolved = resolve(
        http_input.run_id(run_id),
        approval_id,
        _verdict(request),
        account_id=caller.account_id,
        actor=caller.key_id,
        runs=world.runs,
        agents=world.agents,
        toolboxes=world.toolboxes,
        policies=world.policies,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    return Response(http_shapes.event(resolved))


def _verdict(request: Request) -> Verdict:
    asked: dict[str, Any] = http_input.body(
        request,
        required={"decision": str, "digest": str},
        optional={"args": dict, "note": str, "grant": bool},
    )
    given = asked.pop("decision")
    if given not in list(Decision):
        expected = f"one of: {', '.join(Decision)}"
        raise InvalidInput("invalid_decision", "there is no such decision", field="decision", expected=expected)
    return Verdict(Decision(given), **asked)


def post_tool_result(request: Request, caller: Caller, run_id: str, call_id: str) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, required={"ok": bool, "content": str})
    told = answer_call(
        http_input.run_id(run_id),
        call_id,
        ToolResult(asked["ok"], asked["content"]),
        account_id=caller.account_id,
        actor=caller.key_id,
        runs=world.runs,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    return Response(http_shapes.event(told))
