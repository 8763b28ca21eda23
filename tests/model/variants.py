"""The protocol with one rule taken out, for each rule: what goes wrong then is what the rule is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from chalicelib.core import cancelling, cursor, decide, lease, settle
from chalicelib.core.change import NOBODY_HOLDS_IT, NOBODY_MOVED_IT
from chalicelib.core.fence import Verdict
from chalicelib.core.run import Status
from chalicelib.usecases import abandon, advance, cancel, confirm, sweep
from chalicelib.usecases.hold import Hold
from tests.model import patches
from tests.model import scenarios as worlds
from tests.model.state import Faults, Scenario
from tests.model.table import Rules

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Variant:
    """`without` names the rule that is taken out, `breaks` how the shortest trace ends."""

    without: str
    scenario: Scenario
    breaks: str
    patch: Callable[[Patch], None] = lambda patch: None


def in_world(scenario: Scenario, rules: Rules | None = None, **faults: int) -> Scenario:
    return replace(scenario, faults=Faults(**faults), rules=rules or Rules())


VARIANTS = (
    # Section 2: one log, and the log is the lock.
    Variant(
        "the condition of an append",
        in_world(worlds.TWIN, Rules(absent=False), ticks=1, twins=1),
        "overwrites the event",
    ),
    Variant(
        "the write id",
        replace(in_world(worlds.PAYMENT, Rules(own_write="nothing"), lost=1), sure=True),
        "nobody knows how a call ended, though nobody died",
    ),
    Variant(
        "the write id, with the attempt in its place",
        in_world(worlds.TWIN, Rules(own_write="attempt"), twins=1),
        "a writer takes another's event for its own",
    ),
    Variant(
        "the one transaction of status and event",
        in_world(worlds.TWIN, Rules(one_transaction=False)),
        "the run is running, its log tells pending",
    ),
    Variant(
        "deciding again after a collision",
        in_world(worlds.TWIN, cancels=1),
        "after run.cancelling",
        patches.begin_as_tell,
    ),
    Variant(
        "taking in what stands there",
        in_world(worlds.PAYMENT, cancels=1),
        "after run.cancelling",
        patches.counted_unread,
    ),
    Variant(
        "stopping at another attempt's event",
        in_world(worlds.TWIN, ticks=1, twins=1),
        "after attempt 2 has taken over",
        patches.overlook(Verdict.FENCED),
    ),
    Variant(
        "stopping at the end",
        in_world(worlds.STREAM, ticks=1, cancels=1),
        "something follows the end of the log",
        patches.overlook(Verdict.ENDED),
    ),
    Variant(
        "step.reset",
        in_world(worlds.TWIN, crashes=1),
        "clients have the text 'aa', the replies say 'a'",
        patches.reset_unwritten,
    ),
    Variant(
        "another step for a message that came late",
        in_world(worlds.MESSAGE, says=1),
        "done over a message that the model has not seen",
        lambda patch: patch.setattr(decide, "_unanswered", patches.no),
    ),
    Variant(
        "the fold up to step.started and not beyond",
        in_world(worlds.MESSAGE, says=1, crashes=1),
        "a model is shown more than its step began with",
        patches.shown_all,
    ),
    Variant(
        "the unbroken prefix of a read",
        in_world(worlds.TORN_MESSAGES, says=2),
        "a model is shown less than its step began with",
        lambda patch: patch.setattr(cursor, "unbroken", patches.broken),
    ),
    Variant(
        "the first text.delta and the change to streaming as one",
        in_world(worlds.TWIN),
        "the run is running, its log tells streaming",
        lambda patch: patch.setattr(Hold, "tell_text", patches.told_alone),
    ),
    Variant(
        "what a change was made from, among its conditions",
        in_world(worlds.TORN_WAIT, Rules(unguarded=NOBODY_MOVED_IT), cancels=1),
        "the run is cancelling, its log tells waiting",
    ),
    # Section 3: the run's states.
    Variant(
        "run.cancelling before run.cancelled",
        in_world(worlds.TWIN, cancels=1),
        "run.cancelled ends a run under its live worker",
        patches.cancelled_at_once,
    ),
    Variant(
        "the reply that is owed to the log",
        in_world(worlds.STREAM, cancels=1),
        "clients have the text 'a', the replies say ''",
        lambda patch: patch.setattr(settle, "owed", patches.nothing),
    ),
    Variant(
        "one transaction for the owed reply and the end",
        in_world(worlds.STREAM, ticks=1, cancels=1),
        "clients have the text",
        patches.owed_by_itself,
    ),
    Variant(
        "the list of unsettled calls",
        in_world(worlds.PAYMENT, ticks=1, crashes=1, cancels=1),
        "the end does not name the calls whose outcome nobody knows",
        lambda patch: patch.setattr(cancelling, "unsettled", patches.none_unsettled),
    ),
    # Section 4: who does the work.
    Variant(
        "the lease",
        in_world(worlds.TWIN, twins=1),
        "taken out of a live worker's hands",
        lambda patch: patch.setattr(lease, "may_take", patches.unheld),
    ),
    Variant(
        "the lease among the conditions of a taking",
        in_world(worlds.TWIN, ticks=1, twins=1),
        "taken out of a live worker's hands",
        patches.unguarded(lease),
    ),
    Variant(
        "the lease among the conditions of confirming for another",
        in_world(worlds.STREAM, ticks=1, cancels=1),
        "run.cancelled ends a run under its live worker",
        patches.unguarded(confirm),
    ),
    Variant(
        "the lease that a renewal must find",
        in_world(worlds.NETWORK, Rules(lease_present=False), ticks=1, delayed=1),
        "has a lease",
    ),
    Variant(
        "the attempt among the conditions of a renewal",
        in_world(worlds.TWIN, Rules(same_attempt=False), ticks=1, twins=1),
        "renew: a worker touches a lease that is another's",
    ),
    Variant(
        "an attempt of its own for every hold",
        in_world(worlds.SLICES, delayed=1),
        "a late write of an earlier hold takes the lease of a later one",
        patches.same_attempt,
    ),
    Variant(
        "the due time of a run between two slices",
        in_world(worlds.SLICES),
        "never due",
        patches.handed_back_not_due,
    ),
    Variant(
        "the start that Advance compares",
        in_world(worlds.RESTARTED, sweeps=1),
        "the world never comes to rest",
        patches.any_start,
    ),
    Variant(
        "the count of starts",
        in_world(worlds.TWIN, crashes=1),
        "for ever",
        patches.start_uncounted,
    ),
    Variant(
        "the run as it was read, for its starts to be counted up",
        in_world(worlds.SWEEPERS, Rules(start_unmoved=False), sweeps=2),
        "a done run is for ever due",
    ),
    Variant(
        "the hand-over before a history is full",
        in_world(worlds.LONG),
        "the run is running for ever (no execution)",
        lambda patch: patch.setattr(advance, "LAPS_PER_EXECUTION", 10**9),
    ),
    Variant(
        "the sweeper's new starts",
        in_world(worlds.TWIN, crashes=1),
        "for ever",
        lambda patch: patch.setattr(sweep, "restart", patches.no),
    ),
    Variant(
        "the sweeper's confirming",
        in_world(worlds.TWIN, crashes=1, cancels=1),
        "the run is cancelling for ever",
        lambda patch: patch.setattr(sweep, "confirm", patches.no),
    ),
    Variant(
        "the start among the conditions of Abandon",
        in_world(worlds.ABANDONED, bugs=1, sweeps=1),
        "a stale execution fails a run that has a newer one",
        patches.unguarded(abandon, NOBODY_HOLDS_IT, "_STILL_ITS_OWN"),
    ),
    Variant(
        "the live lease that Abandon looks for",
        in_world(worlds.ABANDONED, bugs=1, twins=1),
        "run.failed ends a run under its live worker",
        lambda patch: patch.setattr(lease, "held", patches.no),
    ),
    Variant(
        "the open question that Abandon looks for",
        in_world(worlds.QUESTION_BUG, twins=1, bugs=1),
        "a run is failed over an open question",
        lambda patch: patch.setattr(abandon, "_MAY_FAIL", abandon._MAY_FAIL | {Status.WAITING}),
    ),
    Variant(
        "the count of lapsed holds",
        in_world(worlds.POISON),
        "the world never comes to rest",
        lambda patch: patch.setattr(decide, "lapses", lambda log: 0),
    ),
    Variant(
        "the strong read of the token after the answer",
        in_world(worlds.WOKEN, says=1),
        "for ever",
        patches.token_read_first,
    ),
    Variant(
        "the wait without an answer, for a token to be kept",
        in_world(worlds.WOKEN, Rules(no_answer_yet=False), says=1),
        "for ever",
    ),
    Variant(
        "the wake-up by AwaitAnswer itself",
        in_world(worlds.WOKEN, says=1),
        "for ever",
        patches.await_without_waking,
    ),
    Variant(
        "the start among the conditions of keeping a token",
        in_world(worlds.RESTARTED, Rules(same_start=False), says=1, sweeps=1),
        "for ever",
    ),
    Variant(
        "the wake-up of a cancelled wait",
        in_world(worlds.UNWAITED, cancels=1),
        "for ever (execution 1 asks)",
        lambda patch: patch.setattr(cancel, "wake", patches.nothing),
    ),
    Variant(
        "the due time of an answered wait",
        in_world(worlds.WAIT, says=1),
        "never due",
        patches.answer_not_due,
    ),
)
