"""The client against a server on a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest

from pawl_client import Misconfigured, PawlClient, PawlError, Unreachable
from pawl_client.client import TRIES
from tests.clients.door import Answer, Cut, Request
from tests.clients.fake_pawl import DIGEST, KEY, RUN_ID, SECRET, FakePawl, problem
from tests.clients.manual_time import ManualTime


def first(*answers: Answer) -> Callable[[Request], Answer | None]:
    """A script: these answers, one a request, and then the server's own."""
    script = chain(answers, repeat(None))
    return lambda _: next(script)


def test_a_submission_says_all_that_was_asked_for(pawl: FakePawl, client: PawlClient) -> None:
    told = client.submit("Analyse", agent="demo", metadata={"team": "blue"}, steps=3, seconds=60, idempotency_key="k1")
    (request,) = pawl.asked
    assert told["run_id"] == RUN_ID
    assert (request.method, request.path) == ("POST", "/v1/runs")
    assert request.body == {
        "agent": "demo",
        "text": "Analyse",
        "metadata": {"team": "blue"},
        "budget": {"steps": 3, "seconds": 60},
    }
    assert request.headers["idempotency-key"] == "k1"
    assert request.headers["authorization"] == f"Bearer {SECRET}"


def test_a_submission_leaves_out_what_was_not_asked_for(pawl: FakePawl, client: PawlClient) -> None:
    client.submit("Analyse")
    assert pawl.asked[0].body == {"agent": "demo", "text": "Analyse"}


def test_two_submissions_have_two_idempotency_keys(pawl: FakePawl, client: PawlClient) -> None:
    client.submit("Analyse")
    client.submit("Analyse")
    assert len({request.headers["idempotency-key"] for request in pawl.asked}) == 2


@pytest.mark.parametrize(
    "spoilt",
    [
        *(Answer(202, {"run_id": RUN_ID}, cut=cut) for cut in Cut if cut is not Cut.SILENT),
        *(Answer(status, "<h1>Bad gateway</h1>") for status in (500, 502, 503, 504)),
        problem(429, "rate_limited", "too many"),
    ],
    ids=str,
)
def test_a_submission_is_sent_again_under_the_same_key(pawl: FakePawl, client: PawlClient, spoilt: Answer) -> None:
    pawl.script = first(spoilt, spoilt)
    assert client.submit("Analyse")["run_id"] == RUN_ID
    assert len(pawl.asked) == 3
    assert len({request.headers["idempotency-key"] for request in pawl.asked}) == 1


def test_a_server_that_never_answers_is_given_up_on_after_the_timeout(pawl: FakePawl) -> None:
    pawl.script = lambda _: Answer(cut=Cut.SILENT)
    with PawlClient(pawl.url, SECRET, timeout=0.05) as client, pytest.raises(Unreachable, match="timed out"):
        client.run(RUN_ID)


def test_a_submission_is_tried_a_bounded_number_of_times_and_ever_slower(pawl: FakePawl, time: ManualTime) -> None:
    heard: list[int] = []
    pawl.door.shut()
    client = PawlClient(pawl.url, SECRET, pace=time.pace(), retrying=lambda _, tries: heard.append(tries))
    with client, pytest.raises(Unreachable, match="refused"):
        client.submit("Analyse")
    assert time.slept == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert heard == list(range(1, TRIES))


def test_a_submission_waits_as_long_as_the_server_asks(pawl: FakePawl, client: PawlClient, time: ManualTime) -> None:
    pawl.script = first(Answer(429, headers={"Retry-After": "7"}))
    client.submit("Analyse")
    assert time.slept == [7.0]


def test_a_submission_does_not_wait_for_an_hour(pawl: FakePawl, client: PawlClient, time: ManualTime) -> None:
    pawl.script = first(Answer(503, headers={"Retry-After": "3600"}))
    with pytest.raises(PawlError):
        client.submit("Analyse")
    assert time.slept == []


def test_a_refused_submission_is_not_sent_again(pawl: FakePawl, client: PawlClient) -> None:
    pawl.script = first(problem(422, "idempotency_key_reused", "another payload"))
    with pytest.raises(PawlError):
        client.submit("Analyse")
    assert len(pawl.asked) == 1


def test_a_problem_becomes_an_error_with_all_its_parts(pawl: FakePawl, client: PawlClient) -> None:
    told = {"field": "budget.steps", "expected": "from 1 to 1000", "request_id": "req-9"}
    pawl.script = first(problem(400, "invalid_budget", "0 is out of range", **told))
    with pytest.raises(PawlError) as caught:
        client.submit("Analyse", steps=0)
    error = caught.value
    assert (error.status, error.code, error.detail) == (400, "invalid_budget", "0 is out of range")
    assert {name: getattr(error, name) for name in told} == told
    assert str(error) == (
        "0 is out of range (field budget.steps, expected from 1 to 1000) [invalid_budget, HTTP 400, request req-9]"
    )


def test_a_request_id_is_taken_from_the_header_if_the_body_has_none(pawl: FakePawl, client: PawlClient) -> None:
    pawl.script = first(problem(404, "run_not_found", "no such run"))
    with pytest.raises(PawlError) as caught:
        client.run(RUN_ID)
    assert caught.value.request_id == "req-7"


@pytest.mark.parametrize("body", ["<h1>Forbidden</h1>", {"message": "Forbidden"}])
def test_an_error_without_a_code_is_named_by_its_status(pawl: FakePawl, client: PawlClient, body: str) -> None:
    pawl.script = first(Answer(403, body))
    with pytest.raises(PawlError, match="Forbidden") as caught:
        client.run(RUN_ID)
    assert caught.value.code == "http_403"


@pytest.mark.parametrize("body", ["<h1>Welcome to my shop</h1>", {"events": [{"seq": "x"}]}])
def test_another_kind_of_server_is_recognised(pawl: FakePawl, client: PawlClient, body: str) -> None:
    pawl.script = first(Answer(200, body))
    with pytest.raises(PawlError) as caught:
        client.events(RUN_ID)
    assert caught.value.code == "not_pawl"
    assert not caught.value.transient


def test_all_runs_are_read_page_by_page(pawl: FakePawl, client: PawlClient) -> None:
    pawl.runs = [{**pawl.run(), "run_id": f"run_{number}"} for number in range(7)]
    assert [run["run_id"] for run in client.all_runs(status="done", limit=3)] == [f"run_{n}" for n in range(7)]
    assert [request.query for request in pawl.asked] == [
        {"status": "done", "limit": "3"},
        {"status": "done", "limit": "3", "next": "3"},
        {"status": "done", "limit": "3", "next": "6"},
    ]


def test_a_page_of_events_is_read_from_the_cursor(pawl: FakePawl, client: PawlClient) -> None:
    page = client.events(RUN_ID, 4, limit=10, wait=5)
    assert [event.seq for event in page.events] == [5, 6]
    assert (page.next_since, page.has_more, page.status, page.done) == (6, False, "done", True)
    assert pawl.asked[0].query == {"since": "4", "limit": "10", "wait": "5"}


def test_a_payload_is_read_by_its_digest(pawl: FakePawl, client: PawlClient) -> None:
    assert client.payload(RUN_ID, DIGEST) == {"rows": [1, 2]}


@pytest.mark.parametrize("payload", ["a long text", ["a", "list"], None])
def test_a_payload_need_not_be_an_object(pawl: FakePawl, client: PawlClient, payload: Any) -> None:
    as_json = {"Content-Type": "application/json"}
    pawl.script = first(Answer(200, json.dumps(payload), as_json))
    assert client.payload(RUN_ID, DIGEST) == payload


def test_a_payload_that_is_gone_is_a_problem(client: PawlClient) -> None:
    with pytest.raises(PawlError) as caught:
        client.payload(RUN_ID, "ff" * 32)
    assert caught.value.status == 404


def test_a_cancel_carries_its_reason(pawl: FakePawl, client: PawlClient) -> None:
    assert client.cancel(RUN_ID, "too slow")["status"] == "cancelling"
    assert pawl.asked[0].body == {"reason": "too slow"}


def test_keys_are_made_listed_and_revoked(pawl: FakePawl, client: PawlClient) -> None:
    assert client.make_key("ci", ["read"])["secret"] == SECRET
    assert client.keys()["keys"] == [KEY]
    assert client.revoke_key("key_1")["revoked_at"]
    assert [(request.method, request.path) for request in pawl.asked] == [
        ("POST", "/v1/keys"),
        ("GET", "/v1/keys"),
        ("DELETE", "/v1/keys/key_1"),
    ]
    assert pawl.asked[0].body == {"name": "ci", "scopes": ["read"]}


def test_an_answer_without_a_body_is_empty(pawl: FakePawl, client: PawlClient) -> None:
    pawl.script = first(Answer(204, ""))
    assert client.revoke_key("key_1") == {}


def test_an_odd_id_stays_one_part_of_the_path(pawl: FakePawl, client: PawlClient) -> None:
    with pytest.raises(PawlError, match="no such run"):
        client.run("a/../b?c")
    assert pawl.asked[0].path == "/v1/runs/a/../b?c"
    assert pawl.asked[0].query == {}


def test_a_proxy_of_the_environment_does_not_stand_before_loopback(
    pawl: FakePawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with PawlClient(pawl.url, SECRET) as client:
        assert client.run(RUN_ID)["status"] == "done"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8787", "ftp://127.0.0.1", "http://", "http://a:b:c"])
def test_what_is_no_url_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(Misconfigured, match="no URL"):
        PawlClient(url, SECRET)


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "a b"])
def test_what_is_no_key_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        PawlClient("http://127.0.0.1:8787", key)
    assert key not in str(caught.value)
