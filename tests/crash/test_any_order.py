"""Whatever the public doors are asked, in whatever order, and whichever call to AWS fails meanwhile, the promises hold.

Hypothesis makes up the orders: submissions under a few keys, polls, cancels, decisions; executions that go on, are
invoked twice or give up; ticks, and time. With each of them a worker may be killed at one of its calls, lose an answer,
or find DynamoDB away. Then everybody is left in peace until nothing is left to be done, and all is looked at: what the
clients saw and were told, the logs, what the tools and the model were asked, the doctor; a day later the archives.

`make test` tries a few orders, `make crash` many. What failed is kept in tests/crash/examples and tried first, also by
whoever gets it with a commit.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from chalicelib.core.cursor import START
from chalicelib.core.events import EventType
from chalicelib.core.run import Status
from chalicelib.core.transcript import text
from chalicelib.core.transitions import status_told
from tests.crash.killer import Moment
from tests.crash.scene import OUTAGE, RUNS_AT_ONCE, Execution, Fault, Scene
from tests.fresh_table import fresh_table
from tests.handlers.door import Answer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.ports.payload_store import PayloadStore

ORDERS = 300 if os.environ.get("CRASH_POINTS") == "all" else 6
STEPS = 40
PEACE = 200
"""Minutes after which a run that nobody disturbs is stuck."""
EXAMPLES = Path(__file__).parent / "examples"

AGENT = {f"key-{number}": agent for number, agent in enumerate(["sender", "waiter", "talker", "sender"])}
KEYS = st.sampled_from(sorted(AGENT))
FAULTS: st.SearchStrategy[Fault | None] = st.none() | st.tuples(st.integers(1, 14), st.sampled_from([*Moment, OUTAGE]))
PLACES = st.integers(0, 7)
"""Which run, execution or question, counted round and round."""


@dataclass
class Followed:
    """What a client knows of a run."""

    seen: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False
    cancelled: bool = False
    """Whether it was told that its cancel counts."""
    decided: dict[str, str] = field(default_factory=dict)
    """What it was told to stand, by question."""

    @property
    def since(self) -> int:
        return int(self.seen[-1]["seq"]) if self.seen else START


class AnyOrder(RuleBasedStateMachine):
    """One account, its clients, and everything behind the doors."""

    def __init__(self, dynamodb: DynamoDBClient, payloads: PayloadStore) -> None:
        super().__init__()
        self.held = ExitStack()
        table = self.held.enter_context(fresh_table(dynamodb))
        patch = self.held.enter_context(pytest.MonkeyPatch.context())
        self.scene = Scene(dynamodb, table, payloads, patch)
        self.tried: set[str] = set()
        self.by_key: dict[str, str] = {}
        self.runs: dict[str, Followed] = {}
        self.inbox: dict[str, dict[str, Any]] = {}
        """Every question that was ever seen open; somebody may still have it on their screen."""

    @initialize(keys=st.sets(KEYS, min_size=2))
    def begin(self, keys: set[str]) -> None:
        for key in sorted(keys):
            self._submit(key)

    @rule(key=KEYS, fault=FAULTS)
    def submit(self, key: str, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self._submit(key)

    @precondition(lambda self: self.runs)
    @rule(place=PLACES, fault=FAULTS)
    def poll(self, place: int, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self._poll(self._one(place))

    @precondition(lambda self: self.runs)
    @rule(place=PLACES, fault=FAULTS)
    def cancel(self, place: int, fault: Fault | None) -> None:
        run_id = self._one(place)
        with self.scene.killer.about(fault):
            answer = self.scene.door.post(f"/v1/runs/{run_id}/cancel", {"reason": "enough"})
            if well(answer, 200, 202):
                self.runs[run_id].cancelled |= answer.body["status"] in ("cancelled", "cancelling")

    @rule(place=PLACES, approve=st.booleans(), fault=FAULTS)
    def decide(self, place: int, approve: bool, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self._look_in()
            if self.inbox:
                self._decide([*self.inbox.values()][place % len(self.inbox)], approve=approve)

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
        with self.scene.killer.about(fault):
            self.scene.give_up(self._execution(place))

    @rule(fault=FAULTS)
    def tick(self, fault: Fault | None) -> None:
        with self.scene.killer.about(fault):
            self.scene.tick()

    @rule(seconds=st.sampled_from([1, 20, 61, 200]))
    def wait(self, seconds: int) -> None:
        self.scene.time.advance(seconds)

    @invariant()
    def no_more_are_at_work_than_may_be(self) -> None:
        at_work = (Status.RUNNING, Status.STREAMING, Status.CANCELLING)
        assert sum(self.scene.run(run_id).status in at_work for run_id in self.runs) <= RUNS_AT_ONCE

    @invariant()
    def nothing_that_had_an_answer_was_asked_again(self) -> None:
        assert self.scene.witness.repeated == []

    def teardown(self) -> None:
        with self.held:
            self._leave_in_peace()
            for run_id, followed in self.runs.items():
                self._check(run_id, followed)
            self._a_day_later()

    def _submit(self, key: str) -> None:
        """The same key is the same run, however often and whatever became of the answers."""
        self.tried.add(key)
        answer = self.scene.door.post("/v1/runs", {"agent": AGENT[key], "text": "go"}, Idempotency_Key=key)
        if well(answer, 202):
            run_id = self.by_key.setdefault(key, answer.body["run_id"])
            assert answer.body["run_id"] == run_id
            self.runs.setdefault(run_id, Followed())

    def _poll(self, run_id: str) -> None:
        """What comes is what is next."""
        client = self.runs[run_id]
        answer = self.scene.door.get(f"/v1/runs/{run_id}/events?since={client.since}&limit=7")
        if well(answer, 200):
            new = answer.body["events"]
            assert [event["seq"] for event in new] == [*range(client.since + 1, client.since + 1 + len(new))]
            client.seen += new
            client.done = answer.body["done"]

    def _look_in(self) -> None:
        inbox = self.scene.door.get("/v1/approvals")
        if well(inbox, 200):
            self.inbox |= {asked["approval_id"]: asked for asked in inbox.body["approvals"]}

    def _decide(self, asked: dict[str, Any], *, approve: bool) -> None:
        """A person answers as they like, and truly where they are asked what happened."""
        run_id, approval_id = asked["run_id"], asked["approval_id"]
        decision = "approve" if approve else "deny"
        if asked["question"] == "outcome":
            decision = "happened" if self.scene.witness.sent(run_id, asked["call_id"]) else "retry"
        body = {"decision": decision, "digest": asked["digest"]}
        answer = self.scene.door.post(f"/v1/runs/{run_id}/approvals/{approval_id}", body)
        if well(answer, 200, 409) and answer.status == 200:
            self.runs.setdefault(run_id, Followed()).decided.setdefault(approval_id, decision)

    def _leave_in_peace(self) -> None:
        """Nothing fails any more, and everybody does what is theirs to do."""
        for key in sorted(self.tried):
            self._submit(key)
        for _ in range(PEACE):
            for one in self.scene.executions:
                while (one.run_id, one.start) not in self.scene.workflow.over and self.scene.play(one):
                    pass
            self._look_in()
            for asked in self.inbox.values():
                self._decide(asked, approve=True)
            if all(self.scene.run(run_id).status.terminal for run_id in self.runs):
                break
            self.scene.time.advance(60)
            self.scene.tick()

    def _check(self, run_id: str, client: Followed) -> None:
        while not client.done:
            self._poll(run_id)
        log, status = self.scene.witness.calm(run_id), self.scene.run(run_id).status
        assert [event["seq"] for event in client.seen] == [event.seq for event in log] == [*range(len(log))]
        assert [event.ends for event in log] == [False] * (len(log) - 1) + [True]
        assert status_told(log) is status
        assert status in (Status.DONE, Status.CANCELLED, Status.FAILED)
        assert not client.cancelled or status is Status.CANCELLED
        assert shown(client.seen) == text(log)
        self._check_decisions(run_id, client)

    def _check_decisions(self, run_id: str, client: Followed) -> None:
        """The first decision stands, what was denied was not made, and what can't be taken back was not made twice."""
        log, made = self.scene.witness.calm(run_id), self.scene.witness.made
        told = {e.data["approval_id"]: e.data["decision"] for e in log if e.type is EventType.APPROVAL_RESOLVED}
        assert {approval_id: told[approval_id] for approval_id in client.decided} == client.decided
        asked = [event.data for event in log if event.type is EventType.APPROVAL_REQUESTED]
        denied = {one["call_id"] for one in asked if told.get(one["approval_id"]) == "deny"}
        sent = {call_id: times for (of, call_id, name), times in made.items() if of == run_id and name == "send"}
        assert not denied & sent.keys()
        assert all(times == 1 for times in sent.values())

    def _a_day_later(self) -> None:
        """Every wait has run out, every log is an archive, and the doctor has nothing to say."""
        self.scene.time.advance(25 * 3600)
        for one in self.scene.executions:
            self.scene.play(one)
        self.scene.tick()
        assert self.scene.executions == []
        assert self.scene.door.get("/v1/admin/doctor").body["findings"] == []
        for run_id, client in self.runs.items():
            (archive,) = self.scene.door.get(f"/v1/runs/{run_id}/events").body["events"]
            assert archive["type"] == "snapshot"
            assert archive["seq"] == client.since
            assert "".join(step["text"] for step in archive["data"]["steps"]) == shown(client.seen)

    def _one(self, place: int) -> str:
        return [*self.runs][place % len(self.runs)]

    def _execution(self, place: int) -> Execution:
        there = self.scene.executions
        return there[place % len(there)]


def well(answer: Answer, *expected: int) -> bool:
    """Whether the answer is one of those; what else a client may get is that it should come again later."""
    assert answer.status in (*expected, 503), answer
    return answer.status in expected


def shown(seen: list[dict[str, Any]]) -> str:
    """What stands on a client's screen: deltas, less what a reset took back."""
    parts: dict[int, str] = {}
    for event in seen:
        if event["type"] == EventType.TEXT_DELTA:
            parts[event["seq"]] = event["data"]["text"]
        elif event["type"] == EventType.STEP_RESET:
            parts = {seq: part for seq, part in parts.items() if seq < event["data"]["from_seq"]}
    return "".join(parts.values())


def test_no_order_of_requests_and_faults_breaks_a_promise(dynamodb: DynamoDBClient, payloads: PayloadStore) -> None:
    class Here(AnyOrder):
        def __init__(self) -> None:
            super().__init__(dynamodb, payloads)

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
