"""Told without asking: from a run's end over the table's stream and the queue to a receiver on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest
import standardwebhooks.webhooks
from standardwebhooks import Webhook

from chalicelib import bootstrap
from chalicelib.core import webhook
from chalicelib.core.agent import Agent
from chalicelib.core.permissions import Grant, Ruling
from infra.local import packaged
from infra.local.clock import HandClock
from infra.local.cloud import LocalCloud
from tests.adapters.net.website import Asked, Said, Website, serving
from tests.patience import await_true
from tests.stories.conftest import Book, Town, with_scripts

SECONDS = 10


class Receiver:
    """Answers what it is told to, one after the other, the last for ever; None: nothing, until the client is gone."""

    def __init__(self, *answers: int | None) -> None:
        self._answers = list(answers)
        self.over = threading.Event()
        self.site = Website(0)

    def __call__(self, asked: Asked) -> Said:
        status = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if status is None:
            self.over.wait(SECONDS)
        return Said(status or 200, {"Content-Length": "0"}, lambda: iter(()))

    @property
    def asked(self) -> list[Asked]:
        return self.site.asked

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.site.port}/hook"

    def await_tries(self, count: int) -> None:
        await_true(lambda: len(self.asked) >= count, SECONDS)
        assert len(self.asked) == count


class Careful(Book):
    """And an agent that asks before it looks at the clock."""

    def all(self, account_id: str) -> list[Agent]:
        ask = Grant(Ruling.ASK, "current_time")
        return [
            *super().all(account_id),
            Agent("careful", "asks", "", "scripted:five", ("current_time",), permissions=(ask,)),
        ]


@contextmanager
def receiving(*answers: int | None) -> Iterator[Receiver]:
    receiver = Receiver(*answers)
    with serving(receiver) as site:
        receiver.site = site
        yield receiver
        receiver.over.set()


@pytest.fixture(scope="module")
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(scope="module")
def cloud(clock: HandClock) -> Iterator[LocalCloud]:
    """One for all: each test has accounts of its own."""
    with LocalCloud(packaged.options({"PAWL_LOOPBACK_WEBHOOKS": "1"}, ticking=False, clock=clock)) as cloud:
        with_scripts()
        bootstrap.world().agents = Careful()
        yield cloud


@pytest.fixture
def town(cloud: LocalCloud, request: pytest.FixtureRequest) -> Iterator[Town]:
    place = Town(cloud, request.node.name)
    with place.http:
        yield place


def _put(town: Town, receiver: Receiver, name: str = "ops", **more: Any) -> str:
    answer = town.http.put(f"/v1/webhooks/{name}", json={"url": receiver.url, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["secret"])


def _finished(town: Town) -> str:
    run_id = town.submit("brief")
    _await_status(town, run_id, "done")
    return run_id


def _await_status(town: Town, run_id: str, status: str) -> None:
    """Without the poll's own waiting, which would wait for the clock."""
    await_true(lambda: town.http.get(f"/v1/runs/{run_id}").json()["status"] == status, SECONDS)


def _verified(asked: Asked, secret: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The body, verified by the library of Standard Webhooks as if it had come just now, by the time that it claims."""
    sent = datetime.fromtimestamp(int(asked.headers["webhook-timestamp"]), UTC)

    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Then:
            return cls.fromtimestamp(sent.timestamp(), tz)

    with monkeypatch.context() as patch:
        patch.setattr(standardwebhooks.webhooks, "datetime", Then)
        return Webhook(secret).verify(asked.body, dict(asked.headers))


def _in_queue(town: Town, name: str) -> int:
    """What a queue of the stack holds, hidden or not."""
    sqs = town.cloud.client("sqs")
    wanted = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    [url] = [each for each in sqs.list_queues()["QueueUrls"] if name in each]
    return sum(
        int(each) for each in sqs.get_queue_attributes(QueueUrl=url, AttributeNames=wanted)["Attributes"].values()
    )


def _await_settled(town: Town) -> None:
    """Until nothing is on its way any more. A receiver that leaves before has perhaps not been heard."""
    await_true(lambda: _in_queue(town, "WebhookQueue") == 0, SECONDS)


def test_a_receiver_that_fails_and_hangs_gets_the_same_webhook_until_it_takes_it(
    town: Town, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT", 0.3)
    with receiving(500, None, 204) as receiver:
        secret = _put(town, receiver)
        run_id = _finished(town)
        receiver.await_tries(1)
        clock.await_sleeper(5)
        clock.turn(5)
        clock.await_sleeper(300)
        receiver.await_tries(2)
        clock.turn(300)
        receiver.await_tries(3)
        _await_settled(town)

    assert {asked.headers["webhook-id"] for asked in receiver.asked} == {f"{run_id}-6"}
    bodies = [_verified(asked, secret, monkeypatch) for asked in receiver.asked]
    assert bodies[0] == bodies[1] == bodies[2]
    told = {
        "account_id": bodies[0]["data"]["account_id"],
        "run_id": run_id,
        "seq": 6,
        "type": "run.done",
        "status": "done",
    }
    assert bodies[0] == {
        "type": "run.done",
        "timestamp": bodies[0]["data"]["at"],
        "data": {**bodies[0]["data"], **told},
    }
    assert {*bodies[0]["data"]} == {*told, "at"}
    assert _in_queue(town, "WebhookDeadLetters") == 0


def test_a_receiver_that_never_takes_it_leaves_a_dead_letter_after_the_last_try(town: Town, clock: HandClock) -> None:
    with receiving(503) as receiver:
        _put(town, receiver)
        run_id = _finished(town)
        for tries, pause in enumerate(webhook.BACK_OFF, start=1):
            receiver.await_tries(tries)
            clock.await_sleeper(pause)
            clock.turn(pause)
        receiver.await_tries(webhook.TRIES)
        await_true(lambda: _in_queue(town, "WebhookDeadLetters") == 1, SECONDS)

    assert _in_queue(town, "WebhookQueue") == 0
    sqs = town.cloud.client("sqs")
    [url] = [each for each in sqs.list_queues()["QueueUrls"] if "WebhookDeadLetters" in each]
    [letter] = sqs.receive_message(QueueUrl=url)["Messages"]
    assert run_id in letter["Body"]
    assert "whsec_" not in letter["Body"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=letter["ReceiptHandle"])


def test_a_receiver_that_is_gone_is_left_alone_until_it_is_put_again(town: Town) -> None:
    with receiving(410, 200) as receiver, receiving(200) as witness:
        _put(town, receiver)
        _put(town, witness, "witness")
        first = _finished(town)
        await_true(lambda: town.http.get("/v1/webhooks/ops").json()["disabled_at"], SECONDS)
        _finished(town)
        witness.await_tries(2)
        _await_settled(town)
        again = town.http.put("/v1/webhooks/ops", json={"url": receiver.url})
        third = _finished(town)
        receiver.await_tries(2)
        _await_settled(town)

    assert (again.status_code, again.json()["disabled_at"]) == (200, None)
    assert [_run_of(asked) for asked in receiver.asked] == [first, third]


def test_a_webhook_gets_the_events_that_it_wants_of_its_own_account_and_no_others(town: Town) -> None:
    globex = Town(town.cloud, "globex")
    with globex.http, receiving(200) as ours, receiving(200) as theirs, receiving(200) as cancels:
        _put(town, ours)
        _put(town, cancels, "cancels", events=["run.cancelled"])
        _put(globex, theirs)
        done = _finished(town)
        cancelled = town.submit("down")
        _await_status(town, cancelled, "waiting")
        town.cancel(cancelled)
        foreign = _finished(globex)
        for receiver, tries in ((ours, 2), (theirs, 1), (cancels, 1)):
            receiver.await_tries(tries)
        _await_settled(town)

    assert sorted(map(_run_of, ours.asked)) == sorted([done, cancelled])
    assert [_run_of(asked) for asked in theirs.asked] == [foreign]
    assert [_run_of(asked) for asked in cancels.asked] == [cancelled]


def test_a_question_to_a_person_is_told_without_what_it_is_about(town: Town) -> None:
    with receiving(200) as receiver:
        _put(town, receiver, events=["approval.requested"])
        run_id = town.submit("careful")
        receiver.await_tries(1)
        _await_settled(town)

    [open_question] = town.http.get("/v1/approvals").json()["approvals"]
    # Or it would go on asking once another test lets a day pass.
    town.cancel(run_id)
    told = json.loads(receiver.asked[0].body)
    assert told["type"] == "approval.requested"
    assert told["data"] == {
        "account_id": town.account_id,
        "run_id": run_id,
        "seq": told["data"]["seq"],
        "type": "approval.requested",
        "at": told["timestamp"],
        "status": "waiting",
        "approval_id": open_question["approval_id"],
        "tool": "current_time",
        "expires_at": told["data"]["expires_at"],
    }


def test_a_record_of_the_stream_that_comes_twice_is_told_twice_under_one_id(town: Town) -> None:
    with receiving(200) as receiver:
        _put(town, receiver)
        run_id = _finished(town)
        receiver.await_tries(1)
        town.cloud.invoke("announce", {"Records": [_record(town, run_id)]})
        receiver.await_tries(2)
        _await_settled(town)

    first, second = receiver.asked
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_a_rotated_secret_signs_beside_the_old_one_for_a_day(
    town: Town, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving(200) as receiver:
        old = _put(town, receiver)
        new = str(town.http.post("/v1/webhooks/ops/secret").json()["secret"])
        _finished(town)
        receiver.await_tries(1)
        _await_settled(town)
        clock.turn(24 * 3600)
        _finished(town)
        receiver.await_tries(2)
        _await_settled(town)

    during, after = receiver.asked
    for secret in (old, new):
        _verified(during, secret, monkeypatch)
    _verified(after, new, monkeypatch)
    with pytest.raises(standardwebhooks.webhooks.WebhookVerificationError):
        _verified(after, old, monkeypatch)


def test_a_run_has_its_own_end_told_where_it_says(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(200) as ours, receiving(200) as own:
        secret = _put(town, ours, events=["run.failed"])
        wanted = {"url": own.url, "signed_by": "ops"}
        submitted = town.http.post("/v1/runs", json={"agent": "brief", "text": "go", "webhook": wanted})
        _finished(town)
        own.await_tries(1)
        _await_settled(town)

    assert _verified(own.asked[0], secret, monkeypatch)["data"]["run_id"] == submitted.json()["run_id"]
    assert ours.asked == []


def test_the_bus_carries_the_same_events(town: Town) -> None:
    sqs, events = town.cloud.client("sqs"), town.cloud.client("events")
    url = sqs.create_queue(QueueName="builders")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus, pattern = "pawl-local", json.dumps({"source": ["pawl"], "detail-type": ["run.done"]})
    events.put_rule(Name="ends", EventBusName=bus, EventPattern=pattern)
    events.put_targets(Rule="ends", EventBusName=bus, Targets=[{"Id": "queue", "Arn": arn}])
    run_id = _finished(town)
    await_true(lambda: _in_queue(town, "builders") == 1, SECONDS)

    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    event = json.loads(message["Body"])
    assert (event["source"], event["detail-type"]) == ("pawl", "run.done")
    assert event["detail"] == {
        "id": f"{run_id}-6",
        "account_id": town.account_id,
        "run_id": run_id,
        "seq": 6,
        "type": "run.done",
        "at": event["detail"]["at"],
        "status": "done",
    }


def _run_of(asked: Asked) -> str:
    return str(json.loads(asked.body)["data"]["run_id"])


def _record(town: Town, run_id: str) -> dict[str, Any]:
    """The record of the stream that tells of the run's end."""
    config = bootstrap.world().config
    found = town.cloud.client("dynamodb").query(
        TableName=config.table,
        KeyConditionExpression="pk = :run AND begins_with(sk, :event)",
        ExpressionAttributeValues={":run": {"S": f"RUN#{run_id}"}, ":event": {"S": "EVENT#"}},
        ScanIndexForward=False,
        Limit=1,
    )
    return {"eventName": "INSERT", "dynamodb": {"NewImage": found["Items"][0]}}
