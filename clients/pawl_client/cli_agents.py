"""`pawl agents`: list the agents, and define those of the account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pawl_client import render
from pawl_client.connecting import AsJson, connect
from pawl_client.screen import Chatter

agents = typer.Typer(
    invoke_without_command=True, help="List the agents that can be asked; show, put and delete (scope admin)."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]


@agents.callback()
def list_agents(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the agents that can be asked. To define one: pawl agents put NAME --file agent.json"""
    if ctx.invoked_subcommand is not None:
        return
    with connect(ctx) as client:
        told = client.agents()
    if as_json:
        render.document(told)
    else:
        render.agents(told["agents"])


@agents.command("show")
def show_agent(
    ctx: typer.Context,
    name: Name,
    version: Annotated[int | None, typer.Option(min=0, help="An older version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show an agent, whole."""
    with connect(ctx) as client:
        told = client.agent(name, version)
    (render.document if as_json else render.agent)(told)


@agents.command("put")
def put_agent(
    ctx: typer.Context,
    name: Name,
    file: Annotated[Path, typer.Option("--file", help="What it is made of, as JSON.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Define an agent. Other content is its next version; runs keep the one that they began with."""
    asked = _read(file)
    with connect(ctx) as client:
        told = client.put_agent(name, asked)
    if as_json:
        render.document(told)
    else:
        print(told["name"], told["version"])
        Chatter().note(f"to let it run: pawl run --agent {told['name']} TEXT")


@agents.command("delete")
def delete_agent(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Take an agent away from new runs; those that have begun go on."""
    with connect(ctx) as client:
        client.delete_agent(name)
    if as_json:
        render.document({"name": name, "deleted": True})
    else:
        print(name, "deleted")


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise typer.BadParameter(f"{file} is no JSON: {fault}", param_hint="--file") from fault
