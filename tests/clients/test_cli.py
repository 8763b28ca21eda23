"""Every command of `pawl`, its output and its exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from pawl_client.cli import app
from pawl_client.watching import ExitCode
from tests.clients.door import Answer
from tests.clients.fake_pawl import AGENT, KEY, OPENING, RUN_ID, SECRET, STORY, FakePawl, log_of, problem, said

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


class Ended:
    """What a call of `pawl` printed, and how it ended."""

    def __init__(self, url: str, args: tuple[str, ...]) -> None:
        env = {"PAWL_URL": url, "PAWL_KEY": SECRET}
        result = CliRunner(env=env).invoke(app, args, catch_exceptions=False)
        self.out, self.err, self.code = result.stdout, result.stderr, result.exit_code


Pawl = Callable[..., Ended]


@pytest.fixture
def call(pawl: FakePawl) -> Pawl:
    return lambda *args: Ended(pawl.url, args)


def test_run_prints_the_id_alone_so_that_a_script_can_take_it(call: Pawl) -> None:
    ended = call("run", "Analyse")
    assert (ended.out, ended.code) == (f"{RUN_ID}\n", 0)
    assert ended.err == f"to follow it: pawl watch {RUN_ID}\n"


def test_run_sends_all_that_it_is_told(call: Pawl, pawl: FakePawl) -> None:
    call(
        *("run", "Analyse", "--agent", "chat", "--tag", "team=blue", "--tag", "formula=a=b", "--steps", "3"),
        *("--seconds", "60", "--idempotency-key", "k1"),
    )
    (request,) = pawl.asked
    assert request.headers["idempotency-key"] == "k1"
    assert request.body == {
        "agent": "chat",
        "text": "Analyse",
        "metadata": {"team": "blue", "formula": "a=b"},
        "budget": {"steps": 3, "seconds": 60},
    }


@pytest.mark.parametrize(
    ("ending", "code"),
    [("run.done", ExitCode.DONE), ("run.failed", ExitCode.FAILED), ("run.cancelled", ExitCode.CANCELLED)],
)
@pytest.mark.parametrize("args", [("run", "Analyse", "--follow"), ("watch", RUN_ID), ("watch", RUN_ID, "--json")])
def test_following_ends_with_the_code_that_the_run_has_earned(
    call: Pawl, pawl: FakePawl, args: tuple[str, ...], ending: str, code: int
) -> None:
    pawl.log = log_of(*OPENING, said("Hello"), (ending, {}))
    assert call(*args).code == code


def test_watching_from_the_end_still_ends_with_the_runs_code(call: Pawl, pawl: FakePawl) -> None:
    pawl.log = log_of(*OPENING, ("run.failed", {}))
    ended = call("watch", RUN_ID, "--since", "3")
    assert (ended.out, ended.code) == ("", ExitCode.FAILED)


def test_a_cancelled_runs_partial_text_is_kept(call: Pawl, pawl: FakePawl) -> None:
    pawl.log = log_of(*OPENING, said("Half an ans"), ("run.cancelled", {"actor": "key_1", "reason": None}))
    ended = call("watch", RUN_ID)
    assert ended.out == "Half an ans\n"
    assert ended.err == "cancelled by key_1 · 4.0 s · 1 step\n"


def test_watch_begins_after_the_given_event(call: Pawl) -> None:
    ended = call("watch", RUN_ID, "--since", "3", "--json")
    assert [json.loads(line)["seq"] for line in ended.out.splitlines()] == [4, 5, 6]


def test_json_is_one_line_for_each_event(call: Pawl) -> None:
    ended = call("run", "Analyse", "--follow", "--json")
    assert [json.loads(line) for line in ended.out.splitlines()] == [{"run_id": RUN_ID, **event} for event in STORY]


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("run", "Analyse"), {"run_id": RUN_ID, "agent": "demo"}),
        (("show", RUN_ID), {"run_id": RUN_ID, "last_seq": 6}),
        (("cancel", RUN_ID), {"run_id": RUN_ID, "status": "cancelling"}),
        (("runs",), {"next": None}),
        (("runs", "--all"), {"next": None}),
        (("agents",), {"agents": [AGENT]}),
        (("agents", "show", "clerk"), {"name": "clerk", "version": 2}),
        (("agents", "delete", "clerk"), {"name": "clerk", "deleted": True}),
        (("keys", "create", "ci", "--scope", "read"), {"name": "ci", "secret": SECRET}),
        (("keys", "list"), {"keys": [KEY]}),
        (("keys", "revoke", "key_1"), {"key_id": "key_1"}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_json_is_one_document_for_every_other_command(
    call: Pawl, args: tuple[str, ...], part: dict[str, object]
) -> None:
    ended = call(*args, "--json")
    document = json.loads(ended.out)
    assert {name: document[name] for name in part} == part
    assert (ended.code, ended.err) == (0, "")


def test_cancel_says_what_the_run_is(call: Pawl, pawl: FakePawl) -> None:
    ended = call("cancel", RUN_ID, "--reason", "too slow")
    assert ended.out == f"{RUN_ID} cancelling\n"
    assert pawl.asked[0].body == {"reason": "too slow"}


@pytest.mark.parametrize("more", [(), ("--yes",)])
def test_a_run_is_deleted_and_a_script_is_not_asked(call: Pawl, pawl: FakePawl, more: tuple[str, ...]) -> None:
    assert call("delete", RUN_ID, *more).out == f"{RUN_ID} deleted\n"
    assert [(request.method, request.path) for request in pawl.asked] == [("DELETE", f"/v1/runs/{RUN_ID}")]


def test_runs_are_lines_that_cut_and_awk_understand(call: Pawl, pawl: FakePawl) -> None:
    pawl.runs = [{**pawl.run(), "run_id": f"run_{number}"} for number in range(3)]
    ended = call("runs", "--limit", "2", "--status", "done")
    assert ended.out.splitlines()[0].split("\t") == ["run_0", "done", "demo", "2026-11-30T12:00:00.000Z", "team=blue"]
    assert len(ended.out.splitlines()) == 2
    assert ended.err == "there are more: pawl runs --all\n"
    assert pawl.asked[0].query == {"limit": "2", "status": "done"}


def test_all_runs_are_listed_if_asked_for(call: Pawl, pawl: FakePawl) -> None:
    pawl.runs = [{**pawl.run(), "run_id": f"run_{number}"} for number in range(45)]
    assert len(call("runs", "--all").out.splitlines()) == 45


def test_show_tells_the_run_and_its_output(call: Pawl) -> None:
    out = call("show", RUN_ID).out
    assert re.search(rf"^run +{RUN_ID}$", out, re.MULTILINE)
    assert re.search("^status +done$", out, re.MULTILINE)
    assert re.search("^budget +50 steps, 3600 s$", out, re.MULTILINE)
    assert out.endswith("\n\nMarkets rose.\n")


def test_show_tells_why_a_run_failed(call: Pawl, pawl: FakePawl) -> None:
    told = {**pawl.run(), "status": "failed", "error": {"code": "crash_loop", "detail": "three times"}}
    pawl.script = lambda _: Answer(200, told)
    assert re.search("^error +crash_loop: three times$", call("show", RUN_ID).out, re.MULTILINE)


def test_agents_are_listed(call: Pawl) -> None:
    assert call("agents").out == "demo\tscripted:demo\tclock\tA scripted analyst\n"


def test_an_agent_is_shown_with_its_prompt(call: Pawl, pawl: FakePawl) -> None:
    out = call("agents", "show", "clerk", "--version", "2").out
    assert re.search("^version +2$", out, re.MULTILINE)
    assert re.search(r"^declared +wiki \(mcp\)$", out, re.MULTILINE)
    assert re.search(r'^permissions +{"effect": "deny", "tool": "sign"}$', out, re.MULTILINE)
    assert re.search("^answer within +600 s, then fail$", out, re.MULTILINE)
    assert out.endswith("\n\nBe careful.\n")
    assert pawl.asked[0].query == {"version": "2"}


def test_an_agent_is_put_out_of_a_file_and_its_version_told(call: Pawl, pawl: FakePawl, tmp_path: Path) -> None:
    file = tmp_path / "agent.json"
    file.write_text('{"prompt": "Be qüick."}', encoding="utf-8")

    ended = call("agents", "put", "clerk", "--file", str(file))

    assert (ended.out, ended.code) == ("clerk 3\n", 0)
    assert (pawl.asked[0].method, pawl.asked[0].body) == ("PUT", {"prompt": "Be qüick."})


def test_a_file_that_holds_no_json_is_never_sent(call: Pawl, pawl: FakePawl, tmp_path: Path) -> None:
    file = tmp_path / "agent.json"
    file.write_text("{")

    for path in (file, tmp_path / "missing.json"):
        assert call("agents", "put", "clerk", "--file", str(path)).code == ExitCode.USAGE
    assert pawl.asked == []


def test_an_agent_is_deleted(call: Pawl, pawl: FakePawl) -> None:
    assert call("agents", "delete", "clerk").out == "clerk deleted\n"
    assert pawl.asked[0].method == "DELETE"


def test_a_new_keys_secret_is_printed_alone(call: Pawl, pawl: FakePawl) -> None:
    ended = call("keys", "create", "ci", "--scope", "read", "--scope", "run")
    assert ended.out == f"{SECRET}\n"
    assert ended.err == "key_1: keep the secret; nobody can show it again\n"
    assert pawl.asked[0].body == {"name": "ci", "scopes": ["read", "run"]}


def test_keys_are_listed_and_revoked(call: Pawl) -> None:
    assert call("keys", "list").out == "key_1\tlaptop\tread run\t2026-11-30T12:00:00.000Z\t\n"
    assert call("keys", "revoke", "key_1").out == "key_1 revoked\n"


@pytest.mark.parametrize(
    "args",
    [
        ("fly",),
        ("run",),
        ("run", "Analyse", "--tag", "blue"),
        ("run", "Analyse", "--tag", "=blue"),
        ("run", "Analyse", "--steps", "many"),
        ("watch", RUN_ID, "--since", "-2"),
        ("watch", "../keys"),
        ("show", ""),
        ("keys", "create", "ci"),
    ],
    ids=" ".join,
)
def test_a_call_that_cannot_be_meant_is_a_usage_error(call: Pawl, pawl: FakePawl, args: tuple[str, ...]) -> None:
    ended = call(*args)
    assert (ended.code, ended.out) == (ExitCode.USAGE, "")
    assert ended.err
    assert pawl.asked == []


@pytest.mark.parametrize("args", [("run", "Analyse"), ("watch", RUN_ID), ("show", RUN_ID), ("runs",), ("agents",)])
def test_a_problem_is_one_line_on_stderr(call: Pawl, pawl: FakePawl, args: tuple[str, ...]) -> None:
    pawl.script = lambda _: problem(403, "scope_missing", "the key's scopes do not reach this far")
    ended = call(*args)
    assert (ended.code, ended.out) == (ExitCode.ERROR, "")
    assert ended.err == "pawl: the key's scopes do not reach this far [scope_missing, HTTP 403, request req-7]\n"


def test_a_key_that_is_refused_is_told_with_the_place_it_came_from(call: Pawl, pawl: FakePawl) -> None:
    pawl.script = lambda _: problem(401, "key_revoked", "the key was revoked")
    assert call("runs").err.endswith("\nthe key came from PAWL_KEY\n")


def test_a_server_that_is_not_there_is_named(call: Pawl, pawl: FakePawl) -> None:
    pawl.door.shut()
    ended = call("runs")
    assert ended.code == ExitCode.ERROR
    assert ended.err == (
        f"pawl: no answer from {pawl.url}: Connection refused\n"
        "is the server running? On a laptop, `make run` starts it\n"
    )


def test_help_needs_neither_server_nor_key() -> None:
    result = CliRunner(env={"PAWL_KEY": None}).invoke(app, ["run", "--help"])
    assert result.exit_code == 0


def test_the_docs_name_every_command_option_and_exit_code() -> None:
    docs = DOCS.read_text()
    promised = {f"| {code.value} |" for code in ExitCode} | {f"`{option}" for option in _options(get_command(app))}
    assert [word for word in sorted(promised) if word not in docs] == []


def _options(command: Any) -> Iterator[str]:
    """The long options of a command and of all commands below it, and what one types to call them."""
    yield from (option for parameter in command.params for option in parameter.opts if option.startswith("--"))
    for name, below in getattr(command, "commands", {}).items():
        yield f"pawl {command.name} {name}" if command.name in ("agents", "keys") else f"pawl {name}"
        yield from _options(below)
