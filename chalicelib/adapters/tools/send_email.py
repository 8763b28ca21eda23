"""The tool that writes to people. Nobody can take a mail back, so that a person is asked first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.adapters.tools.toolbox import Tool, ToolProblem
from chalicelib.core.errors import MailInDoubt, MailRefused
from chalicelib.core.mail import Mail
from chalicelib.core.tools import Effect, Invocation, Matching, Risk, ToolResult, ToolSpec
from chalicelib.ports.clock import Clock
from chalicelib.ports.mailer import Mailer

MAX_RECIPIENTS = 10
MAX_SUBJECT = 200
MAX_BODY = 20_000

SPEC = ToolSpec(
    name="send_email",
    description="Sends an e-mail of plain text. It cannot be taken back.",
    parameters={
        "type": "object",
        "properties": {
            "to": {
                "type": "array",
                "items": {"type": "string", "format": "email"},
                "minItems": 1,
                "maxItems": MAX_RECIPIENTS,
                "uniqueItems": True,
                "description": "The addresses, for instance jo@example.com.",
            },
            "subject": {"type": "string", "minLength": 1, "maxLength": MAX_SUBJECT},
            "body": {"type": "string", "minLength": 1, "maxLength": MAX_BODY},
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": False,
    },
    effect=Effect.IRREVERSIBLE,
    timeout=30.0,
    open_world=True,
    at_least=Risk.GRAVE,
    fields={"to": Matching.ADDRESS, "domain": Matching.HOST},
)


def look(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Every recipient, and the domain of each, in lower case. Raises `ToolProblem` for what is no line of a mail."""
    if not args["subject"].isprintable():
        raise ToolProblem("subject: it must be one line, without control characters.")
    recipients = [address.lower() for address in args["to"]]
    return {"to": recipients, "domain": [address.rpartition("@")[2] for address in recipients]}


def send_email(mailer: Mailer, clock: Clock) -> Tool:
    """The tool, with that way out."""

    def send(invocation: Invocation) -> str | ToolResult:
        args = invocation.call.args
        if invocation.stop.is_set() or clock.now() >= invocation.deadline:
            raise ToolProblem("The mail was not sent: its time was up before it could begin.")
        try:
            mailer.send(Mail(invocation.call.call_id, tuple(args["to"]), args["subject"], args["body"]))
        except MailRefused as fault:
            raise ToolProblem(f"The mail was not sent: {fault}.") from fault
        except MailInDoubt as fault:
            return ToolResult(ok=False, content=f"The mail may have been sent: {fault}.", unknown=True)
        return f"Sent to {', '.join(args['to'])}."

    return SPEC, send
