"""How single answers are printed: JSON for programs, a table on a terminal, tab-separated lines in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from pawl_client.questions import commands, head, when
from pawl_client.screen import console, printable
from pawl_client.telling import fault
from pawl_client.wire import Json

STATUS_STYLES = {
    "done": "green",
    "failed": "bold red",
    "cancelled": "yellow",
    "cancelling": "yellow",
    "waiting": "yellow",
    "running": "cyan",
    "streaming": "cyan",
}


def document(value: Any) -> None:
    """One JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def runs(rows: Iterable[Json]) -> None:
    """Runs, one a line."""
    lines = [(r["run_id"], r["status"], r["agent"], r["created_at"], _tags(r.get("metadata"))) for r in rows]
    _table(("RUN", "STATUS", "AGENT", "CREATED", "TAGS"), lines)


def approvals(rows: Iterable[Json]) -> None:
    """Open questions, one a line."""
    lines = [
        (a["run_id"], a["approval_id"], a["question"], a["name"], when(a["expires_at"]), a["preview"]) for a in rows
    ]
    if lines:
        _table(("RUN", "APPROVAL", "ABOUT", "TOOL", "OPEN UNTIL", "WHAT IT WOULD DO"), lines)


def agents(rows: Iterable[Json]) -> None:
    """Agents, one a line."""
    lines = [(a["name"], a["model"], ", ".join(a["tools"]), a["description"]) for a in rows]
    _table(("AGENT", "MODEL", "TOOLS", "DESCRIPTION"), lines)


def agent(told: Json) -> None:
    """One agent: what it is made of, and below that its prompt."""
    facts = {
        "agent": told["name"],
        "version": "built in" if told["built_in"] else told["version"],
        "description": told["description"],
        "model": told["model"],
        "tools": ", ".join(told["tools"]),
        "declared": ", ".join(f"{tool['name']} ({tool['kind']})" for tool in told["declared"]),
        "permissions": _rules(told["permissions"]),
        "budget": _budget(told["budget"]),
        "answer within": f"{told['answer_within']} s, then {told['on_expiry']}",
    }
    _facts([(name, str(value)) for name, value in facts.items() if value not in (None, "")])
    print(f"\n{printable(told['prompt']) if sys.stdout.isatty() else told['prompt']}")


def _rules(told: Iterable[Json]) -> str:
    """Rules as JSON says them, one after the other; their lines are the server's grammar, and not ours to spell."""
    return "; ".join(json.dumps(rule, ensure_ascii=False) for rule in told)


def keys(rows: Iterable[Json]) -> None:
    """API keys, one a line."""
    lines = [(k["key_id"], k["name"], " ".join(k["scopes"]), k["created_at"], k.get("revoked_at") or "") for k in rows]
    _table(("KEY", "NAME", "SCOPES", "CREATED", "REVOKED"), lines)


def findings(rows: Iterable[Json]) -> None:
    """What the doctor found, one thing a line."""
    lines = [(f["run_id"], f["code"], f["detail"], "repaired" if f["repaired"] else "") for f in rows]
    if lines:
        _table(("RUN", "CODE", "DETAIL", ""), lines)


def run(told: Json, asked: Iterable[Mapping[str, Any]] = ()) -> None:
    """One run: what is known of it, what it asks and how to answer, and below that its output."""
    facts = {
        "run": told["run_id"],
        "status": told["status"],
        "waiting for": told.get("waiting_for"),
        "agent": told["agent"],
        "tags": _tags(told.get("metadata")),
        "created": told["created_at"],
        "first text": told.get("first_token_at"),
        "ended": told.get("ended_at"),
        "attempts": told.get("attempt"),
        "last event": told.get("last_seq"),
        "budget": _budget(told.get("budget")),
        "error": fault(told["error"]) if told.get("error") else None,
        "cancelled": _cancelled(told.get("cancelled")),
    }
    questions = [line for one in asked for line in _question(told["run_id"], one)]
    _facts([*((name, str(value)) for name, value in facts.items() if value not in (None, "")), *questions])
    if output := (told.get("output") or {}).get("text"):
        print(f"\n{printable(output) if sys.stdout.isatty() else output}")


def _question(run_id: str, asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "asks", f"{asked['approval_id']}: {head(asked)}"
    yield "open until", when(asked["expires_at"])
    yield "to answer", commands(run_id, asked)


def _facts(facts: Sequence[tuple[str, str]]) -> None:
    out = console(sys.stdout)
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        out.print(Text.assemble((f"{name:<{width}}  ", "dim"), _styled(value)), soft_wrap=True)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    if not sys.stdout.isatty():
        for line in lines:
            print("\t".join(" ".join(cell.split()) for cell in line))
        return
    table = Table(*head, box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for line in lines:
        table.add_row(*(_styled(cell) for cell in line))
    console(sys.stdout).print(table)


def _styled(cell: str) -> Text:
    return Text(printable(cell), style=STATUS_STYLES.get(cell, ""))


def _tags(metadata: Json | None) -> str:
    return " ".join(f"{name}={value}" for name, value in (metadata or {}).items())


def _budget(budget: Json | None) -> str:
    return f"{budget['steps']} steps, {budget['seconds']} s" if budget else ""


def _cancelled(told: Json | None) -> str:
    if not told:
        return ""
    reason = told.get("reason")
    return f"by {told.get('actor')}" + (f": {reason}" if reason else "")
