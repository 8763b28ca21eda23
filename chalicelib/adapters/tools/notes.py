"""The tool that remembers: small texts, by name, which every run of the account may read."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.adapters.tools.toolbox import Tool, ToolProblem
from chalicelib.core.note import MAX_LISTED, MAX_NAME, MAX_TEXT, Note
from chalicelib.core.tools import Effect, Invocation, Mark, Matching, ToolResult, ToolSpec
from chalicelib.ports.clock import Clock
from chalicelib.ports.note_store import NoteStore

NEEDS = {"write": {"name", "text"}, "read": {"name"}, "list": set[str](), "delete": {"name"}}
"""What each action takes beside itself."""

SPEC = ToolSpec(
    name="notes",
    description=(
        "Keeps small notes by name; all runs of the account share them. "
        "write (replaces a note of that name), read, list (the names), delete."
    ),
    parameters={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(NEEDS)},
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_NAME,
                "description": "Of the note; not for list.",
            },
            "text": {"type": "string", "maxLength": MAX_TEXT, "description": "What to write."},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
    effect=Effect.IDEMPOTENT,
    timeout=15.0,
    open_world=False,
    marks=frozenset({Mark.PRIVATE}),
    fields={"action": Matching.TEXT, "name": Matching.TEXT},
)


def look(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The action and the note's name. Raises `ToolProblem` for an action with too little, or too much."""
    action, given = args["action"], {*args} - {"action"}
    if given != NEEDS[action]:
        raise ToolProblem(
            f"The action {action} takes {' and '.join(sorted(NEEDS[action])) or 'nothing'} beside itself."
        )
    if "name" not in args:
        return {"action": action}
    if not args["name"].isprintable():
        raise ToolProblem("name: it must be one line, without control characters.")
    return {"action": action, "name": unicodedata.normalize("NFC", args["name"])}


def notes(store: NoteStore, clock: Clock) -> Tool:
    """The tool, on that store."""

    def note(invocation: Invocation) -> str | ToolResult:
        account_id, args = invocation.account_id, invocation.call.args
        name = look(args).get("name", "")
        match args["action"]:
            case "write":
                store.write(account_id, Note(name, args["text"], clock.now(), Mark.UNTRUSTED in invocation.marks))
                return f"The note {name!r} is written."
            case "read":
                return _told(store.read(account_id, name), name)
            case "delete":
                store.delete(account_id, name)
                return f"There is no note {name!r} any more."
        return _listed(store.all(account_id, MAX_LISTED + 1))

    return SPEC, note


def _told(note: Note | None, name: str) -> ToolResult:
    if note is None:
        raise ToolProblem(f"There is no note {name!r}.")
    return _marked(note.text, [note])


def _listed(found: Sequence[Note]) -> str | ToolResult:
    if not found:
        return "There are no notes."
    shown = found[:MAX_LISTED]
    more = "\n(There are more.)" if len(found) > MAX_LISTED else ""
    return _marked("\n".join(note.name for note in shown) + more, shown)


def _marked(content: str, told: Sequence[Note]) -> ToolResult:
    """What is read, with the mark that its writers had: a name can pass words on too."""
    untrusted = any(note.untrusted for note in told)
    return ToolResult(True, content, marks=frozenset({Mark.UNTRUSTED} if untrusted else ()))
