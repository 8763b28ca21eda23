"""On its way to a tool and back: secrets go in and do not come out, and what is long is kept beside."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from chalicelib.adapters.dynamodb.payloads import keep_text, kept_payload
from chalicelib.adapters.tools.guarded import Guards
from chalicelib.adapters.tools.toolbox import Function, FunctionToolbox, Shared, ToolProblem
from chalicelib.core.agent import Agent
from chalicelib.core.errors import Unavailable
from chalicelib.core.results import LARGEST_KEPT
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.ports.toolbox import Toolbox
from tests.a_call import RUN_ID, a_call, an_invocation

TOKEN = "tok-4711-äß/secret"
CALL_ID = f"{RUN_ID}-1-0"


class Vault:
    """A `Secrets` that counts how often it is asked."""

    def __init__(self, secrets: Mapping[tuple[str, str], str], *, closed: bool = False) -> None:
        self.secrets = dict(secrets)
        self.asked = 0
        self.closed = closed

    def get(self, account_id: str, name: str) -> str | None:
        self.asked += 1
        if self.closed:
            raise Unavailable("throttled")
        return self.secrets.get((account_id, name))


class Recorder:
    """A tool that does nothing but remember how it was called."""

    def __init__(self) -> None:
        self.calls: list[Invocation] = []

    def __call__(self, invocation: Invocation) -> str:
        self.calls.append(invocation)
        return "done"


def nowhere(run_id: str, call_id: str, text: str) -> str:
    raise Unavailable("no bucket")


def guarded(
    function: Function,
    *,
    secrets: tuple[str, ...] = (),
    vault: Vault | None = None,
    keep: Callable[[str, str, str], str] = nowhere,
    shown_bytes: int = 16 * 1024,
) -> Toolbox:
    spec = ToolSpec("ask", "Asks.", {"type": "object"}, secrets=secrets, shown_bytes=shown_bytes)
    agent = Agent("a", "", "", "scripted:a", tools=("ask",))
    known = vault or Vault({("acme", "token"): TOKEN})
    return Guards(Shared(FunctionToolbox([(spec, function)])), known, keep).of("acme", agent)


def made(box: Toolbox, args: Mapping[str, Any] | None = None) -> ToolResult:
    return box.call(an_invocation("ask", args))


def echo(invocation: Invocation) -> str:
    token = invocation.secrets["token"]
    return f"sent {token} as {base64.b64encode(token.encode()).decode()}"


def quote_it(invocation: Invocation) -> str:
    raise ToolProblem(f"{invocation.secrets['token']} was refused")


def stumble(invocation: Invocation) -> str:
    raise ValueError(f"bad header {invocation.secrets['token']}")


def answer(content: str) -> Function:
    return lambda invocation: ToolResult(ok=True, content=content)


def test_a_tool_gets_the_secrets_that_its_spec_names_as_they_are_at_the_call() -> None:
    tool = Recorder()
    vault = Vault({("acme", "token"): TOKEN, ("acme", "other"): "not for you", ("evil", "token"): "not ours"})
    box = guarded(tool, secrets=("token",), vault=vault)

    made(box)
    vault.secrets["acme", "token"] = "changed since"
    made(box)

    assert [call.secrets for call in tool.calls] == [{"token": TOKEN}, {"token": "changed since"}]


def test_f17_a_secret_that_is_echoed_in_a_result_is_taken_out() -> None:
    assert made(guarded(echo, secrets=("token",))) == ToolResult(True, "sent [secret token] as [secret token]")


def test_f17_a_secret_in_an_error_is_taken_out() -> None:
    assert made(guarded(quote_it, secrets=("token",))) == ToolResult(False, "[secret token] was refused")


def test_f17_a_secret_in_a_fault_reaches_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        told = made(guarded(stumble, secrets=("token",)))

    assert told == ToolResult(False, "The tool ask failed with ValueError.", unknown=True)
    (record,) = caplog.records
    assert "bad header [secret token]" in record.getMessage()
    assert TOKEN not in record.getMessage()
    assert not record.exc_info


def test_f17_a_secret_in_the_arguments_is_not_previewed() -> None:
    box = guarded(echo, secrets=("token",))
    assert box.preview(a_call("ask", {"header": f"Bearer {TOKEN}"})) == "ask\n  header: Bearer [secret token]"


def test_f17_a_secret_that_is_spelled_only_once_the_text_is_repaired_is_taken_out() -> None:
    vault = Vault({("acme", "token"): "what? is it"})
    box = guarded(answer("say what\ud83d is it"), secrets=("token",), vault=vault)
    assert made(box).content == "say [secret token]"


def test_an_invocation_does_not_show_its_secrets() -> None:
    assert TOKEN not in repr(an_invocation("ask", secrets={"token": TOKEN}))


def test_a_tool_without_secrets_asks_for_none() -> None:
    vault = Vault({})
    box = guarded(answer("x"), vault=vault)
    made(box)
    box.preview(a_call("ask"))
    assert vault.asked == 0


@pytest.mark.parametrize(
    ("vault", "said"),
    [
        (Vault({}), "The account has no secret token, which the tool needs; do without the tool."),
        (Vault({("acme", "token"): "short"}), "The account's secret token is too short to be kept secret; do without"),
        (Vault({}, closed=True), "The tool's secrets cannot be read at the moment; try again later."),
    ],
)
def test_without_its_secrets_a_tool_is_not_called(vault: Vault, said: str) -> None:
    tool = Recorder()
    told = made(guarded(tool, secrets=("token",), vault=vault))

    assert (told.ok, tool.calls) == (False, [])
    assert told.content.startswith(said)


@pytest.mark.parametrize("size", [31 * 1024, 33 * 1024, LARGEST_KEPT + 7])
def test_f13_of_a_long_result_the_model_is_shown_a_part_and_a_payload_of_the_run_has_the_rest(
    size: int, payloads: PayloadStore
) -> None:
    content = "begin" + "x" * (size - 8) + "end"
    told = made(guarded(answer(content), keep=partial(keep_text, payloads=payloads)))

    kept = json.dumps(content[:LARGEST_KEPT])
    digest = hashlib.sha256(kept.encode()).hexdigest()
    assert told.ok
    assert len(told.content.encode()) <= 16 * 1024
    assert told.content.startswith("beginx")
    assert told.content.endswith("xend")
    assert digest in told.content
    assert kept_payload(RUN_ID, digest, payloads) == kept.encode()
    assert ("the rest is lost" in told.content) == (size > LARGEST_KEPT)


def test_a_result_that_fits_is_told_whole_and_kept_nowhere() -> None:
    content = "é" * 8 * 1024
    assert made(guarded(answer(content))).content == content


def test_a_secret_is_taken_out_of_what_is_kept_too() -> None:
    kept: list[str] = []

    def keep(run_id: str, call_id: str, text: str) -> str:
        kept.append(text)
        return "digest"

    made(guarded(lambda it: "x" * 20_000 + it.secrets["token"] + "x" * 20_000, secrets=("token",), keep=keep))
    assert kept == ["x" * 20_000 + "[secret token]" + "x" * 20_000]


def test_f14_a_result_is_told_even_if_the_whole_of_it_cannot_be_kept() -> None:
    told = made(guarded(answer("x" * 20_000), keep=nowhere))

    assert told.ok
    assert "of 20000 bytes are left out here; the whole could not be kept]" in told.content


def test_f14_a_call_whose_end_is_written_twice_keeps_its_result_once(payloads: PayloadStore) -> None:
    box = guarded(answer("y" * 20_000), keep=partial(keep_text, payloads=payloads))

    assert made(box) == made(box)
    digest = hashlib.sha256(json.dumps("y" * 20_000).encode()).hexdigest()
    assert payloads.first_under(f"payloads/{RUN_ID}/{digest}/") == f"payloads/{RUN_ID}/{digest}/{CALL_ID}"


def test_half_a_character_in_a_result_does_not_stop_it() -> None:
    assert made(guarded(answer("a\ud83db"))).content == "a?b"
