"""Files over HTTP, up to the door of S3; what happens behind it is in tests/stories/test_files.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.aws.file_bucket import upload_key
from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.files import UNUSED_FOR
from tests.conftest import BUCKET
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import Door
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CSV = {"name": "takings.csv", "media_type": "text/csv", "size": 3}
NOBODYS = "file_00000000000000000000000000"


def uploaded(door: Door, s3: S3Client, body: bytes = b"a,b", account_id: str = "acme") -> str:
    file_id = str(door.post("/v1/files", {**CSV, "size": len(body)}).body["file_id"])
    s3.put_object(Bucket=BUCKET, Key=upload_key(account_id, file_id), Body=body)
    return file_id


def test_a_file_is_announced_and_awaited_until_it_is_there(door: Door, s3: S3Client) -> None:
    made = door.post("/v1/files", CSV)
    file_id = made.body["file_id"]

    assert (made.status, made.headers["Location"]) == (201, f"/v1/files/{file_id}")
    assert (made.body["upload"]["method"], made.body["upload"]["expires_at"]) == ("POST", "2026-01-01T00:15:00.000Z")
    assert made.body["expires_at"] == "2026-01-02T00:00:00.000Z"
    assert made.body["upload"]["fields"]["Content-Type"] == "text/csv"
    assert door.get(f"/v1/files/{file_id}").body["state"] == "awaiting_upload"

    s3.put_object(Bucket=BUCKET, Key=upload_key("acme", file_id), Body=b"a,b")
    assert door.get(f"/v1/files/{file_id}").body["state"] == "there"


def test_a_deleted_file_is_gone(door: Door, s3: S3Client) -> None:
    file_id = uploaded(door, s3)

    assert door.delete(f"/v1/files/{file_id}").status == 204

    assert door.get(f"/v1/files/{file_id}").code == "file_not_found"
    assert door.delete(f"/v1/files/{file_id}").code == "file_not_found"


def test_a_run_has_the_files_that_its_task_names(door: Door, s3: S3Client) -> None:
    first, second = uploaded(door, s3), uploaded(door, s3, b"c,d,e")

    run_id = door.post("/v1/runs", {"agent": "demo", "text": "go", "files": [second, first]}).body["run_id"]
    door.delete(f"/v1/files/{first}")

    told = door.get(f"/v1/runs/{run_id}").body["files"]
    assert [(file["file_id"], file["size"], file["kind"]) for file in told] == [
        (second, 5, "input"),
        (first, 3, "input"),
    ]
    [accepted] = door.get(f"/v1/runs/{run_id}/events").body["events"]
    assert [file["file_id"] for file in accepted["data"]["files"]] == [second, first]


def test_what_a_tool_left_behind_is_listed_and_linked(door: Door, world: World) -> None:
    run_id = door.post("/v1/runs", {"agent": "demo", "text": "go"}).body["run_id"]
    file = world.files.keep(run_id, "acme", "out/Übersicht.png", b"png", "image/png")

    [told] = door.get(f"/v1/runs/{run_id}").body["files"]
    link = door.get(f"/v1/runs/{run_id}/files/{file.file_id}")

    assert (told["file_id"], told["name"], told["kind"]) == (file.file_id, "Übersicht.png", "artifact")
    assert (link.status, link.headers["Location"]) == (303, link.body["url"])
    assert file.file_id in link.body["url"]
    assert "X-Amz-Expires=300" in link.body["url"]
    assert "attachment" in link.body["url"]


def test_a_run_without_files_says_so(door: Door) -> None:
    run_id = door.post("/v1/runs", {"agent": "demo", "text": "go"}).body["run_id"]

    assert door.get(f"/v1/runs/{run_id}").body["files"] == []
    assert door.get(f"/v1/runs/{run_id}/files/{NOBODYS}").code == "file_not_found"


def test_the_same_task_with_the_same_key_copies_nothing_twice(door: Door, s3: S3Client) -> None:
    task = {"agent": "demo", "text": "go", "files": [uploaded(door, s3)]}
    before = kept(s3)

    first, again = (door.post("/v1/runs", task, Idempotency_Key="k").body["run_id"] for _ in range(2))

    assert first == again
    assert len(kept(s3)) == len(before) + 1
    assert door.post("/v1/runs", {**task, "files": []}, Idempotency_Key="k").code == "idempotency_key_reused"


def kept(s3: S3Client) -> list[Any]:
    return list(s3.list_objects_v2(Bucket=BUCKET, Prefix="run-files/").get("Contents", []))


@pytest.mark.parametrize(
    ("asked", "code", "field"),
    [
        ({"name": "a.csv", "media_type": "text/csv"}, "missing_field", "size"),
        ({**CSV, "size": "3"}, "wrong_type", "size"),
        ({**CSV, "size": 10 * 1024 * 1024 + 1}, "out_of_range", "size"),
        ({**CSV, "name": "../a"}, "invalid_file_name", "name"),
        ({**CSV, "media_type": "text/html"}, "media_type_not_taken", "media_type"),
        ({**CSV, "run_id": "run_1"}, "unknown_field", "run_id"),
    ],
)
def test_a_file_that_is_not_taken_is_refused_and_nothing_is_kept(
    asked: dict[str, Any], code: str, field: str, door: Door, contents: Contents
) -> None:
    before = contents()

    answer = door.post("/v1/files", asked)

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
    assert contents() == before


def test_a_task_names_files_that_are_the_accounts_and_there(opened: OpenDoor, s3: S3Client, contents: Contents) -> None:
    door = opened()
    good, awaited = uploaded(door, s3), door.post("/v1/files", CSV).body["file_id"]
    theirs = uploaded(opened("globex"), s3, account_id="globex")
    before, copies = contents(), kept(s3)

    for files, code, field in (
        ([good, theirs], "unknown_file", "files[1]"),
        ([NOBODYS], "unknown_file", "files[0]"),
        (["../secrets"], "unknown_file", "files[0]"),
        ([good, awaited], "file_not_uploaded", "files[1]"),
        ([good, good], "named_twice", "files[1]"),
        ([7], "wrong_type", "files[0]"),
        ("all", "wrong_type", "files"),
        ([f"file_{number:026d}" for number in range(11)], "too_many", "files"),
    ):
        answer = door.post("/v1/runs", {"agent": "demo", "text": "go", "files": files})
        assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)

    assert contents() == before
    assert kept(s3) == copies


def test_more_than_fits_together_is_refused(door: Door, s3: S3Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.core.files.INPUTS", type("Bound", (), {"bytes": 5}))
    files = [uploaded(door, s3), uploaded(door, s3)]

    answer = door.post("/v1/runs", {"agent": "demo", "text": "go", "files": files})

    assert (answer.code, answer.body["field"]) == ("files_too_large", "files")


def test_a_file_that_nobody_used_in_time_is_gone(door: Door, s3: S3Client, time: VirtualTime) -> None:
    file_id = uploaded(door, s3)
    time.advance(UNUSED_FOR.total_seconds())

    assert door.get(f"/v1/files/{file_id}").code == "file_not_found"
    assert door.post("/v1/runs", {"agent": "demo", "text": "go", "files": [file_id]}).code == "unknown_file"


def test_another_accounts_files_are_not_there(opened: OpenDoor, s3: S3Client) -> None:
    door, theirs = opened(), opened("globex")
    file_id = uploaded(door, s3)
    run_id = door.post("/v1/runs", {"agent": "demo", "text": "go", "files": [file_id]}).body["run_id"]

    assert theirs.get(f"/v1/files/{file_id}").code == "file_not_found"
    assert theirs.delete(f"/v1/files/{file_id}").code == "file_not_found"
    assert theirs.get(f"/v1/runs/{run_id}/files/{file_id}").code == "run_not_found"
    assert door.get(f"/v1/runs/{run_id}/files/{file_id}").status == 303


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        (Scope.READ, "POST", "/v1/files"),
        (Scope.READ, "GET", f"/v1/files/{NOBODYS}"),
        (Scope.READ, "DELETE", f"/v1/files/{NOBODYS}"),
        (Scope.RUN, "GET", f"/v1/runs/run_00000000000000000000000000/files/{NOBODYS}"),
    ],
)
def test_each_door_takes_its_scope(scope: Scope, method: str, path: str, opened: OpenDoor) -> None:
    assert opened("acme", scope).ask(method, path, None).code == "scope_missing"
