"""A job and its result on their way to the function on AWS and back, packed: Lambda takes six megabytes."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from chalicelib.core.code import CodeJob, CodeLimits, CodeResult, Limit
from chalicelib.core.tools import Stop

FUNCTION_SECONDS = 60
"""The function's own time limit. Code has to end before it."""

MOST_UNPACKED = 32 << 20
"""Bytes that an answer may become: it comes from where hostile code was."""


class BadAnswer(Exception):  # noqa: N818 - named by what it is
    """What came back is no result."""


def packed(told: Mapping[str, Any]) -> dict[str, str]:
    return {"packed": base64.b64encode(zlib.compress(json.dumps(told).encode())).decode()}


def unpacked(event: object) -> dict[str, Any]:
    """What was packed. Raises `BadAnswer`."""
    try:
        content = base64.b64decode(event["packed"], validate=True)  # type: ignore[index]
        told = json.loads(zlib.decompressobj().decompress(content, MOST_UNPACKED))
    except (KeyError, TypeError, ValueError, zlib.error) as fault:
        raise BadAnswer(f"no packed JSON: {fault}") from fault
    if not isinstance(told, dict):
        raise BadAnswer("no object")
    return told


def job_event(job: CodeJob, seconds: float) -> dict[str, str]:
    """What the function is invoked with; `seconds` are left to the job."""
    limits = {**asdict(job.limits), "wall": min(job.limits.wall, seconds)}
    return packed({"code": job.code, "files": _encoded(job.files), "limits": limits})


def event_job(event: object, *, deadline: datetime, stop: Stop) -> CodeJob:
    """The job again, in the function. Raises `BadAnswer`."""
    told = unpacked(event)
    return CodeJob(
        code=told["code"],
        tenant="",
        deadline=deadline,
        stop=stop,
        files=_decoded(told["files"]),
        limits=CodeLimits(**told["limits"]),
    )


def told_result(result: CodeResult) -> dict[str, str]:
    return packed({**asdict(result), "files": _encoded(result.files)})


def result_told(answer: object, backend: str, seconds: float) -> CodeResult:
    """The result again. Raises `BadAnswer`."""
    told = unpacked(answer)
    try:
        return CodeResult(
            exit=None if told["exit"] is None else int(told["exit"]),
            stdout=str(told["stdout"]),
            stderr=str(told["stderr"]),
            backend=backend,
            seconds=seconds,
            files=_decoded(told["files"]),
            dropped=int(told["dropped"]),
            cut=bool(told["cut"]),
            limit=None if told["limit"] is None else Limit(told["limit"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise BadAnswer(f"no result: {fault}") from fault


def _encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(content).decode() for name, content in files.items()}


def _decoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {str(name): base64.b64decode(content, validate=True) for name, content in files.items()}
