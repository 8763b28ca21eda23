"""The command `pawl`: every command, declared. What they do stands in `client`, `watching` and `render`."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pawl_client import answering, cli_approvals, render, settings
from pawl_client.cli_agents import agents
from pawl_client.connecting import AsJson, checked_id, connect
from pawl_client.doctor import examine
from pawl_client.errors import PawlError, Trouble, Unreachable
from pawl_client.follow import START
from pawl_client.screen import Chatter
from pawl_client.telling import Tone
from pawl_client.watching import ExitCode
from pawl_client.watching import watch as watch_run
from pawl_client.wire import Json

_UNAUTHORIZED = 401


class Commands(TyperGroup):
    """The one place where what went wrong becomes a line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except Trouble as trouble:
            _complain(trouble, ctx.obj)
            raise typer.Exit(ExitCode.ERROR) from trouble
        except BrokenPipeError as gone:
            # Whoever read our output has enough. The interpreter would try to write the rest when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.BROKEN_PIPE) from gone


def _complain(trouble: Trouble, url: str | None) -> None:
    chatter = Chatter()
    chatter.note(f"pawl: {trouble}", Tone.BAD)
    if isinstance(trouble, Unreachable):
        chatter.note("is the server running? On a laptop, `make run` starts it")
    if isinstance(trouble, PawlError) and trouble.status == _UNAUTHORIZED:
        chatter.note(f"the key came from {settings.load(url, os.environ, Path.cwd()).key_from}")


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
keys = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys (needs a key with the scope admin).")
app.add_typer(keys, name="keys")
app.add_typer(agents, name="agents")
app.command()(cli_approvals.approvals)
app.command()(cli_approvals.approve)
app.command()(cli_approvals.deny)
app.command()(cli_approvals.resolve)

RunId = Annotated[str, typer.Argument(metavar="ID", help="The run's id.", callback=checked_id)]


@app.callback()
def pawl(
    ctx: typer.Context,
    url: Annotated[str | None, typer.Option(help="The server. Default: PAWL_URL, or http://127.0.0.1:8787.")] = None,
) -> None:
    """Submit, follow, cancel and delete the runs of a Pawl server, and answer what they ask.

    The API key is PAWL_KEY, or the file .pawl/key of this directory or one above it.
    """
    ctx.obj = url


@app.command()
def run(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The task, in your words.")],
    agent: Annotated[str, typer.Option(help="Who does it; see `pawl agents`.")] = "demo",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay, and show the run as `pawl watch` does.")
    ] = False,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Put a tag on the run; repeatable.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="End it after so many model calls.")] = None,
    seconds: Annotated[int | None, typer.Option(help="End it after so much time.")] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key and task again is the same run.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Submit a task. Prints the run's id; with --follow, its text."""
    metadata = _tags(tag or [])
    with connect(ctx) as client:
        accepted = client.submit(
            text, agent=agent, metadata=metadata, steps=steps, seconds=seconds, idempotency_key=idempotency_key
        )
        run_id = accepted["run_id"]
        if follow:
            Chatter().note(run_id)
            raise typer.Exit(watch_run(client, run_id, as_json=as_json))
    if as_json:
        render.document(accepted)
    else:
        print(run_id)
        Chatter().note(f"to follow it: pawl watch {run_id}")


@app.command()
def watch(
    ctx: typer.Context,
    run_id: RunId,
    since: Annotated[int, typer.Option(min=START, help="The event that you have already; -1 for none.")] = START,
    as_json: AsJson = False,
) -> None:
    """Follow a run to its end, over lost connections too.

    Ends with 0 if the run is done, 3 if it failed, 4 if it was cancelled.
    """
    with connect(ctx) as client:
        raise typer.Exit(watch_run(client, run_id, since=since, as_json=as_json))


@app.command()
def cancel(
    ctx: typer.Context,
    run_id: RunId,
    reason: Annotated[str | None, typer.Option(help="Why; it stands in the run's log.")] = None,
    as_json: AsJson = False,
) -> None:
    """Cancel a run. One that has ended stays what it is."""
    with connect(ctx) as client:
        told = client.cancel(run_id, reason)
    if as_json:
        render.document(told)
    else:
        print(run_id, told["status"])


@app.command()
def delete(
    ctx: typer.Context,
    run_id: RunId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, on a terminal, whether it is meant.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a run that has ended, with its log and its files. There is no way back."""
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        typer.confirm(f"Delete {run_id} with its log and its files, for good?", abort=True, err=True)
    with connect(ctx) as client:
        told = client.delete_run(run_id)
    if as_json:
        render.document(told)
    else:
        print(run_id, "deleted")


@app.command()
def runs(
    ctx: typer.Context,
    status: Annotated[str | None, typer.Option(help="Only runs that stand there: pending, running, done, …")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many in one answer of the server.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them, not only the newest.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the account's runs, newest first."""
    with connect(ctx) as client:
        if everything:
            page: Json = {"runs": list(client.all_runs(status=status, limit=limit)), "next": None}
        else:
            page = client.runs(status=status, limit=limit)
    if as_json:
        render.document(page)
        return
    render.runs(page["runs"])
    if page.get("next"):
        Chatter().note("there are more: pawl runs --all")


@app.command()
def show(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Show a run as it stands, what it asks, and its output."""
    with connect(ctx) as client:
        told = client.run(run_id)
        asked = answering.open_questions(client, run_id) if told["status"] == "waiting" and not as_json else []
    if as_json:
        render.document(told)
    else:
        render.run(told, asked)


@app.command()
def doctor(
    ctx: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Do about it what the server can.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for runs of the account that are not as they must be (needs a key with the scope admin).

    Ends with 0 if nothing is wrong, and with 1 if something was found, repaired or not.
    """
    with connect(ctx) as client:
        raise typer.Exit(examine(client, repair=repair, as_json=as_json))


@keys.command("create")
def create_key(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    scope: Annotated[list[str], typer.Option(help="What it may do: read, run, approve or admin; repeatable.")],
    as_json: AsJson = False,
) -> None:
    """Make a key. Its secret is printed now and never again."""
    with connect(ctx) as client:
        made = client.make_key(name, scope)
    if as_json:
        render.document(made)
    else:
        print(made["secret"])
        Chatter().note(f"{made['key_id']}: keep the secret; nobody can show it again", Tone.WARNING)


@keys.command("list")
def list_keys(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the account's keys."""
    with connect(ctx) as client:
        told = client.keys()
    if as_json:
        render.document(told)
    else:
        render.keys(told["keys"])


@keys.command("revoke")
def revoke_key(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, not its secret.", callback=checked_id)],
    as_json: AsJson = False,
) -> None:
    """Revoke a key. Servers may take a minute to notice."""
    with connect(ctx) as client:
        told = client.revoke_key(key_id)
    if as_json:
        render.document(told)
    else:
        print(key_id, "revoked")


def _tags(given: list[str]) -> dict[str, str]:
    split = [tag.partition("=") for tag in given]
    if any(not name or not sign for name, sign, _ in split):
        raise typer.BadParameter("a tag is NAME=VALUE", param_hint="--tag")
    return {name: value for name, _, value in split}


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # An agent may use letters that a terminal's encoding does not have.
            stream.reconfigure(errors="replace")
    app()
