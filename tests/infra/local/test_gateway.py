"""The stand-in's API over a real socket, answered as API Gateway would."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from infra.local.cloud import LocalCloud
from infra.local.gateway import PortTaken, listen
from infra.local.refusals import Refusals
from tests.infra.local import standin
from tests.infra.local.conftest import options
from tests.infra.local.test_stepfunctions import hand

GOOD = {"Authorization": "good"}


def a_response(status: int, template: str) -> dict[str, Any]:
    return {
        "statusCode": str(status),
        "responseParameters": {
            "gatewayresponse.header.Content-Type": "'application/problem+json'",
            "gatewayresponse.header.X-Request-Id": "context.requestId",
        },
        "responseTemplates": {"application/json": template},
    }


RESPONSES = {
    "MISSING_AUTHENTICATION_TOKEN": a_response(404, '{"code": "not_found", "request_id": "$context.requestId"}'),
    "ACCESS_DENIED": a_response(401, '{"code": "$context.authorizer.code"}'),
    "UNAUTHORIZED": a_response(401, '{"code": "unauthenticated"}'),
    "DEFAULT_5XX": a_response(503, '{"code": "unavailable"}'),
}


@pytest.fixture(scope="module")
def cloud() -> Iterator[LocalCloud]:
    with LocalCloud(options(refusals=Refusals(RESPONSES))) as cloud:
        yield cloud


@pytest.fixture
def client(cloud: LocalCloud) -> Iterator[httpx.Client]:
    hand(cloud).turn(3600)  # what the authorizer said in other tests counts no more
    with httpx.Client(base_url=cloud.url, timeout=30) as client:
        yield client


def test_a_request_reaches_its_view_with_all_it_carries(client: httpx.Client) -> None:
    answer = client.post("/echo/a", params={"x": "1"}, json={"n": 1}, headers=GOOD)
    told = answer.json()
    assert (told["name"], told["caller"], told["query"], told["body"]) == ("a", "good", {"x": "1"}, '{"n":1}')
    assert len(told["request_id"]) == 36
    assert answer.headers["Content-Type"] == "application/json"


def test_status_and_headers_come_through(client: httpx.Client) -> None:
    answer = client.get("/open")
    assert (answer.status_code, answer.text, answer.headers["Content-Type"]) == (201, "text", "text/plain")
    assert answer.headers.get_list("Set-Cookie") == ["a=1", "b=2"]


def test_what_a_path_names_is_decoded(client: httpx.Client) -> None:
    assert client.get("/echo/a%2Fb%20c", headers=GOOD).json()["name"] == "a/b c"


def test_a_request_body_arrives_byte_for_byte(client: httpx.Client) -> None:
    headers = {**GOOD, "Content-Type": "application/json"}
    told = client.post("/echo/a", content=b"\xff\xfe caf\xc3\xa9", headers=headers).json()
    assert bytes.fromhex(told["bytes"]) == b"\xff\xfe caf\xc3\xa9"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("DELETE", "/echo/a"), ("HEAD", "/open"), ("GET", "/")]
)
def test_an_unknown_path_or_method_is_answered_as_the_template_says(
    client: httpx.Client, method: str, path: str
) -> None:
    answer = client.request(method, path, headers=GOOD)
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    if method != "HEAD":
        assert answer.json() == {"code": "not_found", "request_id": answer.headers["X-Request-Id"]}


def test_without_a_key_nobody_comes_in(client: httpx.Client) -> None:
    answer = client.get("/echo/a")
    assert (answer.status_code, answer.json()) == (401, {"code": "unauthenticated"})
    assert standin.heard.empty()


def test_an_authorizer_may_refuse_by_policy_and_say_why(client: httpx.Client) -> None:
    answer = client.get("/echo/a", headers={"Authorization": "bad"})
    assert (answer.status_code, answer.json()) == (401, {"code": "no_such_key"})


def test_an_authorizer_may_refuse_by_exception(client: httpx.Client) -> None:
    answer = client.get("/echo/a", headers={"Authorization": "unknown"})
    assert (answer.status_code, answer.json()) == (401, {"code": "unauthenticated"})


def test_an_authorizer_that_fails_is_not_a_refusal(client: httpx.Client) -> None:
    answer = client.get("/echo/a", headers={"Authorization": "broken"})
    assert (answer.status_code, answer.json()) == (503, {"code": "unavailable"})


def test_an_authorizer_is_asked_once_a_minute_for_each_key(client: httpx.Client, cloud: LocalCloud) -> None:
    for _ in range(3):
        client.get("/echo/a", headers=GOOD)
        client.post("/echo/b", headers=GOOD)
    client.get("/echo/a", headers={"Authorization": "good too"})
    assert [standin.heard.get_nowait(), standin.heard.get_nowait()] == ["good", "good too"]
    assert standin.heard.empty()
    hand(cloud).turn(60)
    client.get("/echo/a", headers=GOOD)
    assert standin.heard.get_nowait() == "good"


def test_a_failure_of_the_authorizer_is_not_kept(client: httpx.Client) -> None:
    for _ in range(2):
        client.get("/echo/a", headers={"Authorization": "broken"})
        assert standin.heard.get_nowait() == "broken"


def test_requests_at_the_same_time_do_not_mix(client: httpx.Client) -> None:
    said: dict[int, Any] = {}

    def ask(number: int) -> None:
        said[number] = client.post(
            f"/echo/{number}", json={"n": number}, headers={"Authorization": f"good {number % 4}"}
        )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(80)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = {number: answer.json() for number, answer in said.items()}
    assert [told[number]["name"] for number in range(80)] == [str(number) for number in range(80)]
    assert [told[number]["body"] for number in range(80)] == [f'{{"n":{number}}}' for number in range(80)]
    assert [told[number]["caller"] for number in range(80)] == [f"good {number % 4}" for number in range(80)]


def test_64_long_polls_do_not_keep_another_request_waiting(client: httpx.Client, cloud: LocalCloud) -> None:
    def poll() -> None:
        httpx.get(f"{cloud.url}/echo/long", headers={**GOOD, "X-First": "yes"}, timeout=30)

    client.get("/echo/a", headers=GOOD)
    threads = [threading.Thread(target=poll) for _ in range(64)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert standin.polling.acquire(timeout=10)
    assert client.get("/open").status_code == 201
    standin.going_on.set()
    for thread in threads:
        thread.join()


def test_a_taken_port_is_told_of() -> None:
    with listen(0) as listener:
        listener.listen()
        with pytest.raises(PortTaken):
            listen(listener.getsockname()[1])


def test_it_listens_on_the_loopback_interface_only(cloud: LocalCloud) -> None:
    assert cloud.url.startswith("http://127.0.0.1:")
