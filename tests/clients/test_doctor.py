"""`pawl doctor`: every page, one line a finding, and an exit code for scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pawl_client.cli import app
from tests.clients.door import Answer, Request
from tests.clients.fake_pawl import RUN_ID, SECRET, FakePawl, problem

HOLE = {"run_id": RUN_ID, "code": "hole", "detail": "nothing stands between seq 3 and seq 5", "repaired": False}
OVERDUE = {"run_id": RUN_ID, "code": "overdue", "detail": "nobody has looked at it", "repaired": True}

Doctor = Callable[..., Result]


def page(*findings: dict[str, Any], next: str | None = None) -> Answer:
    return Answer(200, {"looked_at": 1, "findings": list(findings), "next": next})


@pytest.fixture
def doctor(pawl: FakePawl) -> Doctor:
    """`doctor(*pages, args=...)`: what is printed of these pages."""

    def called(*pages: Answer, args: tuple[str, ...] = ()) -> Result:
        answers: Iterator[Answer] = iter(pages)

        def answer(_request: Request) -> Answer:
            return next(answers)

        pawl.script = answer
        env = {"PAWL_URL": pawl.url, "PAWL_KEY": SECRET}
        return CliRunner(env=env).invoke(app, ["doctor", *args], catch_exceptions=False)

    return called


def test_nothing_found_is_code_0(doctor: Doctor) -> None:
    ended = doctor(page(next="executions:"), page())

    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "nothing is wrong\n")


def test_every_page_is_asked_for_and_a_finding_is_code_1(doctor: Doctor, pawl: FakePawl) -> None:
    ended = doctor(page(next="more"), page(HOLE, next="executions:"), page())

    assert ended.exit_code == 1
    assert ended.stdout == f"{RUN_ID}\thole\tnothing stands between seq 3 and seq 5\t\n"
    assert ended.stderr == "1 found, 0 repaired\n"
    assert [(request.method, request.path, request.query.get("next")) for request in pawl.asked] == [
        ("GET", "/v1/admin/doctor", None),
        ("GET", "/v1/admin/doctor", "more"),
        ("GET", "/v1/admin/doctor", "executions:"),
    ]


def test_repair_is_asked_for_only_when_it_is_wanted(doctor: Doctor, pawl: FakePawl) -> None:
    ended = doctor(page(OVERDUE, HOLE), args=("--repair",))

    assert [(request.method, request.path) for request in pawl.asked] == [("POST", "/v1/admin/doctor/repair")]
    assert ended.exit_code == 1
    assert "repaired" in ended.stdout.splitlines()[0]
    assert ended.stderr == "2 found, 1 repaired\n"


def test_json_is_one_document(doctor: Doctor) -> None:
    ended = doctor(page(HOLE, next="more"), page(OVERDUE), args=("--json",))

    assert json.loads(ended.stdout) == {"findings": [HOLE, OVERDUE]}


def test_a_key_that_may_not_is_an_error_and_no_finding(doctor: Doctor) -> None:
    ended = doctor(problem(403, "scope_missing", "this key does not have the scope admin"))

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "scope_missing" in ended.stderr
