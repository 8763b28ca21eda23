"""Small worlds to search. Each looks at one corner closely; their sums are what is claimed."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.agent import Agent
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.reply import AskedCall, Reply, ToolSaid, Usage
from chalicelib.core.tools import Effect, ToolSpec
from chalicelib.ports.model import ModelRequest
from tests.model.puppet import Said, Surroundings
from tests.model.state import Faults, Scenario

ANSWER_WITHIN = 600
"""Seconds; a search that waits them out is short enough."""

_USAGE = Usage(1, 1)
_SCHEMA = {"type": "object"}


def _reply(text: str, *tools: str) -> Reply:
    return Reply(text, tuple(AskedCall(name, {}) for name in tools), _USAGE, "stop")


def _streams(request: ModelRequest) -> Sequence[Said]:
    """Two pieces of text, then the whole."""
    return ["a", "b", _reply("ab")]


def _short(request: ModelRequest) -> Sequence[Said]:
    return ["a", _reply("a")]


def _refuses(request: ModelRequest) -> Sequence[Said]:
    return ["a", ModelRefused("no such model")]


def _says_nothing(request: ModelRequest) -> Sequence[Said]:
    return [_reply("")]


def _asks(*tools: str) -> Surroundings:
    def says(request: ModelRequest) -> Sequence[Said]:
        worked = any(isinstance(message, ToolSaid) for message in request.messages)
        return [_reply("") if worked else _reply("", *tools)]

    return _around(says)


def _is_down(seconds: float, *, crowded: bool = False) -> Surroundings:
    """The first call of a step fails and has to wait so long; the next one is answered."""

    def says(request: ModelRequest) -> Sequence[Said]:
        down = request.attempt_no == 0 and request.step == 1
        return [ModelUnavailable("busy", retry_after=seconds)] if down else [_reply("")]

    return _around(says, crowded=crowded)


def _around(says: object, **more: bool) -> Surroundings:
    tools = {
        "look": ToolSpec("look", "looks", _SCHEMA, Effect.READ, 20),
        "pay": ToolSpec("pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 20),
        "timed_pay": ToolSpec("timed_pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 31),
        "slow_pay": ToolSpec("slow_pay", "pays", _SCHEMA, Effect.IRREVERSIBLE, 40),
        "charge": ToolSpec("charge", "charges", _SCHEMA, Effect.IRREVERSIBLE, 20),
    }
    rules = tuple(Grant(Ruling.ALLOW, name, calls=9, preapproved=name != "charge") for name in tools)
    agent = Agent(
        "demo", "a model's", "Be brief.", "scripted:test", tuple(tools), permissions=rules, answer_within=ANSWER_WITHIN
    )
    return Surroundings(agent, says, tools, **more)  # type: ignore[arg-type]


STREAM = Scenario(
    "a streamed reply, a crash, a cancel",
    _around(_streams),
    Faults(ticks=1, crashes=1, cancels=1),
    Faults(ticks=2, crashes=1, cancels=1),
)
TWIN = Scenario("a slice invoked twice", _around(_short), Faults(ticks=1, twins=1), Faults(ticks=1, crashes=1, twins=1))
TWIN_CANCELLED = Scenario(
    "a slice invoked twice, and a cancel",
    _around(_says_nothing),
    Faults(twins=1, cancels=1),
    Faults(ticks=1, twins=1, cancels=1),
)
NETWORK = Scenario(
    "an answer lost, a write delayed",
    _around(_short),
    Faults(ticks=1, crashes=1, lost=1, delayed=1),
    Faults(ticks=1, crashes=1, lost=1, delayed=2),
)
TOOLS = Scenario(
    "a call to read and one to pay, and a crash",
    _asks("look", "pay"),
    Faults(ticks=1, crashes=1),
    Faults(ticks=1, crashes=1, twins=1),
)
PAYMENT = Scenario(
    "a call to pay, and a twin", _asks("pay"), Faults(ticks=1, twins=1), Faults(ticks=1, twins=1, crashes=1)
)
LATE_PAYMENT = Scenario(
    "a call to pay whose time is longer than the lease",
    _asks("slow_pay"),
    Faults(ticks=2, crashes=1),
    Faults(ticks=2, twins=1),
)
LAGGING = Scenario(
    "a payer whose clock is behind",
    _asks("timed_pay"),
    Faults(ticks=1, sweeps=1),
    Faults(ticks=2, sweeps=1),
    tick=28.0,
    skew=4.0,
)
SLICES = Scenario(
    "one step a slice, and a write delayed",
    _asks("look"),
    Faults(ticks=1, delayed=1),
    Faults(ticks=1, delayed=1, crashes=1),
    steps_per_slice=1,
)
MESSAGE = Scenario(
    "a message while it works, and a crash",
    _around(_short),
    Faults(says=1, crashes=1),
    Faults(ticks=1, crashes=1, says=1, lost=1),
)
WAIT = Scenario(
    "a wait, answered, cancelled",
    _is_down(600),
    Faults(says=1, cancels=1),
    Faults(says=1, cancels=1, crashes=1),
)
WOKEN = Scenario(
    "a wait that nobody but its answer ends",
    _is_down(600),
    Faults(says=1, lost=1),
    Faults(says=1, cancels=1, lost=1),
    unaided=True,
)
UNWAITED = Scenario(
    "a wait that a cancel ends", _is_down(600), Faults(cancels=1, lost=1), Faults(cancels=2, lost=1), unaided=True
)
RESTARTED = Scenario(
    "a wait whose run is started anew",
    _is_down(600),
    Faults(says=1, sweeps=1),
    Faults(says=1, sweeps=1, lost=1),
    unaided=True,
)
LOST_START = Scenario(
    "a start that was lost",
    _around(_short),
    Faults(ticks=1, crashes=1, sweeps=1),
    Faults(ticks=1, crashes=1, sweeps=2),
    executions=0,
)
ABANDONED = Scenario(
    "a bug, a stale execution, a sweeper",
    _around(_short),
    Faults(ticks=1, bugs=1, sweeps=1),
    Faults(ticks=1, bugs=1, sweeps=1, twins=1),
)
FAILING = Scenario(
    "a model that refuses, a crash, a cancel",
    _around(_refuses),
    Faults(ticks=1, crashes=1, cancels=1),
    Faults(ticks=2, crashes=2, cancels=1),
)
POISON = Scenario(
    "an input that kills its Lambda",
    _around(_short, poison=True),
    Faults(ticks=1, cancels=1),
    Faults(ticks=1, crashes=1, cancels=1),
)
TORN = Scenario(
    "a read of several items, torn, and a cancel",
    _around(_says_nothing),
    Faults(ticks=1, cancels=1),
    Faults(ticks=1, crashes=1, cancels=1),
    torn_reads=True,
)
TORN_WAIT = Scenario(
    "a read of several items, torn, and an answer",
    _is_down(600),
    Faults(says=1),
    Faults(says=1, cancels=1),
    torn_reads=True,
)
HOLE = Scenario(
    "a payer stopped right before its effect",
    _asks("pay"),
    Faults(ticks=1, twins=1),
    Faults(ticks=2, twins=1),
    hole=True,
    late_effects=True,
)

QUESTION = Scenario(
    "a question, approved and denied",
    _asks("charge"),
    Faults(approves=1, denies=1),
    Faults(approves=1, denies=1, crashes=1),
)
QUESTION_CANCELLED = Scenario(
    "a question, approved, cancelled",
    _asks("charge"),
    Faults(approves=1, cancels=1),
    Faults(approves=1, cancels=1, lost=1),
)
QUESTION_LEFT = Scenario(
    "a question, approved, and a crash",
    _asks("charge"),
    Faults(approves=1, crashes=1),
    Faults(approves=1, crashes=2),
)
QUESTION_WOKEN = Scenario(
    "a question that nobody but its answer ends",
    _asks("charge"),
    Faults(approves=1, lost=1),
    Faults(approves=1, sweeps=1, lost=1),
    unaided=True,
)
QUESTION_EXPIRED = Scenario(
    "a question, approved when it expires",
    _asks("charge"),
    Faults(approves=1, ticks=1),
    Faults(approves=1, denies=1, ticks=1),
    tick=ANSWER_WITHIN + 1.0,
)
OUTCOME = Scenario(
    "a payment in doubt that is made again if a person says so",
    _asks("pay"),
    Faults(ticks=1, crashes=1, retries=1),
    Faults(ticks=1, crashes=2, retries=1),
)
CROWDED = Scenario(
    "another run at work, and a crash",
    _around(_says_nothing, crowded=True),
    Faults(ticks=1, crashes=1, frees=1),
    Faults(ticks=1, crashes=1, frees=1, sweeps=1),
)
CROWDED_CANCELLED = Scenario(
    "another run at work, and a cancel",
    _around(_says_nothing, crowded=True),
    Faults(cancels=1, frees=1, lost=1),
    Faults(cancels=1, frees=2, takes=1, lost=1, crashes=1),
)
CROWDED_ALONE = Scenario(
    "another run at work, and no sweeper",
    _around(_says_nothing, crowded=True),
    Faults(frees=2, takes=1, lost=1),
    Faults(frees=3, takes=2, lost=1),
    unaided=True,
)
CROWDED_WAIT = Scenario(
    "another run begins during a wait",
    _is_down(600, crowded=True),
    Faults(says=1, takes=1, frees=2),
    Faults(says=1, takes=1, frees=2, cancels=1, lost=1),
)

ALL = tuple(each for each in list(globals().values()) if isinstance(each, Scenario))
