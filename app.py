"""Every door of the runtime, declared. No branches, no logic; a handler is imported when it is knocked at."""

from __future__ import annotations

import warnings
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from chalice.app import AuthRequest, AuthResponse, Chalice, CloudWatchEvent, ConvertToMiddleware, Rate

from chalicelib.handlers import logs, routes

# An invocation that counted nothing is the ordinary case.
warnings.filterwarnings("ignore", "No application metrics to publish", UserWarning)

logger = Logger(service="pawl")
logs.share(logger)
metrics = Metrics(namespace="Pawl", service="pawl")

# Chalice's own log would come out twice: Powertools formats the logger of the same name.
app = Chalice(app_name="pawl", configure_logs=False)
app.api.binary_types = []
app.register_middleware(ConvertToMiddleware(logger.inject_lambda_context(clear_state=True)))
app.register_middleware(ConvertToMiddleware(metrics.log_metrics(capture_cold_start_metric=True)))


@app.authorizer(name="api_auth", ttl_seconds=60)
def api_auth(request: AuthRequest) -> AuthResponse:
    """Whose API key is it, and what may it do."""
    from chalicelib.handlers import authorizer

    return authorizer.authorize(request)


routes.register(app, api_auth)


@app.lambda_function(name="advance")
def advance(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The loop's work: one slice of a run."""
    from chalicelib.handlers import workflow

    return workflow.advance(event, context)


@app.lambda_function(name="await_answer")
def await_answer(event: dict[str, Any], context: Any) -> None:
    """Keep the token that wakes a waiting execution."""
    from chalicelib.handlers import workflow

    workflow.await_answer(event, context)


@app.lambda_function(name="abandon")
def abandon(event: dict[str, Any], context: Any) -> None:
    """Settle a run whose execution gives up."""
    from chalicelib.handlers import workflow

    workflow.abandon(event, context)


@app.on_cw_event(
    {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"status": ["FAILED", "ABORTED", "TIMED_OUT"]},
    },
    name="execution_ended",
)
def execution_ended(event: CloudWatchEvent) -> None:
    """An execution ended in no good way: does its run need another one."""
    from chalicelib.handlers import workflow

    workflow.execution_ended(event.to_dict(), event.context)


@app.lambda_function(name="socket")
def socket(event: dict[str, Any], context: Any) -> dict[str, int]:
    """A WebSocket opens, says something, or closes."""
    from chalicelib.handlers import socket as sockets

    return sockets.socket(event, context)


@app.lambda_function(name="deliver")
def deliver(event: dict[str, Any], context: Any) -> None:
    """Logs went on: tell their watchers."""
    from chalicelib.handlers import stream

    stream.deliver(event, context)


@app.lambda_function(name="announce")
def announce(event: dict[str, Any], context: Any) -> None:
    """Runs ended, or ask for somebody: tell whoever wants to know."""
    from chalicelib.handlers import announcements

    announcements.announce(event, context)


@app.lambda_function(name="send_webhook")
def send_webhook(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Webhooks are on their way: one try of each."""
    from chalicelib.handlers import announcements

    return announcements.send_webhook(event, context)


@app.schedule(Rate(1, Rate.MINUTES), name="tick")
def tick(event: CloudWatchEvent) -> None:
    """The minute's tick."""
    from chalicelib.handlers import clock

    clock.tick(event.to_dict(), event.context)
