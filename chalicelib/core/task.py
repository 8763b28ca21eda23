"""What a caller may ask for: the limits of a task, and the digest by which the same task is known again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chalicelib.core.agent import Agent
from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import check_count, check_type
from chalicelib.core.run import Budget, RunWebhook

MAX_TEXT_BYTES = 16 * 1024
MAX_REASON_CHARACTERS = 500
MAX_FILES = 10
MAX_TAGS = 16
MAX_TAG_NAME = 64
MAX_TAG_VALUE = 256
MAX_BUDGET = Budget(steps=1000, seconds=24 * 3600)
"""No run may ask for more than this, whatever its agent gives by default."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task within the limits. `steps` and `seconds` are None where the agent's default counts.

    `permissions` are rules as they came; what they say is checked against the agent's tools. `files` are the ids of
    uploads."""

    agent: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    seconds: int | None = None
    permissions: Sequence[Any] = ()
    webhook: RunWebhook | None = None
    files: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_text(self.text)
        _check_metadata(self.metadata)
        check_budget("steps", self.steps, MAX_BUDGET.steps)
        check_budget("seconds", self.seconds, MAX_BUDGET.seconds)
        for place, file_id in enumerate(self.files):
            check_type(file_id, f"files[{place}]", str)
        check_count(self.files, "files", MAX_FILES)


def digest(task: Task) -> str:
    """Equal for equal tasks, however they were written down."""
    return hashlib.sha256(json.dumps(asdict(task), sort_keys=True).encode()).hexdigest()


def budget(task: Task, agent: Agent) -> Budget:
    """The budget of the task's run."""
    return Budget(steps=task.steps or agent.budget.steps, seconds=task.seconds or agent.budget.seconds)


def check_reason(reason: str | None) -> None:
    """Why a run is cancelled, in the caller's words. Raises `InvalidInput`."""
    if reason is not None and len(reason) > MAX_REASON_CHARACTERS:
        expected = f"at most {MAX_REASON_CHARACTERS} characters"
        raise InvalidInput("text_too_long", f"it has {len(reason)} characters", field="reason", expected=expected)


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidInput("text_empty", "there is nothing to do", field="text", expected="some text")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        expected = f"at most {MAX_TEXT_BYTES} bytes of UTF-8"
        raise InvalidInput("text_too_long", f"it has {size} bytes", field="text", expected=expected)


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    if len(metadata) > MAX_TAGS:
        raise _invalid_metadata("metadata", f"there are {len(metadata)} tags", f"at most {MAX_TAGS} tags")
    for name, value in metadata.items():
        if not 1 <= len(name) <= MAX_TAG_NAME:
            raise _invalid_metadata("metadata", "a tag's name is empty or too long", f"1 to {MAX_TAG_NAME} characters")
        if not isinstance(value, str) or len(value) > MAX_TAG_VALUE:
            expected = f"a string of at most {MAX_TAG_VALUE} characters"
            raise _invalid_metadata(f"metadata.{name}", "the tag's value is no string, or too long", expected)


def _invalid_metadata(field: str, detail: str, expected: str) -> InvalidInput:
    return InvalidInput("invalid_metadata", detail, field=field, expected=expected)


def check_budget(name: str, value: int | None, most: int) -> None:
    """A part of a budget, if it is there. Raises `InvalidInput`."""
    if value is not None and not 1 <= value <= most:
        raise InvalidInput(
            "invalid_budget", f"{value} is out of range", field=f"budget.{name}", expected=f"from 1 to {most}"
        )
