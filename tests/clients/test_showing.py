"""`pawl show` of a run that asks something: what, and what to type to answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.conftest import Pawl
from tests.clients.fake_pawl import (
    APPROVAL,
    ASKED,
    ASKING,
    DOUBTED,
    OPENING,
    RUN_ID,
    FakePawl,
    log_of,
    resolved,
)

SECOND = {**DOUBTED, "approval_id": "ap_5", "name": "pay"}


@pytest.fixture
def pawl() -> Iterator[FakePawl]:
    with FakePawl(log_of(*ASKING)) as pawl:
        yield pawl


def test_show_tells_what_a_waiting_run_asks_and_how_to_answer(call: Pawl, pawl: FakePawl) -> None:
    pawl.page_limit = 2
    answered = {**ASKED, "approval_id": "ap_2"}
    pawl.log = log_of(
        *OPENING,
        ("approval.requested", answered),
        ("approval.requested", ASKED),
        ("approval.requested", SECOND),
        resolved("deny", approval_id="ap_2"),
        ASKING[-1],
    )
    assert call("show", RUN_ID).stdout.splitlines()[-6:] == [
        f"asks        {APPROVAL}: may send be called?",
        "open until  2026-12-01 12:00 UTC",
        f"to answer   pawl approve {RUN_ID} {APPROVAL}   or   pawl deny {RUN_ID} {APPROVAL}",
        "asks        ap_5: pay was called, and nobody knows how it ended. Did it happen?",
        "open until  2026-12-01 12:00 UTC",
        f"to answer   pawl resolve {RUN_ID} ap_5 happened|retry|abort",
    ]


def test_what_show_tells_of_a_question_is_found_in_a_snapshot_too(call: Pawl, pawl: FakePawl) -> None:
    calls = [{"call_id": "d", "name": "send", "approval": ASKED}]
    pawl.log = log_of(("snapshot", {"steps": [{"calls": calls}]}), ASKING[-1])
    assert f"\nasks        {APPROVAL}: may send be called?\n" in call("show", RUN_ID).stdout


@pytest.mark.parametrize(
    ("log", "args"),
    [
        (ASKING, ("show", RUN_ID, "--json")),
        ((*ASKING, resolved("approve"), ("run.resumed", {})), ("show", RUN_ID)),
        ((*ASKING, ("run.cancelled", {})), ("show", RUN_ID)),
    ],
    ids=["json", "at work", "ended"],
)
def test_show_reads_no_log_where_nobody_is_to_be_told_of_questions(
    call: Pawl, pawl: FakePawl, log: tuple[tuple[str, dict[str, Any]], ...], args: tuple[str, ...]
) -> None:
    pawl.log = log_of(*log)
    ended = call(*args)
    assert [request.path for request in pawl.asked] == [f"/v1/runs/{RUN_ID}"]
    assert ended.exit_code == 0
    if "--json" in args:
        assert json.loads(ended.stdout) == pawl.run()
    else:
        assert "asks" not in ended.stdout
