"""What a tool of an MCP server answered, as text for a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chalicelib.core.tools import ToolResult

LONGEST_LABEL = 300


def outcome(result: Mapping[str, Any]) -> ToolResult:
    """A tool that failed says so itself; a result of a kind that is not known is a failure too."""
    kind = result.get("resultType", "complete")
    if kind == "input_required":
        return ToolResult(ok=False, content=f"Not done: the tool asks for more than its arguments. {_asked(result)}")
    if kind != "complete":
        return ToolResult(
            ok=False, content=f"The tool gave a result of an unknown kind: {str(kind)[:LONGEST_LABEL]!r}."
        )
    return ToolResult(ok=result.get("isError") is not True, content=_text(result))


def _asked(result: Mapping[str, Any]) -> str:
    requests = _object(result.get("inputRequests")).values()
    messages = [_object(_object(each).get("params")).get("message") for each in requests]
    said = " / ".join(each[:LONGEST_LABEL] for each in messages if isinstance(each, str))
    return f"{f'It says: {said[:LONGEST_LABEL]} ' if said else ''}Nobody can answer it here: do without."


def _text(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    blocks = [_block(_object(each)) for each in content] if isinstance(content, list) else []
    if not blocks and result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(blocks)


def _block(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[link: {uri[:LONGEST_LABEL]}]"
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind} of {len(data) * 3 // 4} bytes, not shown]"
    return f"[content of the kind {str(block.get('type'))[:LONGEST_LABEL]!r}, not shown]"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
