"""The HTTP doors, in one table: which path and method leads where, and which scope it takes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from chalice.app import Chalice, ChaliceAuthorizer, Response

from chalicelib.core.api_key import Scope
from chalicelib.handlers import (
    authorizer,
    events_query,
    http_agents,
    http_approvals,
    http_doctor,
    http_errors,
    http_events,
    http_files,
    http_health,
    http_input,
    http_keys,
    http_payloads,
    http_policy,
    http_runs,
    http_tickets,
    http_webhooks,
)


class Route(NamedTuple):
    """`view` gets the request, the caller and what the path names. Without a scope it is open, and has no caller.
    `query`: the parameters that it knows; every other one is refused."""

    method: str
    path: str
    scope: Scope | None
    view: Callable[..., Response]
    query: tuple[str, ...] = ()


PAGE = ("limit", "next")

ROUTES = (
    Route("POST", "/v1/runs", Scope.RUN, http_runs.post_run, (http_input.STREAM,)),
    Route("GET", "/v1/runs", Scope.READ, http_runs.get_runs, ("status", *PAGE)),
    Route("GET", "/v1/runs/{run_id}", Scope.READ, http_runs.get_run),
    Route("DELETE", "/v1/runs/{run_id}", Scope.RUN, http_runs.delete_run_of),
    Route("GET", "/v1/runs/{run_id}/events", Scope.READ, http_events.get_events, events_query.KNOWN),
    Route("GET", "/v1/runs/{run_id}/payloads/{digest}", Scope.READ, http_payloads.get_payload),
    Route("POST", "/v1/runs/{run_id}/cancel", Scope.RUN, http_runs.post_cancel),
    Route("GET", "/v1/approvals", Scope.READ, http_approvals.get_approvals, PAGE),
    Route("POST", "/v1/runs/{run_id}/approvals/{approval_id}", Scope.APPROVE, http_approvals.post_decision),
    Route("POST", "/v1/runs/{run_id}/tool-results/{call_id}", Scope.RUN, http_approvals.post_tool_result),
    Route("POST", "/v1/tickets", Scope.READ, http_tickets.post_ticket),
    Route("GET", "/v1/runs/{run_id}/files/{file_id}", Scope.READ, http_files.get_run_file),
    Route("POST", "/v1/files", Scope.RUN, http_files.post_file),
    Route("GET", "/v1/files/{file_id}", Scope.RUN, http_files.get_file),
    Route("DELETE", "/v1/files/{file_id}", Scope.RUN, http_files.delete_file),
    Route("GET", "/v1/agents", Scope.READ, http_agents.get_agents),
    Route("GET", "/v1/policy", Scope.ADMIN, http_policy.get_policy),
    Route("PUT", "/v1/policy", Scope.ADMIN, http_policy.put_policy),
    Route("GET", "/v1/agents/{name}", Scope.ADMIN, http_agents.get_agent, ("version",)),
    Route("PUT", "/v1/agents/{name}", Scope.ADMIN, http_agents.put_agent_of),
    Route("DELETE", "/v1/agents/{name}", Scope.ADMIN, http_agents.delete_agent_of),
    Route("POST", "/v1/keys", Scope.ADMIN, http_keys.post_key),
    Route("GET", "/v1/keys", Scope.ADMIN, http_keys.get_keys),
    Route("DELETE", "/v1/keys/{key_id}", Scope.ADMIN, http_keys.delete_key),
    Route("GET", "/v1/webhooks", Scope.ADMIN, http_webhooks.get_webhooks),
    Route("PUT", "/v1/webhooks/{name}", Scope.ADMIN, http_webhooks.put_webhook),
    Route("GET", "/v1/webhooks/{name}", Scope.ADMIN, http_webhooks.get_webhook),
    Route("DELETE", "/v1/webhooks/{name}", Scope.ADMIN, http_webhooks.delete_webhook),
    Route("POST", "/v1/webhooks/{name}/secret", Scope.ADMIN, http_webhooks.post_secret),
    Route("GET", "/v1/admin/doctor", Scope.ADMIN, http_doctor.get_doctor, PAGE),
    Route("POST", "/v1/admin/doctor/repair", Scope.ADMIN, http_doctor.post_repair, PAGE),
    Route("GET", "/healthz", None, http_health.get_health),
    Route("GET", "/openapi.yaml", None, http_health.get_openapi),
)


def register(app: Chalice, api_auth: ChaliceAuthorizer) -> None:
    """Open the doors; those with a scope stand behind the authorizer."""
    app.register_middleware(http_errors.finish, "http")
    for route in ROUTES:
        guard = api_auth if route.scope else None
        app.route(route.path, methods=[route.method], authorizer=guard)(_door(app, route))


def _door(app: Chalice, route: Route) -> Callable[..., Response]:
    @functools.wraps(route.view)
    @http_errors.answers_faults
    def door(**named: str) -> Response:
        request: Any = app.current_request
        callers = [authorizer.caller(request, route.scope)] if route.scope else []
        http_input.check_names(http_input.params(request), route.query)
        return route.view(request, *callers, **named)

    return door
