"""What a run does next: the one decision, taken from the log alone, by whoever holds the run.

Resuming is the ordinary path. There is no worker's memory: a worker that has just taken a run from a dead one asks the
same question, and the answer is made of what stands in the log.
"""

from __future__ import annotations

from datetime import datetime

from chalicelib.core import budget, calls, progress, steps
from chalicelib.core.acts import Act, Confirm, Finish, Leave, Stop, Think, ThinkAgain
from chalicelib.core.budget import Limit
from chalicelib.core.events import EventType, Log
from chalicelib.core.lease import LAPSED
from chalicelib.core.progress import MAX_REPEATS
from chalicelib.core.run import Run
from chalicelib.core.steps import Step

MAX_STARTS = 3
"""How often something may be begun without an end: an input that kills its Lambda must not loop for ever."""


def next_act(run: Run, log: Log, now: datetime) -> Act:
    """What the holder of `run` does next, `log` being all of it."""
    if log[-1].ends:
        return Leave()
    if any(event.type is EventType.RUN_CANCELLING for event in log):
        return Confirm()
    if lapses(log) >= MAX_STARTS:
        return Stop("crash_loop", f"begun {MAX_STARTS} times, and each time the worker died before it came any further")
    if budget.out_of_time(run.budget, log, now):
        return over_budget(run, Limit.SECONDS)
    step = steps.current(run.run_id, log)
    return _begin(run, 1) if step is None else _go_on(run, step, log, now)


def lapses(log: Log) -> int:
    """How many holds on the run have lapsed since it last came further. Waits for a provider are not among them."""
    count = 0
    for event in reversed(log):
        if event.type in _PROGRESS:
            break
        count += event.type is EventType.RUN_ATTEMPT and event.data["reason"] == LAPSED
    return count


_PROGRESS = frozenset(
    {
        EventType.MODEL_REPLIED,
        EventType.TOOL_FINISHED,
        EventType.TOOL_UNKNOWN,
        EventType.APPROVAL_REQUESTED,
        EventType.APPROVAL_RESOLVED,
        EventType.MESSAGE_ADDED,
    }
)


def over_budget(run: Run, limit: Limit) -> Stop:
    """The end of a run that has used up its budget."""
    allowed = run.budget.steps if limit is Limit.STEPS else run.budget.seconds
    return Stop("over_budget", f"the budget of {allowed} {limit} is used up")


def _go_on(run: Run, step: Step, log: Log, now: datetime) -> Act:
    if step.reply is None:
        return ThinkAgain(step.number, step.wrote_from)
    if any(state.settled is None for state in step.calls):
        return calls.next_act(step, now)
    if progress.repeats(run.run_id, log) >= MAX_REPEATS:
        return Stop("no_progress", f"the same calls had the same answers in {MAX_REPEATS} steps in a row")
    if step.calls or _unanswered(step, log):
        return _begin(run, step.number + 1)
    return Finish(step.reply.text)


def _begin(run: Run, step: int) -> Act:
    return over_budget(run, Limit.STEPS) if budget.out_of_steps(run.budget, step) else Think(step)


def _unanswered(step: Step, log: Log) -> bool:
    """Whether a message came after the step began: the model has not seen it, and the run does not end over it."""
    return any(event.type is EventType.MESSAGE_ADDED and event.seq > step.began for event in log)
