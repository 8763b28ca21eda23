"""What is too large for an event, read by the reference that stands in its place."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.dynamodb.payloads import LARGEST
from chalicelib.bootstrap import World
from chalicelib.core.change import record
from chalicelib.core.events import EventType
from chalicelib.core.run import Trigger
from chalicelib.handlers.http_payloads import MAX_BYTES
from chalicelib.usecases.archive import archive_old
from tests.builders import a_move, a_stamp
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Door
from tests.handlers.test_http_runs import submitted
from tests.virtual_time import VirtualTime

LARGE = 'A "long" ü\n' * LARGEST
WIDEST = "ü"
"""Two bytes of UTF-8, six as an escape: no other letter grows as much."""
LAMBDA_ANSWERS = 6 * 1024 * 1024


def told(door: Door, world: World, content: Any) -> tuple[str, dict[str, Any]]:
    """A run whose tool answered `content`, and what a client sees in its place."""
    run_id = submitted(door)
    found = world.runs.tail(run_id)
    assert found is not None
    world.runs.append(found[0], record(EventType.TOOL_FINISHED, {"content": content}, tail=0, stamp=a_stamp(1)))
    [event] = door.get(f"/v1/runs/{run_id}/events?since=0").body["events"]
    return run_id, event["data"]["content"]["payload"]


def place(run_id: str, reference: dict[str, Any]) -> str:
    return f"/v1/runs/{run_id}/payloads/{reference['digest']}"


@pytest.mark.parametrize("content", [LARGE, {"rows": [LARGE, None, 1.5]}], ids=["a text", "an object"])
def test_what_an_event_refers_to_is_read_as_it_was_written(content: Any, door: Door, world: World) -> None:
    answer = door.get(place(*told(door, world, content)))

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.body == content


def test_a_payload_may_be_cached_for_ever_under_its_digest(door: Door, world: World) -> None:
    run_id, reference = told(door, world, LARGE)

    answer = door.get(place(run_id, reference))

    body = json.dumps(LARGE, ensure_ascii=False).encode()
    assert reference == {"digest": hashlib.sha256(body).hexdigest(), "bytes": len(body)}
    assert answer.headers["ETag"] == f'"{reference["digest"]}"'
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"


@pytest.mark.parametrize("digest", ["0" * 63, "0" * 65, "A" * 64, "g" * 64, "..", f"{'0' * 64}%0a", f"..%2f{'0' * 61}"])
def test_a_digest_of_another_form_is_refused(digest: str, door: Door) -> None:
    answer = door.get(f"/v1/runs/{submitted(door)}/payloads/{digest}")

    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_digest", "digest")


def test_a_digest_that_no_event_refers_to_is_not_there(door: Door) -> None:
    answer = door.get(f"/v1/runs/{submitted(door)}/payloads/{'0' * 64}")

    assert (answer.status, answer.code) == (404, "payload_not_found")


def test_a_payload_is_read_of_its_own_run_only(door: Door, world: World) -> None:
    _, reference = told(door, world, "of one run only" * LARGEST)

    answer = door.get(place(submitted(door), reference))

    assert (answer.status, answer.code) == (404, "payload_not_found")


def test_another_account_does_not_read_a_payload_that_is_there(opened: OpenDoor, world: World) -> None:
    theirs = place(*told(opened("globex"), world, LARGE))

    answer = opened("acme").get(theirs)

    assert (answer.status, answer.code) == (404, "run_not_found")


def test_the_largest_payload_that_is_sent_fits_into_a_lambdas_answer(door: Door, world: World) -> None:
    text = WIDEST * ((MAX_BYTES - len('""')) // len(WIDEST.encode()))
    run_id, reference = told(door, world, text)
    assert reference["bytes"] == MAX_BYTES

    answer = door.get(place(run_id, reference))

    assert (answer.status, answer.body) == (200, text)
    escaped = json.dumps({"headers": dict(answer.headers), "body": json.dumps(text, ensure_ascii=False)})
    assert len(escaped) < LAMBDA_ANSWERS


def test_a_payload_of_one_byte_more_is_refused_by_name(door: Door, world: World) -> None:
    run_id, reference = told(door, world, "x" * (MAX_BYTES - len('""') + 1))

    answer = door.get(place(run_id, reference))

    assert (answer.status, answer.code) == (413, "payload_too_large_to_send")
    assert answer.body["detail"] == "it has 2000001 bytes"


def test_the_payloads_of_an_archived_run_are_gone(door: Door, world: World, time: VirtualTime) -> None:
    run_id, reference = told(door, world, LARGE)
    found = world.runs.tail(run_id)
    assert found is not None
    world.runs.commit(a_move(found[0], Trigger.CANCEL, tail=1))
    time.advance(48 * 3600)
    archive_old(runs=world.runs, archives=world.archives, clock=time, keep_for=timedelta(hours=24))

    answer = door.get(place(run_id, reference))

    assert (answer.status, answer.code) == (404, "payload_not_found")
