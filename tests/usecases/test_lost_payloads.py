"""A part of a log is gone from the bucket: nobody goes on from it, everybody can end it, and it does end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.models.scripted import Dies, Script, Turn, Unavailable
from chalicelib.core import doctor, errors, snapshot
from chalicelib.core.case import Code
from chalicelib.core.errors import PayloadMissing
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.core.settle import BROKEN_OFF
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases.abandon import UNREADABLE, abandon
from chalicelib.usecases.list_approvals import list_approvals
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.read_run import read_run
from chalicelib.usecases.sweep import sweep
from tests.builders import RUN_ID
from tests.core.a_log import a_log, a_started_log
from tests.fresh_table import fresh_table
from tests.shelf import LARGE, Shelf, the_run
from tests.usecases.workshop import Tool, Workshop, asks
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

A_LEASE = 31


class Shop(Workshop):
    """A workshop whose tool answers with more than an event holds, and from whose bucket all of it goes."""

    def __init__(self, shelf: Shelf, script: Script) -> None:
        self.shelf = shelf
        super().__init__(shelf.runs, shelf.slots, shelf.time, script, [Tool(works=lambda: LARGE)])

    def lose(self) -> None:
        self.shelf.archives.delete_payloads(RUN_ID)

    def give_up(self, error: str = UNREADABLE) -> bool:
        return abandon(RUN_ID, self.run.start, error, **self.settles)

    @property
    def settles(self) -> dict[str, Any]:
        world = {"runs": self.runs, "slots": self.slots, "workflow": self.workflow}
        return {**world, "clock": self.time, "chance": self.chance}

    @property
    def left(self) -> list[Event]:
        return self.runs.remains(RUN_ID)[1]

    @property
    def findings(self) -> set[Code]:
        case = self.shelf.audit.case(RUN_ID)
        assert case is not None
        return {finding.code for finding in doctor.examine(case, self.time.now())}


OpenShop = Callable[..., Shop]


@pytest.fixture
def opened(dynamodb: DynamoDBClient, payloads: PayloadStore) -> Iterator[OpenShop]:
    with fresh_table(dynamodb) as table:
        yield lambda *script: Shop(Shelf(dynamodb, table, payloads, VirtualTime()), script)


@pytest.fixture
def shop(opened: OpenShop) -> Shop:
    """A run between two slices, whose first answer is gone."""
    shop = opened(asks("look"), Turn(text="Done."))
    shop.advance(steps=1)
    shop.lose()
    return shop


def failed(shop: Shop) -> dict[str, Any]:
    run, last = shop.found()
    assert (run.status, last.type) == (Status.FAILED, EventType.RUN_FAILED)
    return dict(last.data["error"])


def test_a_worker_that_meets_one_gives_up_and_its_run_fails(shop: Shop) -> None:
    with pytest.raises(PayloadMissing) as fault:
        shop.advance()
    assert type(fault.value).__name__ == UNREADABLE, "what Step Functions hands on"

    assert shop.give_up()

    assert failed(shop)["code"] == "log_unreadable"
    assert shop.shelf.slots.slots("acme").named == []
    assert shop.findings == {Code.PAYLOAD_MISSING}


def test_another_fault_of_the_platform_s_still_fails_no_such_run(shop: Shop) -> None:
    assert not shop.give_up("Unavailable")
    assert shop.run.status is Status.RUNNING


def test_what_was_streamed_is_owed_to_the_log_all_the_same(opened: OpenShop) -> None:
    shop = opened(asks("look"), Turn(text="one two three four", fault=Dies(times=9)))
    shop.advance(steps=1)
    shop.advance(start=1, lap=1)
    streamed = "".join(event.data["text"] for event in shop.told(EventType.TEXT_DELTA)[-1:])
    shop.lose()
    shop.time.advance(3600)

    shop.give_up()

    failed(shop)
    reply = shop.left[-2]
    assert (reply.type, reply.data["stop"], reply.data["text"]) == (EventType.MODEL_REPLIED, BROKEN_OFF, streamed)
    assert streamed
    assert shop.findings == {Code.PAYLOAD_MISSING}


def test_a_run_that_waits_fails_as_well_once_its_execution_meets_one(opened: OpenShop) -> None:
    shop = opened(asks("look"), Turn(text="Done.", fault=Unavailable(times=9)))
    shop.advance()
    assert shop.run.status is Status.WAITING
    shop.lose()

    assert not shop.give_up("KeyError"), "a mistake of ours leaves a wait as it is"
    assert shop.give_up()

    failed(shop)


def test_a_run_that_is_held_is_ended_when_its_lease_has_lapsed_and_not_restarted_until_then(opened: OpenShop) -> None:
    shop = opened(asks("look"), Turn(text="Done."))
    append = shop.runs.append

    def die(run: Run, event: Event) -> None:
        append(run, event)
        if event.type is EventType.TOOL_FINISHED:
            raise errors.Unavailable("gone")

    shop.runs.append = die  # type: ignore[method-assign]
    with pytest.raises(errors.Unavailable):
        shop.advance()
    shop.runs.append = append  # type: ignore[method-assign]
    shop.lose()

    with pytest.raises(errors.Unavailable, match="held until"):
        shop.give_up()
    shop.time.advance(A_LEASE)
    assert shop.give_up()

    failed(shop)


def test_it_is_cancelled_like_any_other(shop: Shop) -> None:
    assert shop.cancel().status is Status.CANCELLED
    assert shop.findings == {Code.PAYLOAD_MISSING}


def test_a_waiting_one_is_cancelled_on_the_spot(opened: OpenShop) -> None:
    shop = opened(asks("look"), Turn(text="Done.", fault=Unavailable(times=9)))
    shop.advance()
    shop.lose()

    assert shop.cancel().status is Status.CANCELLED


def test_the_sweeper_confirms_its_cancel(shop: Shop) -> None:
    log = a_started_log().step().said("", "look").tool_began().tool_ended(content=LARGE).cancelling().events
    shop.shelf.put(the_run(log, due_at=shop.time.now()), log)
    shop.lose()
    shop.time.advance(120)

    assert sweep(**shop.settles).confirmed == 1
    assert shop.run.status is Status.CANCELLED


def test_it_is_put_back_even_if_its_last_event_is_the_one(shop: Shop) -> None:
    log = a_started_log().step().said("", "look").tool_began().tool_ended(content=LARGE).events
    shop.shelf.put(the_run(log), log)
    shop.lose()

    found = shop.runs.tail(RUN_ID)
    assert found is not None
    assert found[1].gone == ("content",)
    assert put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)


def test_readers_are_given_what_is_left(shop: Shop) -> None:
    of: dict[str, Any] = {"account_id": "acme", "runs": shop.runs}
    whole = read_events(RUN_ID, -1, 100, 0, **of, clock=shop.time)
    capped = read_events(RUN_ID, -1, 100, 0, **of, clock=shop.time, replay_cap=2)

    assert [event.seq for event in whole.events] == [*range(len(shop.left))]
    assert capped.events == whole.events, "no snapshot can be made of it"
    assert read_run(RUN_ID, **of)[0].status is Status.RUNNING


def test_it_hides_nobody_s_questions(shop: Shop) -> None:
    log = a_started_log().step().said("", "look").tool_began().tool_ended(content=LARGE)
    asking = log.step(2).said("", "look", step=2).asked(step=2).waiting("approval").events
    shop.shelf.put(the_run(asking, asks=(f"ap_{asking[-2].seq}",)), asking)
    shop.lose()

    [(run, asked)], _ = list_approvals(account_id="acme", limit=10, after=None, runs=shop.runs)

    assert (run.run_id, asked.type) == (RUN_ID, EventType.APPROVAL_REQUESTED)


def test_an_archive_whose_packed_part_is_gone_is_none(shop: Shop) -> None:
    log = a_log().accepted(LARGE).started().done().events
    shop.shelf.put(the_run(log, archived_at=log[-1].at), [], snapshot.fold(RUN_ID, log))
    shop.shelf.payloads.delete_under("archives/")

    with pytest.raises(PayloadMissing):
        shop.runs.archive(RUN_ID)
    assert Code.ARCHIVE_MISSING in shop.findings
