"""What a tool is, what calling it twice would mean, and what a call of it is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Any, Protocol

from chalicelib.core.reply import ToolCall


class Effect(StrEnum):
    """What a call does to the world. Only an irreversible one may not simply be made again."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    KEYED = "keyed"
    IRREVERSIBLE = "irreversible"

    @property
    def repeatable(self) -> bool:
        """Whether a call that may have happened may be made again under the same key."""
        return self is not Effect.IRREVERSIBLE


class Risk(IntEnum):
    """What a call may cost the user, ordered. `HARMLESS` reads what is ours, `OUTSIDE` reads the world or changes what
    is ours, `CHANGES` changes the world in a way that bears repeating, `GRAVE` does what nobody can take back."""

    HARMLESS = 0
    OUTSIDE = 1
    CHANGES = 2
    GRAVE = 3


class Mark(StrEnum):
    """What a tool's results bring into a run. Where both have met, nothing leaves unasked."""

    PRIVATE = "private"
    UNTRUSTED = "untrusted"


class Matching(StrEnum):
    """How a permission may look at a field of a call."""

    TEXT = "text"
    ADDRESS = "address"
    HOST = "host"
    NUMBER = "number"
    PATH = "path"


class Answers(StrEnum):
    """Who ends a call: the tool itself, somebody outside with a request of their own, or the time that it names."""

    TOOL = "tool"
    OUTSIDE = "outside"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as models and the runtime see it. What is not said is assumed at its worst.

    `parameters` is JSON Schema of an object, `timeout` in seconds. `open_world`: a call leaves the account. `marks` is
    what its results bring into a run, `costs` whether it spends money, `at_least` a risk that it is given whatever the
    rest says. `shown_bytes` of a result are shown to the model, the rest is kept beside. `secrets` are fetched by name
    when a call is made. `fields` are what permissions may look at, each with how.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = Effect.IRREVERSIBLE
    timeout: float = 30.0
    open_world: bool = True
    marks: frozenset[Mark] = frozenset()
    costs: bool = False
    at_least: Risk = Risk.HARMLESS
    shown_bytes: int = 16 * 1024
    secrets: tuple[str, ...] = ()
    fields: Mapping[str, Matching] = field(default_factory=dict)
    answers: Answers = Answers.TOOL

    @property
    def lasting(self) -> timedelta:
        """How long a call may take."""
        return timedelta(seconds=self.timeout)

    @property
    def risk(self) -> Risk:
        """What the runtime takes a call's risk to be."""
        return max(self.at_least, _risk(self))


def _risk(spec: ToolSpec) -> Risk:
    if spec.effect is Effect.IRREVERSIBLE or spec.costs:
        return Risk.GRAVE
    if spec.effect is Effect.READ:
        return Risk.OUTSIDE if spec.open_world else Risk.HARMLESS
    return Risk.CHANGES if spec.open_world else Risk.OUTSIDE


class Stop(Protocol):
    """Becomes set when a call is no longer wanted: its run was cancelled, or taken by another worker."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call on its way to its tool.

    `call.call_id` is the idempotency key. Nothing of the effect begins after `deadline`. `permits` says whether the
    run may make this call with other values of its permission fields, such as the host of a redirect. `marks` is what
    results have brought into the run: a tool that keeps something for other runs keeps them with it. `secrets` are
    those that the tool's spec names, for this call alone.
    """

    run_id: str
    account_id: str
    call: ToolCall
    deadline: datetime
    stop: Stop
    permits: Callable[[Mapping[str, Any]], bool]
    marks: frozenset[Mark]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file of a run: kept in the bucket, listed on the run, deleted with it. `size` in bytes."""

    file_id: str
    name: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a call. A failed one (`ok` false) is told to the model; it is no fault of the run.

    `unknown`: the call was sent and nobody knows whether it had its effect. `files` are what came out beside the text.
    `marks` is what this result brings into the run beside what all of its tool's do.
    """

    ok: bool
    content: str
    unknown: bool = False
    files: tuple[FileRef, ...] = ()
    marks: frozenset[Mark] = frozenset()
