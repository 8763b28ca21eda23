"""One account as its clients know it: what they ask at the public doors, are told, and may then rely on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from chalicelib.core.cursor import START
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Status
from chalicelib.core.transcript import text
from chalicelib.core.transitions import status_told
from tests.crash.scene import Scene
from tests.crash.screen import shown
from tests.handlers.door import Answer

AGENT = {f"key-{number}": agent for number, agent in enumerate(["sender", "waiter", "talker", "sender"])}
A_DAY = 25 * 3600
BEGINNINGS = 3
"""Of one step: whose worker died each time, is a crash loop."""
PEACE = 200
"""Minutes after which a run that nobody disturbs is stuck."""


class Deleted(StrEnum):
    """What a client knows of its own deletion."""

    NO = "no"
    PERHAPS = "perhaps"
    """It had no answer."""
    YES = "yes"


@dataclass
class Followed:
    """What a client knows of a run."""

    seen: list[dict[str, Any]] = field(default_factory=list)
    snapshot: dict[str, Any] | None = None
    """What it got in the place of the rest, since the log had become an archive."""
    done: bool = False
    deleted: Deleted = Deleted.NO
    cancelled: bool = False
    """Whether it was told that its cancel counts."""
    decided: dict[str, str] = field(default_factory=dict)
    """What it was told to stand, by question."""

    @property
    def since(self) -> int:
        return int(self.seen[-1]["seq"]) if self.seen else START

    def take(self, page: Mapping[str, Any]) -> None:
        """What comes is what is next, or stands for all of it."""
        new = page["events"]
        if new and new[0]["type"] == "snapshot":
            (self.snapshot,) = new
        else:
            assert [event["seq"] for event in new] == [*range(self.since + 1, self.since + 1 + len(new))]
            self.seen += new
        self.done = page["done"]


class Account:
    """Whoever has the account's key, all of them together."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.tried: set[str] = set()
        self.by_key: dict[str, str] = {}
        self.runs: dict[str, Followed] = {}
        self.inbox: dict[str, dict[str, Any]] = {}
        """Every question that was ever seen open; somebody may still have it on their screen."""
        self.given_up: set[str] = set()
        self.logs: dict[str, list[Event]] = {}
        """As they stood when the last long time began: older ones are archives by now."""

    def cancel(self, run_id: str) -> None:
        answer = self.scene.door.post(f"/v1/runs/{run_id}/cancel", {"reason": "enough"})
        if self._there(run_id, answer, 200, 202):
            self.runs[run_id].cancelled |= answer.body["status"] in ("cancelled", "cancelling")

    def delete(self, run_id: str) -> None:
        """Of a run that has ended; any other is not to be deleted."""
        client, status = self.runs[run_id], self.status(run_id)
        client.deleted = Deleted.PERHAPS if client.deleted is Deleted.NO else client.deleted
        answer = self.scene.door.delete(f"/v1/runs/{run_id}")
        if well(answer, 202, 404, 409):
            client.deleted = Deleted.NO if answer.status == 409 else Deleted.YES
            assert answer.status == 404 or status is None or status.terminal is (answer.status == 202)

    def list_all(self) -> None:
        told = {each["run_id"] for each in self.scene.door.get("/v1/runs").body["runs"]}
        assert told >= {run_id for run_id, client in self.runs.items() if client.deleted is Deleted.NO}
        assert not told & {run_id for run_id, client in self.runs.items() if client.deleted is Deleted.YES}

    def submit(self, key: str) -> None:
        """The same key is the same run, however often and whatever became of the answers."""
        self.tried.add(key)
        answer = self.scene.door.post("/v1/runs", {"agent": AGENT[key], "text": "go"}, Idempotency_Key=key)
        if answer.code == "run_not_found":
            assert self.runs[self.by_key[key]].deleted is not Deleted.NO
        elif well(answer, 202):
            run_id = self.by_key.setdefault(key, answer.body["run_id"])
            assert answer.body["run_id"] == run_id
            self.runs.setdefault(run_id, Followed())

    def poll(self, run_id: str) -> None:
        client = self.runs[run_id]
        answer = self.scene.door.get(f"/v1/runs/{run_id}/events?since={client.since}&limit=7")
        if self._there(run_id, answer, 200):
            client.take(answer.body)

    def look_in(self) -> None:
        inbox = self.scene.door.get("/v1/approvals")
        if well(inbox, 200):
            self.inbox |= {asked["approval_id"]: asked for asked in inbox.body["approvals"]}

    def decide(self, asked: dict[str, Any], *, approve: bool) -> None:
        """A person answers as they like, and truly where they are asked what happened."""
        run_id, approval_id = asked["run_id"], asked["approval_id"]
        decision = "approve" if approve else "deny"
        if asked["question"] == "outcome":
            decision = "happened" if asked["call_id"] in self.scene.witness.times(run_id, "send") else "retry"
        body = {"decision": decision, "digest": asked["digest"]}
        answer = self.scene.door.post(f"/v1/runs/{run_id}/approvals/{approval_id}", body)
        client = self.runs.setdefault(run_id, Followed())
        if answer.code == "approval_not_found":
            assert run_id in self.logs, "only an archive has forgotten what was asked"
        elif self._there(run_id, answer, 200, 409) and answer.status == 200:
            client.decided.setdefault(approval_id, decision)

    def leave_in_peace(self) -> None:
        """Nothing fails any more, and everybody does what is theirs to do."""
        for key in sorted(self.tried):
            self.submit(key)
        for _ in range(PEACE):
            for one in self.scene.executions:
                while (one.run_id, one.start) not in self.scene.workflow.over and self.scene.play(one):
                    pass
            self.look_in()
            for asked in self.inbox.values():
                self.decide(asked, approve=True)
            if all(status is None or status.terminal for status in map(self.status, self.runs)):
                break
            self.scene.time.advance(60)
            self.scene.tick()

    def check(self, run_id: str, client: Followed) -> None:
        if client.deleted is Deleted.PERHAPS:
            self._there(run_id, self.scene.door.get(f"/v1/runs/{run_id}"), 200)
        while not client.done:
            self.poll(run_id)
        if client.deleted is Deleted.YES:
            assert self.scene.door.get(f"/v1/runs/{run_id}").status == 404
            return
        log, status = self._log(run_id), self.status(run_id)
        assert [event.seq for event in log] == [*range(len(log))]
        assert [event.ends for event in log] == [False] * (len(log) - 1) + [True]
        assert status_told(log) is status
        assert status in (Status.DONE, Status.CANCELLED) or self._failed_rightly(run_id, log)
        assert not client.cancelled or status is Status.CANCELLED
        self._check_seen(client, log)
        self._check_decisions(run_id, client, log)

    def _failed_rightly(self, run_id: str, log: list[Event]) -> bool:
        """After three deaths at one step, because its execution gave up, or of old age."""
        lapses = [event for event in log if event.type is EventType.RUN_ATTEMPT]
        match log[-1].data["error"]["code"]:
            case "crash_loop":
                return len(lapses) >= BEGINNINGS - 1
            case "internal":
                return run_id in self.given_up
            case "over_budget":
                return run_id in self.logs  # it was there when a day went by
            case _:
                return False

    def _check_seen(self, client: Followed, log: list[Event]) -> None:
        if client.snapshot is None:
            assert client.since == log[-1].seq
            assert shown(client.seen) == text(log)
        else:
            assert client.since <= client.snapshot["seq"] == log[-1].seq
            assert summed_up(client.snapshot) == text(log)

    def _check_decisions(self, run_id: str, client: Followed, log: list[Event]) -> None:
        """The first decision stands, what was denied was not made, and what can't be taken back was not made twice."""
        told = {e.data["approval_id"]: e.data["decision"] for e in log if e.type is EventType.APPROVAL_RESOLVED}
        assert {approval_id: told[approval_id] for approval_id in client.decided} == client.decided
        asked = [event.data for event in log if event.type is EventType.APPROVAL_REQUESTED]
        denied = {one["call_id"] for one in asked if told.get(one["approval_id"]) in ("deny", "expired")}
        sent = self.scene.witness.times(run_id, "send")
        assert not denied & sent.keys()
        assert all(times == 1 for times in sent.values())

    def a_day_later(self) -> None:
        """Every wait has run out, every log is an archive or erased, and the doctor has nothing to say."""
        self.let_a_day_pass()
        for one in self.scene.executions:
            self.scene.play(one)
        for _ in range(3):
            self.scene.tick()
        assert self.scene.executions == []
        assert self._findings() == []
        for run_id, client in self.runs.items():
            if client.deleted is Deleted.YES:
                assert self.scene.calm.tail(run_id) is None
                assert self.scene.payloads.first_under(f"payloads/{run_id}/") is None
            else:
                (archive,) = self.scene.door.get(f"/v1/runs/{run_id}/events").body["events"]
                assert (archive["type"], archive["seq"]) == ("snapshot", self._log(run_id)[-1].seq)
                assert summed_up(archive) == text(self._log(run_id))

    def let_a_day_pass(self) -> None:
        self.logs |= {run_id: log for run_id in self.runs if (log := self.scene.witness.log(run_id))}
        self.by_key.clear()  # it is forgotten by then
        self.scene.time.advance(A_DAY)

    def _findings(self) -> list[Any]:
        page = self.scene.door.get("/v1/admin/doctor").body
        found = list(page["findings"])
        while page["next"]:
            page = self.scene.door.get(f"/v1/admin/doctor?next={page['next']}").body
            found += page["findings"]
        return found

    def _there(self, run_id: str, answer: Answer, *expected: int) -> bool:
        """Whether the answer is one of those. What its account has deleted is not there any more, to nobody."""
        client = self.runs[run_id]
        if answer.code == "run_not_found":
            assert client.deleted is not Deleted.NO
            client.deleted, client.done = Deleted.YES, True
            return False
        assert client.deleted is not Deleted.YES or answer.status == 503
        return well(answer, *expected)

    def _log(self, run_id: str) -> list[Event]:
        """The run's log, though it may be an archive by now."""
        kept = self.logs.get(run_id)
        return kept if kept and kept[-1].ends else self.scene.witness.log(run_id)

    def status(self, run_id: str) -> Status | None:
        """None where it was erased."""
        found = self.scene.calm.tail(run_id)
        return found[0].status if found else None


def well(answer: Answer, *expected: int) -> bool:
    """Whether the answer is one of those; what else a client may get is that it should come again later."""
    assert answer.status in (*expected, 503), answer
    return answer.status in expected


def summed_up(snapshot: Mapping[str, Any]) -> str:
    """The text of all steps."""
    return "".join(step["text"] for step in snapshot["data"]["steps"])
