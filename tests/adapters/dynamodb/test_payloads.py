"""Large parts of events: out of the log, and back for those who work on it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb.payloads import LARGEST, kept_payload
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.errors import Collision
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.run import Run, Trigger
from chalicelib.core.transitions import move
from chalicelib.ports.payload_store import PayloadStore
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, RUN_ID, a_run, a_stamp, accepted, an_event
from tests.conftest import BUCKET

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LARGE = "ü" * LARGEST


@pytest.fixture
def run(runs: DynamoRunStore) -> Run:
    runs.create(a_run(), accepted(), None)
    taking = lease.take(a_run(), tail=0, now=NOON, write_id="taking")
    runs.commit(taking)
    return taking.after


def a_result(**data: Any) -> Event:
    return an_event(2, EventType.TOOL_FINISHED, ok=True, **data)


def shown(runs: DynamoRunStore) -> Event:
    return runs.page(RUN_ID, 1, 1).events[1]


def test_a_worker_reads_a_large_event_as_it_was_written(runs: DynamoRunStore, run: Run) -> None:
    event = a_result(content=LARGE, calls=[{"args": {"text": LARGE}}])

    runs.append(run, event)

    assert runs.log(RUN_ID)[1][-1] == event
    assert runs.tail(RUN_ID) == (run, event)


def test_a_client_gets_a_reference(runs: DynamoRunStore, run: Run, s3: S3Client) -> None:
    runs.append(run, a_result(content=LARGE))

    data = shown(runs).data
    reference = data["content"]["payload"]
    assert data == {"ok": True, "content": {"payload": reference}}
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"payloads/{RUN_ID}/{reference['digest']}/")["Contents"]
    body = s3.get_object(Bucket=BUCKET, Key=found[0]["Key"])["Body"].read()
    assert json.loads(body) == LARGE
    assert len(body) == reference["bytes"]


def test_a_reference_is_read_by_its_digest(runs: DynamoRunStore, run: Run) -> None:
    runs.append(run, a_result(content=LARGE))

    reference = shown(runs).data["content"]["payload"]
    body = runs.payload(RUN_ID, reference["digest"])
    assert body is not None
    assert json.loads(body) == LARGE
    assert hashlib.sha256(body).hexdigest() == reference["digest"]


def test_a_digest_that_nobody_kept_anything_under_is_nothing(runs: DynamoRunStore, run: Run) -> None:
    assert runs.payload(RUN_ID, "0" * 64) is None


def test_a_payload_that_is_deleted_while_it_is_looked_for_is_nothing(
    payloads: PayloadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payloads, "first_under", lambda prefix: f"{prefix}a write that was archived")

    assert kept_payload(RUN_ID, "0" * 64, payloads) is None


def test_no_more_is_moved_than_must_be(runs: DynamoRunStore, run: Run) -> None:
    half = "x" * (LARGEST // 2)

    runs.append(run, a_result(content=LARGE, short="hi", half=half))

    data = shown(runs).data
    assert data["half"] == half
    assert data["short"] == "hi"


def test_an_event_of_just_the_largest_size_stays_whole(runs: DynamoRunStore, run: Run) -> None:
    frame = len(json.dumps({"text": ""}, separators=(",", ":")))
    runs.append(run, an_event(2, text="x" * (LARGEST - frame)))
    runs.append(run, an_event(3, text="x" * (LARGEST - frame + 1)))

    _, whole, moved = runs.page(RUN_ID, 1, 2).events
    assert isinstance(whole.data["text"], str)
    assert "payload" in moved.data["text"]


def test_the_items_of_events_stay_small(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    many = {f"field {number}": "x" * 3_000 for number in range(200)}

    runs.append(run, a_result(**many))

    assert len(json.dumps(line.sent[-1].request)) < 2 * LARGEST
    assert runs.log(RUN_ID)[1][-1].data == {"ok": True, **many}


def test_what_only_looks_like_a_reference_is_left_alone(runs: DynamoRunStore, run: Run) -> None:
    """A model may write what it likes into a call's arguments: it must not be made to fetch another run's payload."""
    forged = {"payload": {"digest": "../../run_1/d", "bytes": 1}}
    event = a_result(args=forged, content=LARGE)

    runs.append(run, event)

    assert runs.log(RUN_ID)[1][-1] == event


def test_a_change_moves_its_large_parts_too(runs: DynamoRunStore, run: Run) -> None:
    output = {"output": {"text": LARGE}}
    finishing = move(run, Trigger.FINISH, tail=1, stamp=a_stamp(1), data=output)

    runs.commit(finishing)

    assert runs.log(RUN_ID)[1][-1] == finishing.event


def test_an_event_that_stands_in_the_way_is_taken_in_whole(runs: DynamoRunStore, run: Run) -> None:
    message = an_event(2, EventType.MESSAGE_ADDED, attempt=OUTSIDE, text=LARGE)
    runs.append(run, message)

    with pytest.raises(Collision) as collision:
        runs.append(run, an_event(2))

    assert collision.value.found == message


def test_a_writer_that_lost_does_not_touch_the_winners_payload(runs: DynamoRunStore, run: Run, s3: S3Client) -> None:
    winner = a_result(content=LARGE)
    runs.append(run, winner)

    with pytest.raises(Collision):
        runs.append(run, a_result(content=LARGE))

    digest = shown(runs).data["content"]["payload"]["digest"]
    kept = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"payloads/{RUN_ID}/{digest}/")["Contents"]
    assert f"payloads/{RUN_ID}/{digest}/{winner.write_id}" in [each["Key"] for each in kept]
    assert runs.log(RUN_ID)[1][-1] == winner


def test_a_large_write_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    event = a_result(content=LARGE)
    line.meets(answer_lost())

    runs.append(run, event)

    assert runs.log(RUN_ID)[1][-1] == event
