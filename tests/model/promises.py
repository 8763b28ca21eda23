"""What must hold: of every table that can come about, of every call that takes effect, and of every end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.core import approvals, cancelling, slots, steps
from chalicelib.core.approvals import Decision
from chalicelib.core.calls import MARGIN
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.run import Run, Slot, Status
from chalicelib.core.tools import Effect
from chalicelib.core.transcript import messages
from chalicelib.core.transitions import TRANSITIONS
from tests.model.table import Call, Shelf, Table

if TYPE_CHECKING:
    from tests.model.cast import Position
    from tests.model.state import Scenario

_TAKES = frozenset({EventType.RUN_STARTED, EventType.RUN_ATTEMPT, EventType.RUN_RESUMED})
_BEGINS = frozenset(
    {EventType.STEP_STARTED, EventType.STEP_RESET, EventType.TOOL_STARTED, EventType.RUN_WAITING, *_TAKES}
)
_SETTLES = frozenset({EventType.TOOL_FINISHED, EventType.TOOL_UNKNOWN})
_BY_ITS_HOLDER = {EventType.RUN_DONE, EventType.RUN_WAITING}


class Broken(Exception):  # noqa: N818 - named by what happened
    """A promise does not hold; the message says which."""


def check_table(run: Run, log: Sequence[Event]) -> None:
    """Every promise about a run and its log as they stand. Raises `Broken`."""
    for promise in _PROMISES:
        promise(run, log)


def _no_hole(run: Run, log: Sequence[Event]) -> None:
    if [event.seq for event in log] != list(range(len(log))):
        raise Broken("the log has a hole")


def _one_end_and_it_is_last(run: Run, log: Sequence[Event]) -> None:
    if any(event.ends for event in log[:-1]):
        raise Broken("something follows the end of the log")


def _status_is_what_the_log_tells(run: Run, log: Sequence[Event]) -> None:
    status = Status.PENDING
    for event in log:
        edges = [edge for edge in TRANSITIONS[status].values() if edge.tells is event.type]
        status = edges[0].to if edges else status
    if status is not run.status:
        raise Broken(f"the run is {run.status}, its log tells {status}")


def _an_older_attempt_is_silent(run: Run, log: Sequence[Event]) -> None:
    holder = OUTSIDE
    for event in log:
        if event.type in _TAKES:
            if event.attempt < holder:
                raise Broken(f"the run is taken as attempt {event.attempt} after attempt {holder}")
            holder = event.attempt
        if event.attempt not in (OUTSIDE, holder):
            raise Broken(f"attempt {event.attempt} writes {event.type} after attempt {holder} has taken over")
    if run.attempt != holder:
        raise Broken(f"the run is in attempt {run.attempt}, its log in {holder}")


def _an_attempt_has_one_writer(run: Run, log: Sequence[Event]) -> None:
    writers: dict[int, str] = {}
    for event in log:
        if event.attempt != OUTSIDE and writers.setdefault(event.attempt, _writer(event)) != _writer(event):
            raise Broken(f"two workers write as attempt {event.attempt}")


def _writer(event: Event) -> str:
    """The invocation that wrote: its write ids are of one thousand."""
    label, _, number = event.write_id.rpartition(".")
    return f"{label}.{int(number) // 1000}" if label else event.write_id


def _nothing_begins_under_a_cancel(run: Run, log: Sequence[Event]) -> None:
    types = [event.type for event in log]
    if EventType.RUN_CANCELLING in types:
        after = types[types.index(EventType.RUN_CANCELLING) + 1 :]
        if begun := next((type for type in after if type in _BEGINS or type in _BY_ITS_HOLDER), None):
            raise Broken(f"{begun} after run.cancelling")


def _no_call_is_started_twice_against_its_effect(run: Run, log: Sequence[Event]) -> None:
    started: dict[str, Event] = {}
    settled: set[str] = set()
    for event in log:
        call_id = event.data.get("call_id", "")
        if event.type is EventType.APPROVAL_RESOLVED and event.data["decision"] == Decision.RETRY:
            started.pop(call_id)
            settled.remove(call_id)
        elif event.type in _SETTLES:
            settled.add(call_id)
        elif event.type is EventType.TOOL_STARTED:
            if call_id in started:
                _may_start_again(started[call_id], event)
            if call_id in settled:
                raise Broken("a call is started after it was settled")
            started[call_id] = event


def _may_start_again(before: Event, again: Event) -> None:
    if before.data["effect"] == Effect.IRREVERSIBLE:
        raise Broken("an irreversible call is started twice")
    if again.at < datetime.fromisoformat(before.data["deadline"]) + MARGIN and before.attempt != again.attempt:
        raise Broken("a call is started again while its first worker may still begin it")


def _a_question_has_one_answer_and_a_call_heeds_it(run: Run, log: Sequence[Event]) -> None:
    answers = [event for event in log if event.type is EventType.APPROVAL_RESOLVED]
    if len({event.data["approval_id"] for event in answers}) < len(answers):
        raise Broken("a question is answered twice")
    for event in log:
        if event.type is EventType.TOOL_STARTED and event.data["name"] == "charge":
            before = [answer.data["decision"] for answer in answers if answer.seq < event.seq]
            if Decision.APPROVE not in before:
                raise Broken("a risky call is made that nobody approved")
    if log[-1].type is EventType.RUN_DONE:
        made = {event.data["call_id"] for event in log if event.type is EventType.TOOL_STARTED}
        if any(event.data["decision"] == Decision.APPROVE for event in answers if event.data["call_id"] not in made):
            raise Broken("the run is done over a call that was approved and never made")


def _a_run_lists_what_it_asks(run: Run, log: Sequence[Event]) -> None:
    if list(run.asks) != [event.data["approval_id"] for event in approvals.open_in(log)]:
        raise Broken(f"a {run.status} run lists other questions than its log has open")


def _the_text_is_that_of_the_replies(run: Run, log: Sequence[Event]) -> None:
    """Once the run has ended, what a client has put together equals what the replies say."""
    if not log[-1].ends:
        return
    shown: list[tuple[int, str]] = []
    for event in log:
        if event.type is EventType.STEP_RESET:
            shown = [(seq, text) for seq, text in shown if seq < event.data["from_seq"]]
        elif event.type is EventType.TEXT_DELTA:
            shown.append((event.seq, event.data["text"]))
    seen = "".join(text for _, text in shown)
    replied = "".join(event.data["text"] for event in log if event.type is EventType.MODEL_REPLIED)
    if seen != replied:
        raise Broken(f"clients have the text {seen!r}, the replies say {replied!r}")


def _half_a_reply_is_no_answer(run: Run, log: Sequence[Event]) -> None:
    if log[-1].type is EventType.RUN_DONE and any(event.data.get("partial") for event in log):
        raise Broken("the run is done with a reply that was broken off")


def _no_message_is_left_unseen(run: Run, log: Sequence[Event]) -> None:
    if log[-1].type is not EventType.RUN_DONE:
        return
    last_step = max((event.seq for event in log if event.type is EventType.STEP_STARTED), default=-1)
    if any(event.type is EventType.MESSAGE_ADDED and event.seq > last_step for event in log):
        raise Broken("the run is done over a message that the model has not seen")


def _the_end_names_what_is_unsettled(run: Run, log: Sequence[Event]) -> None:
    end = log[-1]
    if end.type in (EventType.RUN_CANCELLED, EventType.RUN_FAILED):
        settled = {event.data["call_id"] for event in log if event.type in _SETTLES}
        started = {event.data["call_id"] for event in log if event.type is EventType.TOOL_STARTED}
        if set(end.data.get("unsettled", ())) != started - settled:
            raise Broken("the end does not name the calls whose outcome nobody knows")
    if end.type is EventType.RUN_DONE and cancelling.unsettled(log):
        raise Broken("the run is done over a call whose outcome nobody wrote down")


def _only_a_worker_has_a_lease(run: Run, log: Sequence[Event]) -> None:
    if run.lease_until is not None and (run.status.terminal or run.status in (Status.WAITING, Status.PENDING)):
        raise Broken(f"a {run.status} run has a lease")


def _whoever_goes_on_is_due(run: Run, log: Sequence[Event]) -> None:
    if run.status.terminal != (run.due_at is None):
        raise Broken(f"a {run.status} run is {'never' if run.due_at is None else 'for ever'} due")


_PROMISES: tuple[Callable[[Run, Sequence[Event]], None], ...] = (
    _no_hole,
    _one_end_and_it_is_last,
    _status_is_what_the_log_tells,
    _an_older_attempt_is_silent,
    _an_attempt_has_one_writer,
    _nothing_begins_under_a_cancel,
    _no_call_is_started_twice_against_its_effect,
    _a_question_has_one_answer_and_a_call_heeds_it,
    _a_run_lists_what_it_asks,
    _the_text_is_that_of_the_replies,
    _half_a_reply_is_no_answer,
    _no_message_is_left_unseen,
    _the_end_names_what_is_unsettled,
    _only_a_worker_has_a_lease,
    _whoever_goes_on_is_due,
)


def check_slots(run: Run, other: bool, own: bool, resuming: bool) -> None:
    """The promises about an account that may have one run at work. Raises `Broken`."""
    if other and own:
        raise Broken("two runs are at work, and there is one slot")
    stands = own == (run.slot is Slot.HELD) and resuming == (run.slot is Slot.WANTED and slots.resumes(run))
    if not stands or not slots.fits(run):
        raise Broken(f"the account's slots say otherwise than the {run.status} run")


def check_call(shelf: Shelf, table: Table, call: Call, caller: Position, now: datetime) -> None:
    """The promises about a call that is about to take effect. Raises `Broken`."""
    if call.kind not in ("append", "commit", "renew", "hand back", "think"):
        return
    _, result = (table, ()) if call.kind == "think" else shelf.apply(call, table)
    if result and result[0] not in ("ok", "run"):
        return
    run = shelf.runs[table.run]
    match call.kind:
        case "append":
            _overwrites_nothing(shelf, table, call.args[0])
        case "commit":
            _robs_nobody(shelf.events[call.args[2][-1]], run, caller, now)
        case "renew" | "hand back":
            _is_its_own_lease(shelf.log(table.log), caller)
        case "think":
            _was_shown_the_log(shelf, table, *call.args)


def check_arrival(shelf: Shelf, table: Table, call: Call) -> None:
    """The promise about a copy of a write that arrives late. Raises `Broken`."""
    if call.kind != "hand back" or shelf.apply(call, table)[0] == table:
        return
    took = next(event for event in reversed(shelf.log(table.log)) if event.type in _TAKES)
    if _number(took.write_id) > _number(call.args[1]):
        raise Broken("a late write of an earlier hold takes the lease of a later one")


def _number(write_id: str) -> int:
    return int(write_id.rpartition(".")[2])


def _overwrites_nothing(shelf: Shelf, table: Table, event: int) -> None:
    wrote = shelf.events[event]
    if any(each.seq == wrote.seq and each.write_id != wrote.write_id for each in shelf.log(table.log)):
        if shelf.rules.absent:
            raise Broken("a writer takes another's event for its own")
        raise Broken(f"{wrote.type} overwrites the event at seq {wrote.seq}")


def _robs_nobody(event: Event, run: Run, caller: Position, now: datetime) -> None:
    held = run.lease_until is not None and now < run.lease_until
    if event.type in _TAKES and held and event.attempt > run.attempt:
        raise Broken("a run is taken out of a live worker's hands")
    if event.ends and event.attempt == OUTSIDE and held:
        raise Broken(f"{event.type} ends a run under its live worker")
    if caller.role[0] == "abandon" and run.start != caller.role[1]:
        raise Broken("a stale execution fails a run that has a newer one")
    if caller.role[0] == "abandon" and run.status is Status.WAITING:
        raise Broken("a run is failed over an open question")


def _is_its_own_lease(log: Sequence[Event], caller: Position) -> None:
    took = next(event for event in reversed(log) if event.type in _TAKES)
    if not took.write_id.startswith(f"{caller.label}."):
        raise Broken("a worker touches a lease that is another's")


def _was_shown_the_log(shelf: Shelf, table: Table, step: int, shown: object) -> None:
    """What a model is shown is what stands in the log up to its step, and nothing of what came later."""
    run_id, log = shelf.runs[table.run].run_id, shelf.log(table.log)
    step_begun = steps.current(run_id, log)
    if step_begun is None or step_begun.number != step:
        return  # Somebody has taken over; this call is made in vain, and closed.
    if shelf.freezer.freeze(messages(run_id, log, step_begun.began)) != shown:
        raise Broken("a model is shown more than its step began with: the next one answers it again")


def check_effect(shelf: Shelf, table: Table, call_id: str, effects: Sequence[str], scenario: Scenario) -> None:
    """The promises about a tool that is about to have its effect. Raises `Broken`."""
    log = shelf.log(table.log)
    started = [event for event in log if event.type is EventType.TOOL_STARTED and event.data["call_id"] == call_id]
    if not started:
        raise Broken("a tool has its effect before tool.started stands in the log")
    if started[0].data["effect"] == Effect.IRREVERSIBLE and effects.count(call_id) > _retries(log, call_id):
        raise Broken("an irreversible effect happens twice")
    settled = any(
        event.type in _SETTLES and event.data["call_id"] == call_id for event in log if event.seq > started[-1].seq
    )
    if settled and not scenario.late_effects:
        raise Broken("a tool has its effect after its outcome was written down")


def _retries(log: Sequence[Event], call_id: str) -> int:
    """How often a person said that the call did not happen, and is to be made again."""
    answers = (event.data for event in log if event.type is EventType.APPROVAL_RESOLVED)
    return sum(answer["call_id"] == call_id and answer["decision"] == Decision.RETRY for answer in answers)
