"""Runs: submit, look, list, cancel, delete."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core.errors import InvalidInput
from chalicelib.core.run import Status
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.check_webhook import check_webhook
from chalicelib.usecases.delete_run import delete_run
from chalicelib.usecases.list_runs import list_runs
from chalicelib.usecases.read_run import read_run
from chalicelib.usecases.submit import submit

DEFAULT_LIMIT, MAX_LIMIT = 20, 100


def post_run(request: Request, caller: Caller) -> Response:
    http_input.streamed(http_input.params(request), here=False)
    world = bootstrap.world()
    asked = check_webhook(
        http_input.task(request),
        account_id=caller.account_id,
        webhooks=world.webhooks,
        policy=world.webhook_egress,
    )
    submitted = submit(
        asked,
        account_id=caller.account_id,
        idempotency_key=http_input.idempotency_key(request),
        runs=world.runs,
        agents=world.agents,
        toolboxes=world.toolboxes,
        uploads=world.uploads,
        files=world.files,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    headers: dict[str, str | list[str]] = {"Location": f"/v1/runs/{submitted.run.run_id}"}
    if submitted.replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(http_shapes.accepted(submitted.run), headers, 202)


def get_run(request: Request, caller: Caller, run_id: str) -> Response:
    world = bootstrap.world()
    run, last = read_run(http_input.run_id(run_id), account_id=caller.account_id, runs=world.runs)
    return Response({**http_shapes.whole(run, last), "files": http_shapes.files(world.files.of_run(run_id))})


def get_runs(request: Request, caller: Caller) -> Response:
    params = http_input.params(request)
    runs, after = list_runs(
        account_id=caller.account_id,
        status=_status(params.get("status")),
        limit=http_input.number(params, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        after=http_input.after(params),
        runs=bootstrap.world().runs,
    )
    return Response({"runs": [http_shapes.listed(run) for run in runs], "next": after})


def _status(text: str | None) -> Status | None:
    if text is not None and text not in list(Status):
        expected = f"one of: {', '.join(Status)}"
        raise InvalidInput("invalid_status", "there is no such status", field="status", expected=expected)
    return Status(text) if text is not None else None


def post_cancel(request: Request, caller: Caller, run_id: str) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, optional={"reason": str})
    run, last = cancel(
        http_input.run_id(run_id),
        account_id=caller.account_id,
        actor=caller.key_id,
        reason=asked.get("reason"),
        runs=world.runs,
        slots=world.slots,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    return Response(http_shapes.whole(run, last), status_code=200 if run.status.terminal else 202)


def delete_run_of(request: Request, caller: Caller, run_id: str) -> Response:
    world = bootstrap.world()
    delete_run(http_input.run_id(run_id), account_id=caller.account_id, runs=world.runs, clock=world.clock)
    return Response({"run_id": run_id, "deleted": True}, status_code=202)
