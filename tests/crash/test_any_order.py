"""Whatever the public doors are asked, in whatever order, and whichever call to AWS fails meanwhile, the promises hold.

Hypothesis makes up the orders: submissions under a few keys, polls, cancels, decisions, deletions; executions that go
on, are invoked twice or give up; ticks, which archive and erase too; minutes and days. With each of them a Lambda may
be killed at one of its calls, lose an answer, or find AWS away. Then everybody is left in peace until nothing is left
to be done, and all is looked at: what the clients saw and were told, the logs, what the tools and the model were asked,
the doctor, and a day later the archives.

`make test` tries a few orders, `make crash` many. What failed is kept in tests/crash/examples and tried first, also by
whoever gets it with a commit.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chalicelib.core.run import Status
from tests.crash.account import AGENT, Account
from tests.crash.killer import Moment
from tests.crash.scene import OUTAGE, RUNS_AT_ONCE, Execution, Fault, Scene
from tests.fresh_table import fresh_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

ORDERS = 150 if os.environ.get("CRASH_POINTS") == "all" else 4
STEPS = 30
EXAMPLES = Path(__file__).parent / "examples"

KEYS = st.sampled_from(sorted(AGENT))
FAULTS: st.SearchStrategy[Fault | None] = st.none() | st.tuples(st.integers(1, 14), st.sampled_from([*Moment, OUTAGE]))
PLACES = st.integers(0, 7)
"""Which run, execution or question, counted round and round."""


class AnyOrder(RuleBasedStateMachine):
    """One account, its clients, and everything behind the doors."""

    def __init__(self, dynamodb: DynamoDBClient, s3: S3Client) -> None:
        super().__init__()
        self.held = ExitStack()
        table = self.held.enter_context(fresh_table(dynamodb))
        patch = self.held.enter_context(pytest.MonkeyPatch.context())
        self.scene = Scene(dynamodb, s3, table, patch)
        self.account = Account(self.scene)

    @initialize(keys=st.sets(KEYS, min_size=2))
    def begin(self, keys: set[str]) -> None:
        for key in sorted(keys):
            self.account.submit(key)

    @rule(key=KEYS, fault=FAULTS)
    def submit(self, key: str, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.account.submit(key)

    @precondition(lambda self: self.account.runs)
    @rule(place=PLACES, fault=FAULTS)
    def poll(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.account.poll(self._run_id(place))

    @precondition(lambda self: self.account.runs)
    @rule(place=PLACES, fault=FAULTS)
    def cancel(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.account.cancel(self._run_id(place))

    @precondition(lambda self: self.account.runs)
    @rule(place=PLACES, fault=FAULTS)
    def delete(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.account.delete(self._run_id(place))

    @rule(place=PLACES, approve=st.booleans(), fault=FAULTS)
    def decide(self, place: int, approve: bool, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.account.look_in()
            if asked := [*self.account.inbox.values()]:
                self.account.decide(asked[place % len(asked)], approve=approve)

    @rule()
    def list_all(self) -> None:
        self.account.list_all()

    @precondition(lambda self: self.scene.executions)
    @rule(place=PLACES, fault=FAULTS)
    def go_on(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.scene.play(self._execution(place))

    @rule()
    def all_go_on(self) -> None:
        for one in self.scene.executions:
            self.scene.play(one)

    @precondition(lambda self: self.scene.executions)
    @rule(place=PLACES, fault=FAULTS)
    def again(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.scene.again(self._execution(place))

    @precondition(lambda self: self.scene.executions)
    @rule(place=PLACES, fault=FAULTS)
    def give_up(self, place: int, fault: Fault | None) -> None:
        one = self._execution(place)
        self.account.given_up.add(one.run_id)
        with self.scene.killer.about(fault):
            self.scene.give_up(one)

    @rule(fault=FAULTS)
    def tick(self, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.scene.tick()

    @rule(seconds=st.sampled_from([1, 20, 61, 200]))
    def wait(self, seconds: int) -> None:
        self.scene.time.advance(seconds)

    @rule()
    def wait_for_a_day(self) -> None:
        self.account.let_a_day_pass()

    @invariant()
    def no_more_are_at_work_than_may_be(self) -> None:
        at_work = (Status.RUNNING, Status.STREAMING, Status.CANCELLING)
        assert sum(self.account.status(run_id) in at_work for run_id in self.account.runs) <= RUNS_AT_ONCE

    @invariant()
    def nothing_that_had_an_answer_was_asked_again(self) -> None:
        assert self.scene.witness.repeated == []

    def teardown(self) -> None:
        with self.held:
            self.account.leave_in_peace()
            for run_id, followed in self.account.runs.items():
                self.account.check(run_id, followed)
            self.account.a_day_later()

    def _run_id(self, place: int) -> str:
        known = [*self.account.runs]
        return known[place % len(known)]

    def _execution(self, place: int) -> Execution:
        there = self.scene.executions
        return there[place % len(there)]


def test_no_order_of_requests_and_faults_breaks_a_promise(dynamodb: DynamoDBClient, s3: S3Client) -> None:
    class Here(AnyOrder):
        def __init__(self) -> None:
            super().__init__(dynamodb, s3)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=ORDERS,
            stateful_step_count=STEPS,
            deadline=None,
            database=DirectoryBasedExampleDatabase(EXAMPLES),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
            print_blob=True,
        ),
    )
