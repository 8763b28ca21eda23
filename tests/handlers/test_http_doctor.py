"""The doctor's doors, and old runs over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.case import Code
from chalicelib.handlers import clock, http_doctor
from chalicelib.ports.payload_store import PayloadStore
from tests.builders import RUN_ID
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import DOCUMENT, Door
from tests.handlers.test_workflow import Context
from tests.shelf import Shelf, the_run, the_words
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOG = the_words().done().events
EVENTS = f"/v1/runs/{RUN_ID}/events"
DOORS = [("GET", "/v1/admin/doctor"), ("POST", "/v1/admin/doctor/repair")]


@pytest.fixture
def shelf(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore, time: VirtualTime) -> Shelf:
    return Shelf(dynamodb, table, payloads, time)


def test_the_doctor_is_asked_page_by_page(door: Door, shelf: Shelf) -> None:
    shelf.put(the_run(LOG), LOG[1:])

    first = door.get("/v1/admin/doctor?limit=1")
    second = door.get(f"/v1/admin/doctor?next={first.body['next']}")
    third = door.get(f"/v1/admin/doctor?next={second.body['next']}")
    fourth = door.get(f"/v1/admin/doctor?next={third.body['next']}")

    assert first.body["looked_at"] == 1
    assert [(each["run_id"], each["code"]) for each in first.body["findings"]] == [(RUN_ID, "start_missing")]
    assert (second.body["looked_at"], second.body["findings"]) == (0, [])
    assert (third.body["looked_at"], third.body["findings"]) == (0, [])
    assert fourth.body == {"looked_at": 0, "findings": [], "next": None}


def test_the_repair_is_said_of_each_finding(door: Door, shelf: Shelf) -> None:
    log = the_words().events
    shelf.put(the_run(log, due_at=None), log)

    found = door.post("/v1/admin/doctor/repair").body["findings"]

    assert [(each["code"], each["repaired"]) for each in found] == [("not_listed", True)]
    assert door.get("/v1/admin/doctor").body["findings"] == []


@pytest.mark.parametrize(("method", "path"), DOORS)
def test_the_doctor_sees_administrators_only(method: str, path: str, opened: OpenDoor) -> None:
    assert opened("acme", Scope.READ, Scope.RUN, Scope.APPROVE).ask(method, path, None).code == "scope_missing"
    assert opened("acme", Scope.ADMIN).ask(method, path, None).status == 200


@pytest.mark.parametrize(("method", "path"), DOORS)
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "limit_out_of_range"),
        ("next=x", "invalid_next"),
        ("next=deleted:x", "invalid_next"),
        ("all=1", "unknown_field"),
    ],
)
def test_what_cannot_be_meant_is_refused(method: str, path: str, query: str, code: str, door: Door) -> None:
    assert door.ask(method, f"{path}?{query}", None).code == code


def test_the_document_knows_every_finding_and_the_page_s_limits() -> None:
    components = DOCUMENT["components"]

    assert components["schemas"]["Finding"]["properties"]["code"]["enum"] == [*Code]
    limit = components["parameters"]["DoctorLimit"]["schema"]
    assert (limit["maximum"], limit["default"]) == (http_doctor.MAX_LIMIT, http_doctor.DEFAULT_LIMIT)


def test_a_day_after_its_end_a_run_is_archived_by_the_tick_and_still_answers(
    world: World, door: Door, shelf: Shelf, time: VirtualTime
) -> None:
    shelf.put(the_run(LOG), LOG)
    before = door.get(f"/v1/runs/{RUN_ID}").body
    time.advance((LOG[-1].at - time.now()).total_seconds() + 24 * 3600 + 60)

    clock.tick({}, Context(60))

    assert shelf.sort_keys(RUN_ID) == ["ARCHIVE", "RUN"]
    assert door.get(f"/v1/runs/{RUN_ID}").body == before
    for query in ("since=-1", "since=3", "replay=full"):
        page = door.get(f"{EVENTS}?{query}").body
        assert [(each["seq"], each["type"]) for each in page["events"]] == [(LOG[-1].seq, "snapshot")]
        assert page["done"]
    assert door.get("/v1/admin/doctor").body["findings"] == []


def test_a_run_of_which_a_part_is_gone_still_answers_or_says_so_by_name(door: Door, shelf: Shelf) -> None:
    asking = the_words().step(3).said("", "look", step=3).asked(step=3).events
    [asked] = [event for event in asking if event.type == "approval.requested"]
    shelf.put(the_run(asking, asks=(asked.data["approval_id"],)), asking)
    shelf.archives.delete_payloads(RUN_ID)
    answered = {"decision": "deny", "digest": asked.data["digest"]}

    refused = door.post(f"/v1/runs/{RUN_ID}/approvals/{asked.data['approval_id']}", answered)

    assert (refused.status, refused.code) == (500, "log_unreadable")
    assert len(door.get(f"{EVENTS}?limit=100").body["events"]) == len(asking)
    assert door.get(f"/v1/runs/{RUN_ID}").status == 200
    assert [each["run_id"] for each in door.get("/v1/approvals").body["approvals"]] == [RUN_ID]
    assert door.post(f"/v1/runs/{RUN_ID}/cancel").body["status"] == "cancelled"
    assert {each["code"] for each in door.get("/v1/admin/doctor").body["findings"]} == {"payload_missing"}


def test_a_cursor_too_far_behind_gets_a_snapshot_unless_it_wants_everything(
    world: World, door: Door, shelf: Shelf
) -> None:
    world.config = replace(world.config, replay_cap=5)
    shelf.put(the_run(LOG), LOG)

    capped, full = (door.get(f"{EVENTS}?limit=3{more}").body for more in ("", "&replay=full"))

    assert [each["type"] for each in capped["events"]] == ["snapshot"]
    assert [each["seq"] for each in full["events"]] == [0, 1, 2]


def test_there_is_one_kind_of_replay(door: Door, shelf: Shelf) -> None:
    shelf.put(the_run(LOG), LOG)

    assert door.get(f"{EVENTS}?replay=some").code == "invalid_replay"
