"""The doctor: what of an account's runs is not as it must be, and, if asked, what the sweeper would do about it.

It goes through the runs, page by page, then through those that are deleted and not erased yet, then through the
account's slots, and then through the executions that are running.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.core import doctor, ids, lease
from chalicelib.core.case import Case, Code, Finding
from chalicelib.core.errors import InvalidInput, WorkflowUnavailable
from chalicelib.core.run import Run, Slot, Status
from chalicelib.ports.audit import Audit
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Execution, Workflow
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.restart import restart

TO_END = timedelta(minutes=2)
"""How long an execution may need to notice that its run has ended, or has another one."""

DELETED, SLOTS, EXECUTIONS = "deleted:", "slots:", "executions:"
"""What `next` begins with once all runs are looked at, all deleted ones, and all slots."""

_PLACE = frozenset({Code.NOT_LISTED, Code.LISTED_WRONGLY})
_UNATTENDED = frozenset({*_PLACE, Code.OVERDUE})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Examined:
    """A page: how many runs or executions were looked at, what was found, and where the next page begins."""

    looked_at: int
    findings: tuple[Finding, ...]
    next: str | None


def examine(
    *,
    account_id: str,
    repair: bool,
    limit: int,
    next: str | None,
    runs: RunStore,
    slots: SlotStore,
    audit: Audit,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> Examined:
    """Look at one page of the account's runs, or of what is running. Raises `InvalidInput` for a `next` that no page
    gave."""
    return _Doctor(account_id, repair, runs, slots, audit, workflow, clock, chance).examine(limit, next)


@dataclass(frozen=True, slots=True)
class _Doctor:
    account_id: str
    repair: bool
    runs: RunStore
    slots: SlotStore
    audit: Audit
    workflow: Workflow
    clock: Clock
    chance: Chance

    def examine(self, limit: int, next: str | None) -> Examined:
        if next is not None and next.startswith(EXECUTIONS):
            return self._executions(limit, next.removeprefix(EXECUTIONS) or None)
        if next is not None and next.startswith(SLOTS):
            return self._slots(limit, next.removeprefix(SLOTS))
        if next is not None and next.startswith(DELETED):
            return self._deleted(limit, next.removeprefix(DELETED))
        runs, after = self.runs.of_account(self.account_id, None, limit, next)
        return self._runs([run.run_id for run in runs], after or DELETED)

    def _deleted(self, limit: int, after: str) -> Examined:
        _check_next(after)
        run_ids, following = self.audit.deleted(self.account_id, limit, after or None)
        return self._runs(run_ids, DELETED + following if following else SLOTS)

    def _slots(self, limit: int, after: str) -> Examined:
        _check_next(after)
        named = [run_id for run_id in self.slots.slots(self.account_id).named if run_id > after]
        findings = [finding for run_id in named[:limit] for finding in self._slot(run_id)]
        return Examined(len(named[:limit]), tuple(findings), SLOTS + named[limit - 1] if named[limit:] else EXECUTIONS)

    def _slot(self, run_id: str) -> Sequence[Finding]:
        """What no run has a right to, twice in a row."""
        if not (self._is_stale(run_id) and self._is_stale(run_id)):
            return ()
        run = self.runs.look_up(run_id)
        repaired = self.repair and self.slots.free(self.account_id, run_id, run)
        detail = f"the account's slots have the run, which is {run.status if run else 'not there'}"
        return (Finding(run_id, Code.SLOT_STALE, detail, repaired=repaired),)

    def _is_stale(self, run_id: str) -> bool:
        return self.slots.slots(self.account_id).holds_too_long(run_id, self.runs.look_up(run_id))

    def _runs(self, run_ids: Sequence[str], next: str) -> Examined:
        findings = [finding for run_id in run_ids for finding in self._run(run_id)]
        return Examined(len(run_ids), tuple(findings), next)

    def _run(self, run_id: str) -> Sequence[Finding]:
        """What is wrong with the run, twice in a row: a read of a run at work is no snapshot."""
        suspected = self._look(run_id)[1]
        if not suspected:
            return ()
        case, found = self._look(run_id)
        found = tuple(finding for finding in found if finding in suspected)
        return self._repaired(case, found) if case and found and self.repair else found

    def _look(self, run_id: str) -> tuple[Case | None, tuple[Finding, ...]]:
        case = self.audit.case(run_id)
        return case, doctor.examine(case, self.clock.now()) if case else ()

    def _repaired(self, case: Case, found: tuple[Finding, ...]) -> Sequence[Finding]:
        curable = _PLACE if case.run.status.terminal else _UNATTENDED
        if not any(finding.code in curable for finding in found) or not self._cure(case):
            return found
        return [replace(finding, repaired=finding.code in curable) for finding in found]

    def _cure(self, case: Case) -> bool:
        """What the sweeper would do if it knew of the run; of an ended one it knows again once it is listed."""
        if case.run.status.terminal or case.run.slot is Slot.WANTED:
            return self.audit.relist(case.run)
        if lease.held(case.run, self.clock.now()):
            return False
        if case.run.status is Status.CANCELLING:
            return confirm(
                case.run.run_id,
                runs=self.runs,
                slots=self.slots,
                workflow=self.workflow,
                clock=self.clock,
                chance=self.chance,
            )
        return restart(case.run, runs=self.runs, workflow=self.workflow, clock=self.clock)

    def _executions(self, limit: int, after: str | None) -> Examined:
        running, after = self.workflow.running(limit, after)
        findings = [finding for execution in running for finding in self._execution(execution)]
        return Examined(len(running), tuple(findings), EXECUTIONS + after if after else None)

    def _execution(self, execution: Execution) -> Sequence[Finding]:
        """One whose run is not there is nobody's: whose it was can't be told, and no account is shown another's."""
        run = self.runs.look_up(execution.run_id)
        if run is None or run.account_id != self.account_id:
            return ()
        if run.ended_at is not None and self._was_long_ago(run.ended_at):
            detail = f"execution {execution.start} is running, and the run is {run.status}"
            return (Finding(run.run_id, Code.ORPHAN, detail, repaired=self.repair and self._wake(run)),)
        if execution.start < run.start and self._was_long_ago(execution.began_at):
            detail = f"execution {execution.start} is running, and the run's is {run.start}"
            return (Finding(run.run_id, Code.ORPHAN, detail),)
        return ()

    def _was_long_ago(self, at: datetime) -> bool:
        return at + TO_END < self.clock.now()

    def _wake(self, run: Run) -> bool:
        """End the wait in which the execution was forgotten; it looks at its run then, and ends."""
        if run.token is None:
            return False
        try:
            self.workflow.wake(run.token)
        except WorkflowUnavailable:
            log.warning("wake-up refused", extra={"action": "examine", "run_id": run.run_id})
            return False
        return True


def _check_next(after: str) -> None:
    if after and not ids.is_run_id(after):
        raise InvalidInput(
            "invalid_next", "next is not one that the doctor gave", field="next", expected="the next of an answer"
        )
