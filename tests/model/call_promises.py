"""What must hold of every call that takes effect."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.core import steps
from chalicelib.core.approvals import Decision
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import Effect
from chalicelib.core.transcript import messages
from tests.model.promises import SETTLES, TAKES, Broken, writer
from tests.model.table import Call, Shelf, Table

if TYPE_CHECKING:
    from tests.model.cast import Position
    from tests.model.state import Scenario


def check_call(shelf: Shelf, table: Table, call: Call, caller: Position, now: datetime) -> None:
    """The promises about a call that is about to take effect. Raises `Broken`."""
    if call.kind not in ("append", "commit", "renew", "hand back", "think"):
        return
    after, result = (table, ()) if call.kind == "think" else shelf.apply(call, table)
    if result and (result[0] not in ("ok", "run") or (call.kind == "hand back" and after == table)):
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
    took = next(event for event in reversed(shelf.log(table.log)) if event.type in TAKES)
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
    if event.type in TAKES and held and event.attempt > run.attempt:
        raise Broken("a run is taken out of a live worker's hands")
    if event.ends and event.attempt == OUTSIDE and held:
        raise Broken(f"{event.type} ends a run under its live worker")
    if caller.role[0] == "abandon" and run.start != caller.role[1]:
        raise Broken("a stale execution fails a run that has a newer one")
    if caller.role[0] == "abandon" and run.status is Status.WAITING:
        raise Broken("a run is failed over an open question")


def _is_its_own_lease(log: Sequence[Event], caller: Position) -> None:
    took = next(event for event in reversed(log) if event.type in TAKES)
    if writer(took) != f"{caller.label}.{caller.ids // 1000}":
        raise Broken("a worker touches a lease that is another's")


def _was_shown_the_log(shelf: Shelf, table: Table, step: int, shown: object) -> None:
    """What a model is shown is what stands in the log up to its step, and nothing of what came later."""
    run_id, log = shelf.runs[table.run].run_id, shelf.log(table.log)
    step_begun = steps.current(run_id, log)
    if step_begun is None or step_begun.number != step:
        return  # Somebody has taken over; this call is made in vain, and closed.
    began_with = shelf.freezer.freeze(messages(run_id, log, step_begun.began))
    if len(shown) < len(began_with):  # type: ignore[arg-type]
        raise Broken("a model is shown less than its step began with: nobody ever answers the rest")
    if shown != began_with:
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
        event.type in SETTLES and event.data["call_id"] == call_id for event in log if event.seq > started[-1].seq
    )
    if settled and not scenario.late_effects:
        raise Broken("a tool has its effect after its outcome was written down")


def _retries(log: Sequence[Event], call_id: str) -> int:
    """How often a person said that the call did not happen, and is to be made again."""
    answers = (event.data for event in log if event.type is EventType.APPROVAL_RESOLVED)
    return sum(answer["call_id"] == call_id and answer["decision"] == Decision.RETRY for answer in answers)
