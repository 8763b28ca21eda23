"""Functions as tools, over real sockets: an endpoint on loopback stands for Lambda and STS."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest

from chalicelib.adapters.aws import clients
from chalicelib.adapters.system import SystemClock
from chalicelib.adapters.tools.lambda_tool import LambdaTools
from chalicelib.core.declared import LambdaTool
from chalicelib.core.tools import Effect, ToolResult, ToolSpec
from tests.a_call import RUN_ID, an_invocation
from tests.adapters.net.website import Asked, Said, Website, serving

CLOCK = SystemClock()
ROLE = "arn:aws:iam::123456789012:role/pay"
JSON = {"Content-Type": "application/json"}

ASSUMED = b"""<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASSUMED</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>narrowed</SessionToken>
<Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""

DENIED = b"""<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>AccessDenied</Code><Message>not authorized to perform sts:AssumeRole</Message></Error></ErrorResponse>"""


def says(body: bytes, status: int = 200, **headers: str) -> Callable[[Asked], Said]:
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda asked: Said(status, {**JSON, "Content-Length": str(len(body)), **more}, lambda: iter((body,)))


def raises(fault: Mapping[str, Any]) -> Callable[[Asked], Said]:
    return says(json.dumps(fault).encode(), X_Amz_Function_Error="Unhandled")


def refuses(code: str, status: int) -> Callable[[Asked], Said]:
    return says(json.dumps({"Message": "because"}).encode(), status, X_Amzn_ErrorType=code)


@pytest.fixture(autouse=True)
def own_right(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "OWN",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Asked], Said], Callable[[Asked], Said]], Any]:
    @contextmanager
    def standing(function: Callable[[Asked], Said], sts: Callable[[Asked], Said]) -> Iterator[Website]:
        with serving(lambda asked: sts(asked) if asked.path == "/" else function(asked)) as site:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{site.port}")
            # boto3 remembers the credentials that it found first.
            monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
            yield site

    return standing


Aws = Callable[..., Any]


def called(
    role: str | None = None, effect: Effect = Effect.IRREVERSIBLE, function: str = "pay", seconds: float = 20
) -> ToolResult:
    tools = LambdaTools(clients.function_client, lambda: clients.client("sts"), CLOCK)
    spec, call = tools.tool(LambdaTool(ToolSpec("pay", "Pays.", {"type": "object"}, effect), function, role))
    result = call(
        an_invocation(spec.name, {"to": "Ada", "amount": 7}, deadline=CLOCK.now() + timedelta(seconds=seconds))
    )
    assert isinstance(result, ToolResult)
    return result


def test_a_function_gets_the_call_and_all_that_it_may_need_to_know_it_again(aws: Aws) -> None:
    with aws(says(b'"paid"'), says(DENIED, 403)) as site:
        result = called()

    [asked] = site.asked
    event = json.loads(asked.body)
    assert result == ToolResult(ok=True, content="paid")
    assert asked.path == "/2015-03-31/functions/pay/invocations"
    assert asked.headers["x-amz-invocation-type"] == "RequestResponse"
    assert event.pop("deadline") > CLOCK.now().isoformat()
    assert event == {
        "args": {"to": "Ada", "amount": 7},
        "call_id": f"{RUN_ID}-1-0",
        "run_id": RUN_ID,
        "account_id": "acme",
    }


@pytest.mark.parametrize(
    ("answer", "told"),
    [(b'{"a": "\xc3\xa9"}', '{"a": "é"}'), (b"null", "null"), (b'"half \\ud83d"', "half ?"), (b"no JSON", "no JSON")],
)
def test_what_is_no_text_is_told_as_json(answer: bytes, told: str, aws: Aws) -> None:
    with aws(says(answer), says(DENIED, 403)):
        assert called() == ToolResult(ok=True, content=told)


def test_without_a_role_the_runtimes_own_right_is_used(aws: Aws) -> None:
    with aws(says(b'"paid"'), says(ASSUMED)) as site:
        called()

    [asked] = site.asked
    assert "Credential=OWN/" in asked.headers["authorization"]


@pytest.mark.parametrize(
    ("function", "arn"),
    [
        ("pay", "arn:aws:lambda:eu-central-1:123456789012:function:pay"),
        ("pay:live", "arn:aws:lambda:eu-central-1:123456789012:function:pay:live"),
        (
            "arn:aws:lambda:eu-west-1:210987654321:function:pay",
            "arn:aws:lambda:eu-west-1:210987654321:function:pay",
        ),
    ],
)
def test_a_role_is_taken_on_for_one_call_of_that_one_function(function: str, arn: str, aws: Aws) -> None:
    with aws(says(b'"paid"'), says(ASSUMED)) as site:
        called(ROLE, function=function)
        called(ROLE, function=function)

    assumed, invoked, *again = site.asked
    form = {name: value for name, [value] in parse_qs(assumed.body.decode()).items()}
    assert json.loads(form.pop("Policy")) == {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": arn}],
    }
    assert form == {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": ROLE,
        "RoleSessionName": RUN_ID,
        "DurationSeconds": "900",
        "Tags.member.1.Key": "run_id",
        "Tags.member.1.Value": RUN_ID,
        "Tags.member.2.Key": "account_id",
        "Tags.member.2.Value": "acme",
    }
    assert "Credential=ASSUMED/" in invoked.headers["authorization"]
    assert invoked.headers["x-amz-security-token"] == "narrowed"
    assert [asked.path for asked in again] == [assumed.path, invoked.path]


def test_a_role_that_may_not_be_taken_on_means_no_call(aws: Aws) -> None:
    with aws(says(b'"paid"'), says(DENIED, 403)) as site:
        result = called(ROLE)

    assert result == ToolResult(
        ok=False,
        content="The function pay was not called: AccessDenied: not authorized to perform sts:AssumeRole.",
    )
    assert [asked.path for asked in site.asked] == ["/"]


@pytest.mark.parametrize("kind", ["ValueError", "Runtime.ImportModuleError"])
def test_what_a_function_raises_is_told_with_its_type_and_bounded(kind: str, aws: Aws) -> None:
    with aws(raises({"errorType": kind, "errorMessage": "x" * 9_999}), says(DENIED, 403)) as site:
        result = called()

    assert result == ToolResult(ok=False, content=f"The function pay failed with {kind}: {'x' * 500}")
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"errorType": "Sandbox.Timedout", "errorMessage": "Task timed out after 3.00 seconds"},
        {"errorMessage": "2026-01-01T00:00:00Z abc Task timed out after 3.00 seconds"},
        {"errorType": "Runtime.ExitError", "errorMessage": "signal: killed"},
        {"errorType": "Runtime.OutOfMemory", "errorMessage": "signal: killed"},
    ],
)
def test_a_function_that_was_stopped_in_the_middle_may_have_had_its_effect(fault: Mapping[str, Any], aws: Aws) -> None:
    with aws(raises(fault), says(DENIED, 403)):
        irreversible, repeatable = called(), called(effect=Effect.KEYED)

    assert (irreversible.ok, irreversible.unknown) == (False, True)
    assert (repeatable.ok, repeatable.unknown) == (False, False)


@pytest.mark.parametrize(
    ("code", "status"),
    [("ResourceNotFoundException", 404), ("AccessDeniedException", 403), ("TooManyRequestsException", 429)],
)
def test_a_refusal_of_the_service_means_no_call_and_is_not_tried_again(code: str, status: int, aws: Aws) -> None:
    with aws(refuses(code, status), says(DENIED, 403)) as site:
        result = called()

    assert result == ToolResult(ok=False, content=f"The function pay gave no answer: {code}: because.")
    assert len(site.asked) == 1


def test_a_fault_of_the_service_leaves_it_open_and_is_not_tried_again(aws: Aws) -> None:
    with aws(refuses("ServiceException", 500), says(DENIED, 403)) as site:
        result = called()

    assert result.unknown
    assert len(site.asked) == 1


def test_a_function_that_does_not_answer_in_time_is_asked_once_and_its_outcome_is_unknown(aws: Aws) -> None:
    over = threading.Event()

    def late(asked: Asked) -> Said:
        over.wait(10)
        return Said()

    with aws(late, says(DENIED, 403)) as site:
        irreversible, repeatable = called(seconds=1.2), called(effect=Effect.READ, seconds=1.2)
        over.set()

    assert irreversible == ToolResult(
        ok=False, content="The function pay gave no answer: ReadTimeoutError.", unknown=True
    )
    assert not repeatable.unknown
    assert len(site.asked) == 2


def test_a_service_that_is_not_there_was_not_asked(aws: Aws) -> None:
    with aws(says(b""), says(b"")):
        pass

    result = called()

    assert result == ToolResult(ok=False, content="The function pay gave no answer: EndpointConnectionError.")
