"""A cancel, against everything that can come in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.core import lease
from chalicelib.core.cancelling import still_holds
from chalicelib.core.change import Change, record
from chalicelib.core.errors import InvalidInput, NotFound, Unavailable, WorkflowUnavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.lease import LEASE, renewed
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.usecases.cancel import CHASE, TRIES, cancel
from tests.builders import RUN_ID, a_held_run, a_move, a_run, a_stamp, accepted, an_event
from tests.usecases.rival import beaten
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import EPOCH, CountedChance, VirtualTime


@dataclass
class Bench:
    """One run, moved by hand."""

    runs: RunStore
    slots: SlotStore
    workflow: RecordingWorkflow = field(default_factory=RecordingWorkflow)
    time: VirtualTime = field(default_factory=VirtualTime)
    chance: CountedChance = field(default_factory=CountedChance)

    def __post_init__(self) -> None:
        self.runs.create(a_run(created_at=EPOCH), accepted(), None)

    def cancel(
        self, reason: str | None = "enough", *, runs: RunStore | None = None, account_id: str = "acme"
    ) -> tuple[Run, Event]:
        return cancel(
            RUN_ID,
            account_id=account_id,
            actor="key_1",
            reason=reason,
            runs=runs or self.runs,
            slots=self.slots,
            workflow=self.workflow,
            clock=self.time,
            chance=self.chance,
        )

    def found(self) -> tuple[Run, Event]:
        found = self.runs.tail(RUN_ID)
        assert found is not None
        return found

    def move(self, trigger: Trigger, **fields: Any) -> Run:
        """The holder moves the run."""
        run, last = self.found()
        self.runs.commit(a_move(run, trigger, tail=last.seq, **fields))
        return self.found()[0]

    def take(self) -> Run:
        run, last = self.found()
        self.runs.commit(lease.take(run, tail=last.seq, now=self.time.now(), write_id=self.chance.write_id()))
        return self.found()[0]

    def wait(self) -> Run:
        self.take()
        return self.move(Trigger.WAIT, waiting_for="provider", waiting_seq=2, wake_at=self.time.now() + LEASE)

    def tell(self, type: EventType, **data: object) -> None:
        """The holder appends."""
        run, last = self.found()
        self.runs.append(run, record(type, data, tail=last.seq, stamp=a_stamp(1)))

    @property
    def words(self) -> list[str]:
        return [str(event.type) for event in self.runs.log(RUN_ID)[1]]


@pytest.fixture
def bench(runs: RunStore, slots: SlotStore) -> Bench:
    return Bench(runs, slots)


def test_a_pending_run_is_cancelled_on_the_spot(bench: Bench) -> None:
    run, last = bench.cancel()

    assert run.status is Status.CANCELLED
    assert bench.words == ["run.accepted", "run.cancelled"]
    assert (last.data["actor"], last.data["reason"], last.data["latency_ms"]) == ("key_1", "enough", 0)


def test_a_held_run_is_told_to_stop(bench: Bench) -> None:
    bench.take()

    run, last = bench.cancel()

    assert (run.status, last.type) == (Status.CANCELLING, EventType.RUN_CANCELLING)
    assert bench.words == ["run.accepted", "run.started", "run.cancelling"]


def test_a_held_run_that_is_told_already_is_not_told_again(bench: Bench) -> None:
    bench.take()
    bench.cancel("first")

    _, last = bench.cancel("second")

    assert last.data["reason"] == "first"
    assert bench.words.count("run.cancelling") == 1


@pytest.mark.parametrize("gone", ["lapsed", "handed back"])
def test_a_running_run_without_a_holder_is_cancelled_by_way_of_cancelling(gone: str, bench: Bench) -> None:
    run = bench.take()
    if gone == "lapsed":
        bench.time.advance(31)
    else:
        bench.runs.hand_back(replace(run, lease_until=None))

    run, _ = bench.cancel()

    assert run.status is Status.CANCELLED
    assert bench.words == ["run.accepted", "run.started", "run.cancelling", "run.cancelled"]


def test_a_cancel_that_its_dead_holder_never_confirmed_is_confirmed_by_the_next(bench: Bench) -> None:
    bench.take()
    bench.cancel("first")
    bench.time.advance(31)

    run, last = bench.cancel("second")

    assert (run.status, last.data["reason"], last.data["latency_ms"]) == (Status.CANCELLED, "first", 31_000)


def test_a_cancel_of_a_finished_run_answers_what_it_is_and_writes_nothing(bench: Bench) -> None:
    bench.take()
    bench.move(Trigger.FINISH)
    before = bench.words

    run, last = bench.cancel()

    assert (run.status, last.type) == (Status.DONE, EventType.RUN_DONE)
    assert bench.words == before


def test_a_cancel_that_loses_against_the_end_answers_what_the_run_is(bench: Bench) -> None:
    bench.take()

    run, _ = bench.cancel(runs=beaten(bench.runs, "commit", lambda: bench.move(Trigger.FINISH)))

    assert run.status is Status.DONE
    assert bench.words == ["run.accepted", "run.started", "run.done"]


def test_a_worker_that_takes_the_run_in_between_is_told_to_stop(bench: Bench) -> None:
    run, _ = bench.cancel(runs=beaten(bench.runs, "commit", bench.take))

    assert run.status is Status.CANCELLING
    assert bench.words == ["run.accepted", "run.started", "run.cancelling"]


def test_text_that_comes_in_between_only_moves_the_cancel_on(bench: Bench) -> None:
    bench.take()

    run, _ = bench.cancel(runs=beaten(bench.runs, "commit", lambda: bench.tell(EventType.TEXT_DELTA, text="x"), 3))

    assert run.status is Status.CANCELLING
    assert bench.words[2:] == ["text.delta"] * 3 + ["run.cancelling"]


def test_a_holder_that_renews_in_between_keeps_the_run_and_confirms_by_itself(bench: Bench) -> None:
    held = bench.take()
    bench.cancel()
    bench.time.advance(31)

    def renew() -> None:
        bench.runs.renew(renewed(held, bench.time.now()))

    run, _ = bench.cancel(runs=beaten(bench.runs, "commit", renew))

    assert run.status is Status.CANCELLING
    assert "run.cancelled" not in bench.words


def test_a_holder_that_confirms_in_between_is_believed(bench: Bench) -> None:
    bench.take()
    bench.cancel("first")
    bench.time.advance(31)

    run, last = bench.cancel(runs=beaten(bench.runs, "commit", lambda: bench.move(Trigger.CONFIRM)))

    assert (run.status, last.attempt) == (Status.CANCELLED, 1)
    assert bench.words.count("run.cancelled") == 1


def test_a_waiting_run_is_cancelled_on_the_spot_and_its_execution_is_woken(bench: Bench) -> None:
    bench.runs.keep_token(bench.wait(), "token")

    run, _ = bench.cancel()

    assert (run.status, run.waiting_for) == (Status.CANCELLED, None)
    assert bench.workflow.woken == ["token"]


def test_a_token_that_comes_in_between_is_not_lost(bench: Bench) -> None:
    waiting = bench.wait()

    bench.cancel(runs=beaten(bench.runs, "commit", lambda: bench.runs.keep_token(waiting, "late")))

    assert bench.workflow.woken == ["late"]


def test_a_run_is_cancelled_though_its_execution_cannot_be_woken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(token: str) -> None:
        raise WorkflowUnavailable("down")

    bench.runs.keep_token(bench.wait(), "token")
    monkeypatch.setattr(bench.workflow, "wake", refuse)

    run, _ = bench.cancel()

    assert run.status is Status.CANCELLED


def test_the_text_that_a_dead_worker_left_is_written_down_as_a_reply_before_the_end(bench: Bench) -> None:
    bench.take()
    bench.tell(EventType.STEP_STARTED, step=1)
    bench.tell(EventType.TEXT_DELTA, step=1, attempt=1, text="half a sen")
    bench.time.advance(31)

    bench.cancel()

    _, log = bench.runs.log(RUN_ID)
    assert [str(event.type) for event in log[-3:]] == ["run.cancelling", "model.replied", "run.cancelled"]
    assert (log[-2].data["text"], log[-2].data["partial"]) == ("half a sen", True)


def test_calls_that_a_dead_worker_began_are_named_as_unsettled(bench: Bench) -> None:
    bench.take()
    bench.tell(EventType.TOOL_STARTED, call_id="call-1", name="look")
    bench.time.advance(31)

    _, last = bench.cancel()

    assert last.data["unsettled"] == ["call-1"]


def test_a_run_that_streams_is_caught_up_with_from_one_look(bench: Bench) -> None:
    bench.take()
    bench.move(Trigger.FIRST_TOKEN)
    looks: list[str] = []
    busy = beaten(bench.runs, "commit", lambda: bench.tell(EventType.TEXT_DELTA, step=1, text="x"), CHASE - 1)

    run, _ = bench.cancel(runs=beaten(busy, "tail", lambda: looks.append("look"), 100))

    assert run.status is Status.CANCELLING
    assert bench.words[-2:] == ["text.delta", "run.cancelling"]
    assert len(looks) == 2


@pytest.mark.parametrize(
    "type", [EventType.RUN_ATTEMPT, EventType.RUN_WAITING, EventType.RUN_DONE, EventType.RUN_CANCELLING]
)
def test_what_changes_the_run_is_decided_upon_anew(type: EventType) -> None:
    held = a_held_run()
    assert still_holds(held, an_event(7, EventType.TOOL_STARTED))
    assert not still_holds(held, an_event(7, EventType.TOOL_STARTED, attempt=2))
    assert not still_holds(held, an_event(7, type, attempt=1 if type is not EventType.RUN_ATTEMPT else 2))


def test_whoever_always_comes_too_late_is_told_so_in_the_end(bench: Bench) -> None:
    bench.take()

    with pytest.raises(Unavailable):
        bench.cancel(runs=beaten(bench.runs, "commit", lambda: bench.tell(EventType.TEXT_DELTA, text="x"), TRIES))


def test_an_order_whose_answer_was_lost_is_not_given_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.take()
    commit = bench.runs.commit

    def lost(change: Change) -> None:
        monkeypatch.setattr(bench.runs, "commit", commit)
        commit(change)
        raise Unavailable("the answer was lost")

    monkeypatch.setattr(bench.runs, "commit", lost)
    with pytest.raises(Unavailable):
        bench.cancel()
    run, _ = bench.cancel()

    assert run.status is Status.CANCELLING
    assert bench.words.count("run.cancelling") == 1


@pytest.mark.parametrize("prepare", [Bench.take, Bench.wait, lambda bench: None])
def test_another_accounts_cancel_finds_no_run_and_changes_nothing(
    prepare: Callable[[Bench], object], bench: Bench
) -> None:
    prepare(bench)
    before = bench.words

    with pytest.raises(NotFound):
        bench.cancel(account_id="globex")

    assert bench.words == before


def test_a_reason_that_is_too_long_cancels_nothing(bench: Bench) -> None:
    with pytest.raises(InvalidInput):
        bench.cancel("x" * 501)

    assert bench.words == ["run.accepted"]


def test_a_run_is_not_due_once_it_is_cancelled(bench: Bench) -> None:
    bench.cancel()

    assert bench.runs.due(bench.time.now() + timedelta(days=1), 10) == []
