"""What a worker may do next, as values: `decide` names one, the worker does it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.core.events import Event
from chalicelib.core.reply import ToolCall
from chalicelib.core.steps import CallState
from chalicelib.core.tools import ToolResult


@dataclass(frozen=True, slots=True)
class Think:
    """Begin step `step` with its first model call."""

    step: int


@dataclass(frozen=True, slots=True)
class ThinkAgain:
    """Make the model call of `step` once more; clients drop the text from `from_seq` on."""

    step: int
    from_seq: int


@dataclass(frozen=True, slots=True)
class CallTools:
    """Make these calls, as far as they are allowed: those that nobody has started, and those that are made again."""

    step: int
    calls: tuple[CallState, ...]


@dataclass(frozen=True, slots=True)
class GiveUpCalls:
    """Note that nobody will know how these calls ended: they may have had an effect that can't be taken back."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Ask a person whether these calls happened: nobody else can know."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Expire:
    """Note that nobody answered these questions in time."""

    questions: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """Write down what became of calls that nothing is done for any more."""

    outcomes: tuple[tuple[ToolCall, ToolResult], ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for people, for somebody outside, or for a time, and hold nothing meanwhile."""

    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing before `until`: another worker's call may still begin its effect."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Finish:
    """The model has said its last word."""

    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The run can't go on. `code` is stable."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Confirm:
    """A cancel stands: begin nothing, settle what was begun, then end."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The run is over."""


Act = (
    Think
    | ThinkAgain
    | CallTools
    | GiveUpCalls
    | AskOutcome
    | Expire
    | Conclude
    | Await
    | Pause
    | Finish
    | Stop
    | Confirm
    | Leave
)
