"""The tool that runs code: in the sandbox, once, with the run's own files in and new ones out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from chalicelib.adapters.tools.toolbox import Tool, ToolProblem
from chalicelib.core.code import MOST_FILES, CodeJob, CodeResult, Limit
from chalicelib.core.errors import SandboxUnavailable
from chalicelib.core.tools import Effect, FileRef, Invocation, Mark, ToolResult, ToolSpec
from chalicelib.ports.chance import Chance
from chalicelib.ports.code_sandbox import CodeSandbox
from chalicelib.ports.run_files import RunFiles

SECONDS = 60.0
SHOWN = {"stdout": 8_000, "stderr": 4_000}
"""Bytes of what the code said that a model is shown, half from the head and half from the tail."""

SPEC = ToolSpec(
    name="run_code",
    description=(
        "Runs Python in a sandbox of its own: the standard library, no network, no subprocesses, 256 MB of memory, 5 s "
        "of processor time, 64 MB of disk. Files named in `files` are in the folder `in`, read-only. What the code "
        "leaves in the folder `out` becomes files of the run. Print what you want to see; nothing else is kept."
    ),
    parameters={
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The Python to run, as a script."},
            "files": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MOST_FILES,
                "description": "Names of files of this run.",
            },
        },
        "required": ["code"],
        "additionalProperties": False,
    },
    effect=Effect.IDEMPOTENT,
    timeout=SECONDS,
    open_world=False,
)

WHY = {
    Limit.WALL: "It took too long and was ended.",
    Limit.CPU: "It used up its processor time and was ended.",
    Limit.MEMORY: "It ran out of memory.",
    Limit.DISK: "It ran out of disk.",
    Limit.OUTPUT: "It said more than is kept.",
    Limit.FILES: "It left more files than are kept.",
    Limit.STOPPED: "It was stopped: the run is cancelled.",
}


def run_code(sandbox: CodeSandbox, files: RunFiles, chance: Chance, hosts: tuple[str, ...] = ()) -> Tool:
    """The tool, on that sandbox. With `hosts` its code reaches those, and a call leaves the account."""

    def run(invocation: Invocation) -> ToolResult:
        job = _job(invocation, files, hosts)
        try:
            result = sandbox.run(job)
        except SandboxUnavailable as fault:
            raise ToolProblem(f"Code can't be run here. {fault}") from fault
        kept = tuple(files.keep(invocation.run_id, name, content) for name, content in sorted(result.files.items()))
        content = "\n".join(_told(result, kept, fence=chance.bytes(8).hex()))
        return ToolResult(ok=result.exit == 0, content=content, files=kept)

    return _open(SPEC, hosts) if hosts else SPEC, run


def _open(spec: ToolSpec, hosts: tuple[str, ...]) -> ToolSpec:
    way = f"It reaches {', '.join(hosts)} by https, through the proxy that HTTPS_PROXY names, and no other host."
    text = spec.description.replace("no network, ", "")
    return replace(spec, description=f"{text} {way}", open_world=True, marks=frozenset({Mark.UNTRUSTED}))


def _job(invocation: Invocation, files: RunFiles, hosts: tuple[str, ...]) -> CodeJob:
    args = invocation.call.args
    code, names = _arguments(args)
    try:
        return CodeJob(
            code=code,
            tenant=f"{invocation.account_id}:{invocation.run_id}",
            deadline=invocation.deadline,
            stop=invocation.stop,
            hosts=hosts,
            files={_within(name): _content(files, invocation.run_id, name) for name in names},
        )
    except ValueError as fault:
        raise ToolProblem(f"The code can't be run like this: {fault}.") from fault


def _arguments(args: Mapping[str, Any]) -> tuple[str, list[str]]:
    if unknown := [name for name in args if name not in ("code", "files")]:
        raise ToolProblem(f"run_code takes only code and files, not {unknown[0][:80]!r}.")
    code, names = args.get("code"), args.get("files", [])
    if not isinstance(code, str) or not code.strip():
        raise ToolProblem("code must be a string, and not be empty.")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) > MOST_FILES:
        raise ToolProblem(f"files must be a list of at most {MOST_FILES} names of files.")
    return code, names


def _within(name: str) -> str:
    """What a file is called in the folder `in`: one that came out of a folder loses that."""
    return name.rpartition("/")[2]


def _content(files: RunFiles, run_id: str, name: str) -> bytes:
    try:
        return files.content(run_id, name)
    except KeyError:
        raise ToolProblem(f"This run has no file {name[:100]!r}.") from None


def _told(result: CodeResult, kept: tuple[FileRef, ...], fence: str) -> Iterator[str]:
    """What the code said stands between lines that it can't know: it may be anything."""
    ended = "It was ended" if result.exit is None else f"It ended with exit code {result.exit}"
    yield f"{ended} after {result.seconds:.1f} s, in the sandbox {result.backend}."
    if result.limit is not None:
        yield WHY[result.limit]
    for name, said in (("stdout", result.stdout), ("stderr", result.stderr)):
        if said:
            yield f"----- {name} {fence} -----"
            yield _head_and_tail(said, SHOWN[name])
            yield f"----- end of {name} {fence} -----"
    if kept:
        yield f"Files: {', '.join(f'{file.name} ({file.size} bytes)' for file in kept)}."
    if result.dropped:
        yield f"{result.dropped} more files were too many or too large, and are gone."


def _head_and_tail(said: str, most: int) -> str:
    whole, half = said.encode(), most // 2
    if len(whole) <= most:
        return said.rstrip("\n")
    head, tail = (part.decode(errors="ignore") for part in (whole[:half], whole[-half:]))
    return f"{head}\n[… {len(whole) - 2 * half} bytes left out …]\n{tail}".rstrip("\n")
