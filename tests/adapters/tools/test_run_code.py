"""Code as a tool: what a model asks for, and what it is told."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from chalicelib.adapters.named_files import NamedFiles
from chalicelib.adapters.tools.run_code import SHOWN, SPEC, run_code
from chalicelib.adapters.tools.toolbox import ToolProblem
from chalicelib.core.code import CodeJob, CodeResult, Limit
from chalicelib.core.errors import SandboxUnavailable
from chalicelib.core.tools import FileRef, Mark, Risk, ToolResult
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.run_store import RunStore
from tests.a_call import DEADLINE, RUN_ID, an_invocation
from tests.builders import a_run, accepted
from tests.sandbox.jobs import CLOCK, sandbox
from tests.virtual_time import CountedChance


class Scripted:
    """A sandbox that notes the job and gives the result that it is told to."""

    def __init__(self, result: CodeResult | SandboxUnavailable) -> None:
        self._result = result
        self.job: CodeJob | None = None

    def run(self, job: CodeJob) -> CodeResult:
        self.job = job
        if isinstance(self._result, SandboxUnavailable):
            raise self._result
        return self._result


class Shelf:
    """A `RunFiles` in memory."""

    def __init__(self, **files: bytes) -> None:
        self.files = dict(files)

    def content(self, run_id: str, name: str) -> bytes:
        return self.files[name]

    def keep(self, run_id: str, name: str, content: bytes) -> FileRef:
        self.files[name] = content
        return FileRef(f"id-{name}", name, len(content), "text/plain")


def a_result(exit_: int | None = 0, **more: Any) -> CodeResult:
    return CodeResult(exit_, more.pop("stdout", ""), more.pop("stderr", ""), "bubblewrap", 0.25, **more)


def call(made: Scripted, args: Mapping[str, Any], shelf: Shelf | None = None, **more: Any) -> ToolResult:
    _, run = run_code(made, shelf or Shelf(), CountedChance())
    result = run(an_invocation("run_code", args, **more))
    assert isinstance(result, ToolResult)
    return result


def test_the_job_is_the_run_s_own_with_the_call_s_deadline_and_stop() -> None:
    made, stop = Scripted(a_result()), threading.Event()
    call(
        made,
        {"code": "print(1)", "files": ["a.csv", "deep/b.csv"]},
        Shelf(**{"a.csv": b"a", "deep/b.csv": b"b"}),
        stop=stop,
    )

    assert made.job is not None
    assert (made.job.code, made.job.tenant, made.job.deadline) == ("print(1)", f"acme:{RUN_ID}", DEADLINE)
    assert (made.job.stop, made.job.files, made.job.hosts) == (stop, {"a.csv": b"a", "b.csv": b"b"}, ())


def test_what_it_said_is_told_between_lines_that_it_cannot_know() -> None:
    result = call(Scripted(a_result(stdout="42\n", stderr="careful\n")), {"code": "x"})

    first, out, said, end, err, *_ = result.content.splitlines()
    assert result.ok
    assert first == "It ended with exit code 0 after 0.2 s, in the sandbox bubblewrap."
    assert (said, out.replace("-----", "").split()[0], err.split()[1]) == ("42", "stdout", "stderr")
    assert end == out.replace("stdout", "end of stdout")


def test_of_long_output_head_and_tail_are_shown() -> None:
    said = "begin" + "é" * 100_000 + "end"
    content = call(Scripted(a_result(stdout=said, stderr=said)), {"code": "x"}).content

    assert len(content.encode()) < SPEC.shown_bytes
    assert content.count("begin") == content.count("end\n") == 2
    assert f"[… {len(said.encode()) - SHOWN['stdout']} bytes left out …]" in content


@pytest.mark.parametrize("limit", [*Limit])
def test_every_limit_is_told_in_words(limit: Limit) -> None:
    assert len(call(Scripted(a_result(None, limit=limit)), {"code": "x"}).content.splitlines()) == 2


@pytest.mark.parametrize("exit_", [1, 137, None])
def test_a_failed_run_is_a_failed_call(exit_: int | None) -> None:
    assert not call(Scripted(a_result(exit_)), {"code": "x"}).ok


def test_files_out_become_files_of_the_run() -> None:
    shelf = Shelf()
    result = call(Scripted(a_result(files={"b.txt": b"xy", "a/c.txt": b"z"}, dropped=2)), {"code": "x"}, shelf)

    assert shelf.files == {"b.txt": b"xy", "a/c.txt": b"z"}
    assert [file.name for file in result.files] == ["a/c.txt", "b.txt"]
    assert "Files: a/c.txt (1 bytes), b.txt (2 bytes)." in result.content
    assert "2 more files" in result.content


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"code": ""},
        {"code": 1},
        {"code": "x", "files": "a"},
        {"code": "x", "files": [1]},
        {"code": "x", "files": ["a"] * 33},
        {"code": "x", "files": ["missing"]},
        {"code": "x", "language": "perl"},
        {"code": "x" * (5 << 20)},
    ],
)
def test_arguments_that_cannot_be_meant_are_told_to_the_model(args: Mapping[str, Any]) -> None:
    made = Scripted(a_result())

    with pytest.raises(ToolProblem):
        call(made, args)
    assert made.job is None


def test_where_nothing_contains_code_none_is_run_and_the_model_is_told_why() -> None:
    with pytest.raises(ToolProblem, match=r"Code can't be run here\. install bubblewrap"):
        call(Scripted(SandboxUnavailable("install bubblewrap")), {"code": "x"})


def test_a_call_may_be_made_again_and_leaves_the_account_alone() -> None:
    assert SPEC.effect.repeatable
    assert SPEC.risk is Risk.OUTSIDE


def test_with_approved_hosts_a_call_leaves_the_account_and_brings_what_nobody_vouches_for() -> None:
    made = Scripted(a_result())
    spec, run = run_code(made, Shelf(), CountedChance(), ("api.example.com",))
    run(an_invocation("run_code", {"code": "x"}))

    assert made.job is not None
    assert made.job.hosts == ("api.example.com",)
    assert (spec.risk, spec.marks) == (Risk.CHANGES, frozenset({Mark.UNTRUSTED}))
    assert "api.example.com" in spec.description
    assert "no network" not in spec.description


def test_a_file_that_one_call_leaves_is_there_for_the_next(files: FileStore, runs: RunStore) -> None:
    runs.create(a_run(run_id=RUN_ID), accepted(), None)
    _, run = run_code(sandbox("auto"), NamedFiles(files, runs), CountedChance())
    soon = CLOCK.now().replace(year=2099)

    made = run(an_invocation("run_code", {"code": "open('out/table.csv', 'w').write('1,2')"}, deadline=soon))
    read = run(
        an_invocation("run_code", {"code": "print(open('in/table.csv').read())", "files": ["table.csv"]}, deadline=soon)
    )

    assert isinstance(made, ToolResult)
    assert isinstance(read, ToolResult)
    assert [(file.name, file.size, file.media_type) for file in made.files] == [("table.csv", 3, "text/csv")]
    assert "\n1,2\n" in read.content
