"""The minute's tick as a whole: every job has its turn, whatever becomes of the others."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from chalicelib.bootstrap import World
from chalicelib.core import lease
from chalicelib.core.errors import Unavailable
from chalicelib.core.retention import ERASED_AFTER
from chalicelib.core.run import Status
from chalicelib.handlers import clock
from chalicelib.ports.payload_store import PayloadStore
from tests.builders import a_run, run_id
from tests.core.a_log import a_log
from tests.handlers.test_workflow import Context
from tests.shelf import A_DAY, Shelf, the_run, the_words
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.usefixtures("s3")

UNFINISHED = the_words().events
ENDED = a_log().accepted().started().done().events
STUCK, STARTED, OLD, DELETED = (run_id(number) for number in range(4))


@pytest.fixture
def shelf(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore, time: VirtualTime) -> Shelf:
    """A table in which every job of the tick has something to do, and the sweeper first something that it can't."""
    time.advance((ENDED[-1].at + A_DAY + timedelta(hours=1) - time.now()).total_seconds())
    made, long_ago = Shelf(dynamodb, table, payloads, time), time.now() - timedelta(hours=1)
    made.put(the_run(UNFINISHED, run_id=STUCK, status=Status.CANCELLING, due_at=long_ago), UNFINISHED)
    made.put(a_run(run_id=STARTED, due_at=long_ago + timedelta(minutes=5)), ENDED[:1])
    made.put(the_run(ENDED, run_id=OLD), ENDED)
    made.put(the_run(ENDED, run_id=DELETED, deleted_at=time.now() - 2 * ERASED_AFTER), ENDED)
    return made


def done(shelf: Shelf, executions: RecordingWorkflow) -> set[str]:
    """The runs for which a job has done its work."""
    archived = {OLD} if shelf.run(OLD).archived_at else set()
    erased = {DELETED} if shelf.runs.look_up(DELETED) is None else set()
    return {started for started, _ in executions.started} | archived | erased


def test_a_run_that_poisons_a_job_keeps_nothing_from_its_turn_and_fails_the_tick(
    world: World, shelf: Shelf, executions: RecordingWorkflow
) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        clock.tick({}, Context(60))

    assert [type(fault) for fault in raised.value.exceptions] == [ValueError]
    assert done(shelf, executions) == {STARTED, OLD, DELETED}
    assert shelf.slots.to_tend(shelf.time.now() + lease.UNHELD_GRACE / 2, 9) == [], "tended as well"


def test_a_job_that_can_not_even_begin_keeps_nothing_from_its_turn(
    world: World, shelf: Shelf, executions: RecordingWorkflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: Any) -> NoReturn:
        raise Unavailable("the index is away")

    monkeypatch.setattr(world.runs, "due", away)

    with pytest.raises(ExceptionGroup) as raised:
        clock.tick({}, Context(60))

    assert [type(fault) for fault in raised.value.exceptions] == [Unavailable]
    assert done(shelf, executions) == {OLD, DELETED}


def test_a_slow_sweep_leaves_the_others_their_share_of_the_time(
    world: World, shelf: Shelf, executions: RecordingWorkflow, time: VirtualTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.now()
    shelf.mark({"pk": f"RUN#{STUCK}", "sk": "RUN"}, due_pk=None, due_sk=None)
    for number in range(10, 30):
        shelf.put(a_run(run_id=run_id(number), due_at=begun - timedelta(minutes=1)), ENDED[:1])
    start = executions.start

    def slowly(run_id: str, number: int) -> None:
        time.advance(3)
        start(run_id, number)

    monkeypatch.setattr(executions, "start", slowly)
    clock.tick({}, Context(60))

    assert len(executions.started) == 5, "a quarter of fifty seconds, and what it was in the middle of"
    assert {OLD, DELETED} <= done(shelf, executions)
    assert time.now() - begun < timedelta(seconds=60)
    for _ in range(5):
        clock.tick({}, Context(60))
    assert len({started for started, _ in executions.started}) == 21, "the rest at the next ticks"


def test_a_tick_whose_time_is_up_begins_nothing_more(world: World, shelf: Shelf, executions: RecordingWorkflow) -> None:
    clock.tick({}, Context(clock.MARGIN.total_seconds()))

    assert done(shelf, executions) == set()
