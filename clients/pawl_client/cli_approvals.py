"""The commands about what runs ask people: `approvals`, `approve`, `deny`, `resolve`."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from pawl_client import answering, questions, render
from pawl_client.answering import Answer
from pawl_client.connecting import AsJson, checked_id, connect
from pawl_client.screen import Chatter
from pawl_client.watching import ExitCode
from pawl_client.wire import Json


class Outcome(StrEnum):
    """What became of a call of which nobody knew."""

    HAPPENED = "happened"
    RETRY = "retry"
    ABORT = "abort"


RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", callback=checked_id)]
ApprovalId = Annotated[str, typer.Argument(metavar="APPROVAL", help="The question's id.", callback=checked_id)]
Note = Annotated[str | None, typer.Option(help="Why; the agent is told, and it stands in the run's log.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask once more on a terminal.")]


def approvals(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List what runs ask people, over all runs."""
    with connect(ctx) as client:
        asked = list(client.all_approvals())
    if as_json:
        render.document({"approvals": asked, "next": None})
        return
    render.approvals(asked)
    Chatter().note("to answer: pawl approve RUN APPROVAL, pawl deny …, pawl resolve …" if asked else "nothing is asked")


def approve(
    ctx: typer.Context,
    run_id: RunId,
    approval_id: ApprovalId,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Make the call with these arguments in the place of its own.")
    ] = None,
    grant: Annotated[bool, typer.Option("--grant", help="Do not ask about this tool again in this run.")] = False,
    note: Note = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let a run make the call that it asks about, and no other."""
    if args is not None and grant:
        raise typer.BadParameter("an edited call grants nothing more", param_hint="--grant")
    edited = _object(args) if args is not None else None
    answer = Answer("approve" if edited is None else "edit", edited, note, grant)
    _answer(ctx, run_id, approval_id, answer, yes=yes, as_json=as_json)


def deny(
    ctx: typer.Context,
    run_id: RunId,
    approval_id: ApprovalId,
    note: Note = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Refuse the call that a run asks about. The run goes on without it."""
    _answer(ctx, run_id, approval_id, Answer("deny", note=note), yes=yes, as_json=as_json)


def resolve(
    ctx: typer.Context,
    run_id: RunId,
    approval_id: ApprovalId,
    outcome: Annotated[Outcome, typer.Argument(help="It happened; or it did not: make it again, or leave it.")],
    note: Note = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Say what became of a call of which nobody knows how it ended."""
    _answer(ctx, run_id, approval_id, Answer(outcome, note=note), yes=yes, as_json=as_json)


def _answer(ctx: typer.Context, run_id: str, approval_id: str, answer: Answer, *, yes: bool, as_json: bool) -> None:
    with connect(ctx) as client:
        asked, is_open = answering.find(client, run_id, approval_id)
        # What is decided is nobody's to weigh any more: the server says what stands.
        if is_open:
            _put_before(asked, answer, yes=yes)
        told = answering.send(client, run_id, asked, answer)
    _tell(approval_id, told, as_json=as_json)


def _put_before(asked: Json, answer: Answer, *, yes: bool) -> None:
    """Show the question, and ask once more."""
    answering.show(asked)
    if answer.args is not None:
        Chatter().note(f"  to be made in its place: {json.dumps(answer.args, ensure_ascii=False)}")
    if not yes and not _is_sure(answer.decision):
        Chatter().note("nothing was sent")
        raise typer.Exit(ExitCode.ERROR)


def _is_sure(decision: str) -> bool:
    """A person is asked once more, with the question before them; a script has nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return typer.confirm(f"{decision}?", err=True)


def _tell(approval_id: str, told: Json, *, as_json: bool) -> None:
    if as_json:
        render.document(told)
    else:
        print(approval_id, questions.decided(told["data"]))


def _object(text: str) -> Json:
    try:
        value: Any = json.loads(text)
    except ValueError as fault:
        raise typer.BadParameter(f"this is no JSON: {fault}", param_hint="--args") from None
    if not isinstance(value, dict):
        raise typer.BadParameter("arguments are a JSON object", param_hint="--args")
    return value
