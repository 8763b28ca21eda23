"""Small worlds to search. Each looks at one corner closely; their sums are what is claimed."""

from __future__ import annotations

from tests.model import models
from tests.model.models import ANSWER_WITHIN
from tests.model.state import Faults, Scenario

STREAM = Scenario(
    "a streamed reply, a crash, a cancel",
    models.around(models.streams),
    Faults(ticks=1, crashes=1, cancels=1),
    Faults(ticks=2, crashes=1, cancels=1),
)
TWIN = Scenario(
    "a slice invoked twice",
    models.around(models.short),
    Faults(ticks=1, twins=1),
    Faults(ticks=1, crashes=1, twins=1, put_backs=1),
)
TWIN_CANCELLED = Scenario(
    "a slice invoked twice, and a cancel",
    models.around(models.says_nothing),
    Faults(twins=1, cancels=1),
    Faults(ticks=1, twins=1, cancels=1),
)
NETWORK = Scenario(
    "an answer lost, a write delayed",
    models.around(models.short),
    Faults(ticks=1, crashes=1, lost=1, delayed=1),
    Faults(ticks=1, crashes=1, lost=1, delayed=2),
)
TOOLS = Scenario(
    "a call to read and one to pay, and a crash",
    models.asks("look", "pay"),
    Faults(ticks=1, crashes=1),
    Faults(ticks=1, crashes=1, twins=1),
)
PAYMENT = Scenario(
    "a call to pay, and a twin", models.asks("pay"), Faults(ticks=1, twins=1), Faults(ticks=1, twins=1, crashes=1)
)
LATE_PAYMENT = Scenario(
    "a call to pay whose time is longer than the lease",
    models.asks("slow_pay"),
    Faults(ticks=2, crashes=1),
    Faults(ticks=2, twins=1),
)
LAGGING = Scenario(
    "a payer whose clock is behind",
    models.asks("timed_pay"),
    Faults(ticks=1, sweeps=1),
    Faults(ticks=2, sweeps=1),
    tick=28.0,
    skew=4.0,
)
SLICES = Scenario(
    "one step a slice, and a write delayed",
    models.asks("look"),
    Faults(ticks=1, delayed=1),
    Faults(ticks=1, delayed=1, crashes=1),
    steps_per_slice=1,
)
MESSAGE = Scenario(
    "a message while it works, and a crash",
    models.around(models.short),
    Faults(says=1, crashes=1, put_backs=1),
    Faults(ticks=1, crashes=1, says=1, lost=1),
)
WAIT = Scenario(
    "a wait, answered, cancelled",
    models.is_down(600),
    Faults(says=1, cancels=1),
    Faults(says=1, cancels=1, crashes=1, put_backs=1),
)
WOKEN = Scenario(
    "a wait that nobody but its answer ends",
    models.is_down(600),
    Faults(says=1, lost=1),
    Faults(says=1, cancels=1, lost=1),
    unaided=True,
)
UNWAITED = Scenario(
    "a wait that a cancel ends", models.is_down(600), Faults(cancels=1, lost=1), Faults(cancels=2, lost=1), unaided=True
)
RESTARTED = Scenario(
    "a wait whose run is started anew",
    models.is_down(600),
    Faults(says=1, sweeps=1),
    Faults(says=1, sweeps=1, lost=1),
    unaided=True,
)
LOST_START = Scenario(
    "a start that was lost",
    models.around(models.short),
    Faults(ticks=1, crashes=1, sweeps=1),
    Faults(ticks=1, crashes=1, sweeps=2),
    executions=0,
)
ABANDONED = Scenario(
    "a bug, a stale execution, a sweeper",
    models.around(models.short),
    Faults(ticks=1, bugs=1, sweeps=1, put_backs=1),
    Faults(ticks=1, bugs=1, sweeps=1, twins=1),
)
FAILING = Scenario(
    "a model that refuses, a crash, a cancel",
    models.around(models.refuses),
    Faults(ticks=1, crashes=1, cancels=1),
    Faults(ticks=2, crashes=2, cancels=1),
)
POISON = Scenario(
    "an input that kills its Lambda",
    models.around(models.short, poison=True),
    Faults(ticks=1, cancels=1),
    Faults(ticks=1, crashes=1, cancels=1),
)
TORN = Scenario(
    "a read of several items, torn, and a cancel",
    models.around(models.says_nothing),
    Faults(ticks=1, cancels=1),
    Faults(ticks=1, crashes=1, cancels=1),
    torn_reads=True,
)
TORN_WAIT = Scenario(
    "a read of several items, torn, and an answer",
    models.is_down(600),
    Faults(says=1),
    Faults(says=1, cancels=1),
    torn_reads=True,
)
TORN_MESSAGES = Scenario(
    "a read of several items, torn, and two messages",
    models.around(models.says_nothing),
    Faults(says=2),
    Faults(says=2, crashes=1),
    torn_reads=True,
)
SWEEPERS = Scenario(
    "a start that was lost, and two sweepers at once",
    models.around(models.short),
    Faults(ticks=1, sweeps=2),
    Faults(ticks=1, crashes=1, sweeps=2, put_backs=1),
    executions=0,
    at_once=2,
)
CANCELLERS = Scenario(
    "two cancellers at once, and a lapse",
    models.around(models.says_nothing),
    Faults(ticks=1, cancels=2),
    Faults(ticks=1, crashes=1, cancels=2),
    at_once=2,
)
LONG = Scenario(
    "an execution whose history is full",
    models.around(models.looks_twice),
    Faults(ticks=1, lost=1),
    Faults(ticks=1, lost=1, cancels=1),
    steps_per_slice=1,
    laps=1,
    unaided=True,
)
HOLE = Scenario(
    "a payer stopped right before its effect",
    models.asks("pay"),
    Faults(ticks=1, twins=1),
    Faults(ticks=2, twins=1),
    hole=True,
    late_effects=True,
)

QUESTION = Scenario(
    "a question, approved and denied",
    models.asks("charge"),
    Faults(approves=1, denies=1),
    Faults(approves=1, denies=1, crashes=1),
)
QUESTION_CANCELLED = Scenario(
    "a question, approved, cancelled",
    models.asks("charge"),
    Faults(approves=1, cancels=1),
    Faults(approves=1, cancels=1, lost=1),
)
QUESTION_LEFT = Scenario(
    "a question, approved, and a crash",
    models.asks("charge"),
    Faults(approves=1, crashes=1, put_backs=1),
    Faults(approves=1, crashes=2, put_backs=1),
)
QUESTION_WOKEN = Scenario(
    "a question that nobody but its answer ends",
    models.asks("charge"),
    Faults(approves=1, lost=1),
    Faults(approves=1, sweeps=1, lost=1),
    unaided=True,
)
QUESTION_BUG = Scenario(
    "a question, approved, a twin and a bug",
    models.asks("charge"),
    Faults(approves=1, twins=1, bugs=1),
    Faults(approves=1, twins=1, bugs=1, put_backs=1),
)
QUESTION_EXPIRED = Scenario(
    "a question, approved when it expires",
    models.asks("charge"),
    Faults(approves=1, ticks=1),
    Faults(approves=1, denies=1, ticks=1),
    tick=ANSWER_WITHIN + 1.0,
)
OUTCOME = Scenario(
    "a payment in doubt that is made again if a person says so",
    models.asks("pay"),
    Faults(ticks=1, crashes=1, retries=1),
    Faults(ticks=1, crashes=2, retries=1),
)
CROWDED = Scenario(
    "another run at work, and a crash",
    models.around(models.says_nothing, crowded=True),
    Faults(ticks=1, crashes=1, frees=1, put_backs=1),
    Faults(ticks=1, crashes=1, frees=1, sweeps=1),
)
CROWDED_CANCELLED = Scenario(
    "another run at work, and a cancel",
    models.around(models.says_nothing, crowded=True),
    Faults(cancels=1, frees=1, lost=1),
    Faults(cancels=1, frees=2, takes=1, lost=1, crashes=1),
)
CROWDED_ALONE = Scenario(
    "another run at work, and no sweeper",
    models.around(models.says_nothing, crowded=True),
    Faults(frees=2, takes=1, lost=1),
    Faults(frees=3, takes=2, lost=1),
    unaided=True,
)
CROWDED_WAIT = Scenario(
    "another run begins during a wait",
    models.is_down(600, crowded=True),
    Faults(says=1, takes=1, frees=2),
    Faults(says=1, takes=1, frees=2, cancels=1, lost=1),
)

ALL = tuple(each for each in list(globals().values()) if isinstance(each, Scenario))
