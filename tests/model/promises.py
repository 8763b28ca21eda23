"""What must hold of every table that can come about. Of calls that take effect, see `call_promises`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.core import approvals, cancelling, slots
from chalicelib.core.approvals import Decision
from chalicelib.core.calls import MARGIN
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.run import Run, Slot, Status
from chalicelib.core.tools import Effect
from chalicelib.core.transitions import TRANSITIONS

if TYPE_CHECKING:
    pass

TAKES = frozenset({EventType.RUN_STARTED, EventType.RUN_ATTEMPT, EventType.RUN_RESUMED})
_BEGINS = frozenset(
    {EventType.STEP_STARTED, EventType.STEP_RESET, EventType.TOOL_STARTED, EventType.RUN_WAITING, *TAKES}
)
SETTLES = frozenset({EventType.TOOL_FINISHED, EventType.TOOL_UNKNOWN})
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
        if event.type in TAKES:
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
        if event.attempt != OUTSIDE and writers.setdefault(event.attempt, writer(event)) != writer(event):
            raise Broken(f"two workers write as attempt {event.attempt}")


def writer(event: Event) -> str:
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
        elif event.type in SETTLES:
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
        settled = {event.data["call_id"] for event in log if event.type in SETTLES}
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
