"""The files of a run: what was given to it, and what its calls have left."""

from __future__ import annotations

from typing import Protocol

from chalicelib.core.tools import FileRef


class RunFiles(Protocol):
    def content(self, run_id: str, name: str) -> bytes:
        """What the file of that name holds. Raises `KeyError` if the run has none."""

    def keep(self, run_id: str, name: str, content: bytes) -> FileRef:
        """Keep a file under that name, in the place of one that has it already; the same again is one."""
