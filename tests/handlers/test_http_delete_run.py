"""Deleting a run over HTTP: what is answered, and what the tick then does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.aws.file_bucket import run_key
from chalicelib.core.api_key import Scope
from chalicelib.core.retention import ERASED_AFTER
from chalicelib.handlers import clock
from tests.builders import run_id
from tests.conftest import BUCKET
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import Door
from tests.handlers.test_workflow import Context
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

pytestmark = pytest.mark.usefixtures("s3")

TASK = {"agent": "demo", "text": "go"}


def submitted(door: Door) -> str:
    return str(door.post("/v1/runs", TASK, Idempotency_Key="k").body["run_id"])


def ended(door: Door) -> str:
    of_it = submitted(door)
    door.post(f"/v1/runs/{of_it}/cancel")
    return of_it


def test_a_deleted_run_is_a_404_at_once_and_gone_after_the_tick(
    door: Door, contents: Contents, time: VirtualTime, s3: S3Client
) -> None:
    before = contents()
    deleted = ended(door)
    path = f"/v1/runs/{deleted}"
    for key in (f"payloads/{deleted}/digest/w", run_key(deleted, "file_1")):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"x")

    for _ in range(2):
        answer = door.delete(path)
        assert (answer.status, answer.body) == (202, {"run_id": deleted, "deleted": True})
    for read in (path, f"{path}/events", f"{path}/events?replay=full&limit=1", f"{path}/payloads/{'0' * 64}"):
        assert (door.get(read).status, door.get(read).code) == (404, "run_not_found")
    assert door.post(f"{path}/cancel").code == "run_not_found"
    assert door.post("/v1/tickets", {"run_id": deleted}).code == "run_not_found"
    assert door.get("/v1/runs").body["runs"] == []

    time.advance(ERASED_AFTER.total_seconds() + 60)
    clock.tick({}, Context(60))

    assert door.delete(path).code == "run_not_found"
    kept = [item["pk"]["S"] for item in contents() if item not in before]
    assert kept == ["IDEM#acme#k"]
    assert not [each for each in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []) if deleted in each["Key"]]


@pytest.mark.parametrize("erased", [False, True])
def test_a_submission_that_is_sent_again_does_not_run_what_was_deleted(
    door: Door, time: VirtualTime, contents: Contents, erased: bool
) -> None:
    door.delete(f"/v1/runs/{ended(door)}")
    if erased:
        time.advance(ERASED_AFTER.total_seconds() + 60)
        clock.tick({}, Context(60))
    before = contents()

    answer = door.post("/v1/runs", TASK, Idempotency_Key="k")

    assert (answer.status, answer.code) == (404, "run_not_found")
    assert contents() == before


def test_a_run_that_goes_on_has_to_be_cancelled_first(door: Door, contents: Contents) -> None:
    path = f"/v1/runs/{submitted(door)}"
    before = contents()

    answer = door.delete(path)

    assert (answer.status, answer.code) == (409, "run_not_over")
    assert "cancel it first" in answer.body["detail"]
    assert contents() == before


def test_nobody_deletes_what_is_not_theirs_or_without_the_scope(
    opened: OpenDoor, door: Door, contents: Contents
) -> None:
    path = f"/v1/runs/{ended(door)}"
    strangers = opened("globex")
    reader = opened("acme", Scope.READ, Scope.ADMIN)
    before = contents()

    assert strangers.delete(path).code == "run_not_found"
    assert door.delete(f"/v1/runs/{run_id(7)}").code == "run_not_found"
    assert reader.delete(path).status == 403
    assert door.delete("/v1/runs/7").code == "invalid_run_id"
    assert contents() == before


def test_the_doctor_finds_a_deleted_run_that_was_left_lying_and_no_other(door: Door, time: VirtualTime) -> None:
    deleted = ended(door)
    door.delete(f"/v1/runs/{deleted}")

    def found() -> list[tuple[str, str]]:
        page = door.get("/v1/admin/doctor?next=deleted:").body
        return [(each["run_id"], each["code"]) for each in page["findings"]]

    assert found() == []
    time.advance(3600)
    assert found() == [(deleted, "overdue")]
