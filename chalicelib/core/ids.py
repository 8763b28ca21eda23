"""The forms of ids. What comes from chance comes in as bytes, so that the rules stay pure."""

from __future__ import annotations

import re
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_FILE_ID = re.compile(r"file_[0-9a-hjkmnp-tv-z]{26}")
_RUN_ID = re.compile(r"run_[0-9a-hjkmnp-tv-z]{26}")


def run_id(at: datetime, chance: bytes) -> str:
    """`run_` and 26 letters of Crockford's base 32: 48 bits of milliseconds, so that ids sort by time, and 80 of
    chance."""
    number = int(at.timestamp() * 1000) << 80 | int.from_bytes(chance[:10], "big")
    return "run_" + _letters(number)


def _letters(number: int) -> str:
    """26 letters of Crockford's base 32, of the lowest 130 bits."""
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def file_id(chance: bytes) -> str:
    """`file_` and 26 letters of Crockford's base 32, of 128 bits of chance or of a digest."""
    return "file_" + _letters(int.from_bytes(chance[:16], "big"))


def is_file_id(text: str) -> bool:
    """Whether `text` has the form of a file id."""
    return _FILE_ID.fullmatch(text) is not None


def is_run_id(text: str) -> bool:
    """Whether `text` has the form of a run id."""
    return _RUN_ID.fullmatch(text) is not None


def call_id(run_id: str, step: int, index: int) -> str:
    """The id of a tool call, and the idempotency key that the tool gets: at most 39 characters for a step below
    100,000."""
    return f"{run_id}-{step}-{index}"


_EDITED = "e"


def edited_call_id(call_id: str) -> str:
    """The id of the call that an approver made out of another one: a call of its own, so that no key means two."""
    return call_id + _EDITED


def asked_call_id(call_id: str) -> str:
    """The id of the call that the model asked for."""
    return call_id.removesuffix(_EDITED)


def approval_id(seq: int) -> str:
    """The id of the question that stands at `seq` of its run's log."""
    return f"ap_{seq}"


def execution_name(run_id: str, start: int) -> str:
    """The name of the run's execution number `start`: the same start twice is one execution."""
    return f"{run_id}-{start}"


def read_execution_name(name: str) -> tuple[str, int] | None:
    """The run and the start that an execution is named after; None for one that somebody began by hand."""
    run, _, start = name.rpartition("-")
    return (run, int(start)) if is_run_id(run) and start.isdecimal() else None
