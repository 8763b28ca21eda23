"""What must be true of every run in the table, and what is not.

Each check reads a case as it lies there, whatever the rules say could never have come about: that is what it is for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, TypeVar

from chalicelib.core import approvals, lease, retention, slots, snapshot, transcript
from chalicelib.core.approvals import Decision
from chalicelib.core.case import Case, Code, Finding, Listing, Told
from chalicelib.core.cursor import START, following
from chalicelib.core.events import OUTSIDE, SETTLES_CALL, Event, EventType
from chalicelib.core.run import Run, Slot
from chalicelib.core.tools import Effect
from chalicelib.core.transitions import status_told

OVERDUE = timedelta(minutes=10)
"""So long after its time the sweeper, which comes every minute, has had enough chances."""


Name = TypeVar("Name")


def examine(case: Case, now: datetime) -> tuple[Finding, ...]:
    """Everything that is wrong with the case."""
    # Of a run that is being erased, whatever is left may be left, as long as somebody comes for it.
    checks = (_listing,) if case.run.deleted_at else _CHECKS
    found = (told for check in (*checks, _overdue(now)) for told in check(case))
    return tuple(Finding(case.run.run_id, code, detail) for code, detail in found)


def _start(case: Case) -> Told:
    if case.archive is None and (not case.events or case.events[0].seq != following(START)):
        yield Code.START_MISSING, f"the log begins with {_first(case)}, and there is no archive"


def _first(case: Case) -> str:
    return f"seq {case.events[0].seq}" if case.events else "nothing"


def _holes(case: Case) -> Told:
    for before, after in pairwise(case.events):
        if after.seq != following(before.seq):
            yield Code.HOLE, f"nothing stands between seq {before.seq} and seq {after.seq}"


def _doubles(case: Case) -> Told:
    """One transaction may write two events, the reply that was owed and the end: but never two of one type."""
    for (write_id, _), seqs in _grouped(((event.write_id, event.type), event.seq) for event in case.events).items():
        if len(seqs) > 1:
            yield Code.DOUBLE, f"the write {write_id} stands at seqs {_listed(seqs)}"


def _ends(case: Case) -> Told:
    ends = [event for event in case.events if event.ends]
    if len(ends) > 1:
        yield Code.TWO_ENDS, f"the run ends at seqs {_listed([event.seq for event in ends])}"
    if ends and case.events[-1].seq != ends[-1].seq:
        yield Code.END_NOT_LAST, f"seq {case.events[-1].seq} comes after the end at seq {ends[-1].seq}"


def _status(case: Case) -> Told:
    status = case.run.status
    if case.whole and (told := status_told(case.events)) is not status:
        yield Code.STATUS_DIFFERS, f"the run is {status}, its log says {told}"
    if case.archive and (told := snapshot.status(case.archive)) is not status:
        yield Code.STATUS_DIFFERS, f"the run is {status}, its archive says {told}"


def _hold(case: Case) -> Told:
    if case.run.status.terminal and case.run.lease_until is not None:
        yield Code.HELD_AFTER_END, f"the run is {case.run.status}, and attempt {case.run.attempt} has a lease on it"


def _listing(case: Case) -> Told:
    due = _where_it_belongs(case.run)
    if case.listed is not due:
        if case.listed is None:
            yield Code.NOT_LISTED, f"the run belongs to what is {due}, and is not listed"
        else:
            yield Code.LISTED_WRONGLY, f"the run is listed as {case.listed}, and belongs to {due or 'nothing'}"
    elif due is Listing.UNFINISHED and case.run.due_at is None:
        yield Code.NOT_LISTED, "an unfinished run is never due"


def _where_it_belongs(run: Run) -> Listing | None:
    if not run.status.terminal:
        return Listing.IN_LINE if run.slot is Slot.WANTED else Listing.UNFINISHED
    if run.deleted_at:
        return Listing.DELETED
    return None if run.archived_at else Listing.OLD


def _overdue(now: datetime) -> Callable[[Case], Told]:
    def check(case: Case) -> Told:
        erase_at = retention.erase_at(case.run)
        if erase_at and erase_at + OVERDUE < now:
            yield Code.OVERDUE, f"the run was to be erased from {erase_at.isoformat()} on, and is still there"
        due_at = case.run.due_at
        if due_at and due_at + OVERDUE < now and not _waits_its_turn(case) and not lease.held(case.run, now):
            yield Code.OVERDUE, f"the run was due at {due_at.isoformat()}, and nobody has looked at it"

    return check


def _waits_its_turn(case: Case) -> bool:
    return case.run.status.terminal or case.run.slot is Slot.WANTED


def _slots(case: Case) -> Told:
    run = case.run
    if not slots.fits(run):
        yield Code.SLOT_DIFFERS, f"the run is {run.status}, and its slot {run.slot or 'none'}"
    elif run.slot is not None and (case.slots is None or not case.slots.has(run)):
        yield Code.SLOT_MISSING, f"the run's slot is {run.slot}, and the account's slots do not have it"
    elif case.slots is not None and not case.slots.looked_after:
        yield Code.SLOT_MISSING, "nobody looks after the slots of the account"


def _attempts(case: Case) -> Told:
    highest = OUTSIDE
    for event in case.events:
        if OUTSIDE < event.attempt < highest:
            yield Code.ATTEMPT_FALLS, f"attempt {event.attempt} wrote seq {event.seq}, after attempt {highest}"
        highest = max(highest, event.attempt)
    if case.whole and case.run.attempt != highest:
        yield Code.ATTEMPT_DIFFERS, f"the run counts {case.run.attempt} attempts, its log {highest}"


def _texts(case: Case) -> Told:
    """What a client has folded from the deltas when a step's reply comes must be that reply's text."""
    if not case.whole:
        return
    said: dict[Any, list[tuple[int, str]]] = {}
    for event in case.events:
        pieces = said.setdefault(event.data.get("step"), [])
        match event.type:
            case EventType.TEXT_DELTA:
                pieces.append((event.seq, event.data["text"]))
            case EventType.STEP_RESET:
                pieces[:] = [piece for piece in pieces if piece[0] < event.data["from_seq"]]
            case EventType.MODEL_REPLIED if not event.gone:
                if "".join(text for _, text in pieces) != event.data["text"]:
                    yield Code.TEXT_DIFFERS, f"the reply at seq {event.seq} is not what was streamed"


def _calls(case: Case) -> Told:
    """An outcome that was unknown may be found out later, and what did not happen be made again, by a person's word."""
    settled = [event for event in case.events if event.type in SETTLES_CALL]
    finished = {event.data["call_id"]: event.seq for event in reversed(settled) if event.type is _FINISHED}
    last_words = (event for event in settled if event.seq >= finished.get(event.data["call_id"], len(case.events)))
    for call_id, seqs in _grouped((event.data["call_id"], event.seq) for event in last_words).items():
        if len(seqs) > 1:
            yield Code.SETTLED_TWICE, f"the call {call_id} has outcomes at seqs {_listed(seqs)}"
    started = (event for event in case.events if event.type is EventType.TOOL_STARTED and _irreversible(event))
    retries = Counter(event.data["call_id"] for event in case.events if _says_retry(event))
    for call_id, times in Counter(event.data["call_id"] for event in started).items():
        if times > 1 + retries[call_id]:
            yield Code.STARTED_TWICE, f"the irreversible call {call_id} was started {times} times"


_FINISHED = EventType.TOOL_FINISHED


def _says_retry(event: Event) -> bool:
    return event.type is EventType.APPROVAL_RESOLVED and bool(event.data["decision"] == Decision.RETRY)


def _questions(case: Case) -> Told:
    if case.run.status.terminal and case.run.asks:
        yield Code.ASKS_AFTER_END, f"the run is {case.run.status}, and still asks {', '.join(case.run.asks)}"
    elif case.whole and list(case.run.asks) != (open := _open(case.events)):
        asks, told = (", ".join(each) or "nothing" for each in (case.run.asks, open))
        yield Code.ASKS_DIFFER, f"the run asks {asks}, its log {told}"
    answers = (event for event in case.events if event.type is EventType.APPROVAL_RESOLVED)
    for approval_id, seqs in _grouped((event.data["approval_id"], event.seq) for event in answers).items():
        if len(seqs) > 1:
            yield Code.ANSWERED_TWICE, f"the question {approval_id} is answered at seqs {_listed(seqs)}"


def _open(events: Sequence[Event]) -> list[str]:
    return [event.data["approval_id"] for event in approvals.open_in(events)]


def _irreversible(event: Event) -> bool:
    return bool(event.data["effect"] == Effect.IRREVERSIBLE)


def _keeping(case: Case) -> Told:
    if case.expiring:
        yield Code.EXPIRES, f"a time to live stands on seqs {_listed(case.expiring)}"
    if case.incomplete:
        yield Code.PAYLOAD_MISSING, f"the payloads of seqs {_listed(case.incomplete)} are gone"


def _archive(case: Case) -> Told:
    if case.run.archived_at and case.archive is None:
        yield Code.ARCHIVE_MISSING, "the run is archived, and there is no archive"
    if case.run.archived_at and case.events:
        yield Code.EVENTS_LEFT, f"the run is archived, and {len(case.events)} of its events are left"
    if not case.archive or not case.events:
        return
    if (last := case.events[-1].seq) != case.archive.seq:
        yield Code.ARCHIVE_DIFFERS, f"the archive stands for the log up to seq {case.archive.seq}, which ends at {last}"
    elif case.whole and not case.incomplete and snapshot.text(case.archive) != transcript.text(case.events):
        yield Code.ARCHIVE_DIFFERS, "the archive has another text than the log that still stands"


_CHECKS: tuple[Callable[[Case], Told], ...] = (
    _start,
    _holes,
    _doubles,
    _ends,
    _status,
    _hold,
    _listing,
    _slots,
    _attempts,
    _texts,
    _calls,
    _questions,
    _keeping,
    _archive,
)


def _grouped(pairs: Iterable[tuple[Name, int]]) -> Mapping[Name, list[int]]:
    groups: dict[Name, list[int]] = {}
    for name, seq in pairs:
        groups.setdefault(name, []).append(seq)
    return groups


def _listed(seqs: Sequence[int]) -> str:
    """The first few of them."""
    few = ", ".join(map(str, seqs[:5]))
    return f"{few} and {len(seqs) - 5} more" if len(seqs) > 5 else few
