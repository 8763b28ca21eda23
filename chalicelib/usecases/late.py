"""Results that came too late to count: each has a line in the log of its worker, and nothing in the run.

The line has what it was and how much of it, never what it said. `bytes` are those of its text in UTF-8.
"""

from __future__ import annotations

import logging
from typing import Any

from chalicelib.core.reply import ToolCall, Usage
from chalicelib.core.run import Run
from chalicelib.core.tools import ToolResult

logger = logging.getLogger(__name__)


def model_call(run: Run, step: int, size: int, usage: Usage | None) -> None:
    """What a model has said to a hold that was lost: `size` bytes, and the tokens if it had come to its end."""
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} if usage else {}
    _tell(run, "model_call", {"step": step, "bytes": size, **tokens})


def tool_call(run: Run, call: ToolCall, result: ToolResult) -> None:
    """The result of a call for which nobody waits any more. `unknown` is that of the result."""
    size = len(result.content.encode())
    # "name" would be the logger's own.
    told = {"call_id": call.call_id, "tool": call.name, "ok": result.ok, "unknown": result.unknown, "bytes": size}
    _tell(run, "tool_call", told)


def _tell(run: Run, of: str, what: dict[str, Any]) -> None:
    whose = {"action": "advance", "late": True, "of": of, "run_id": run.run_id, "attempt": run.attempt}
    logger.warning("a result came late and is dropped", extra={**whose, **what})
