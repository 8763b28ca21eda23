"""The files of runs: those that they were given, and those that their tools left behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.files import RunFiles
from chalicelib.core.tools import FileRef


class FileStore(Protocol):
    """Everything here may be done twice."""

    def claim(self, run_id: str, account_id: str, files: Sequence[FileRef]) -> None:
        """Give the run copies of the account's uploads. Raises `KeyError` with the id of one that is not there."""

    def of_run(self, run_id: str) -> RunFiles:
        """What the run has, read strongly."""

    def read(self, run_id: str, file_id: str) -> bytes:
        """A file of the run. Raises `KeyError` if it has none of that id."""

    def keep(self, run_id: str, account_id: str, name: str, body: bytes, media_type: str) -> FileRef:
        """Keep what a tool of the run left behind. Raises `NoRoom`."""

    def link(self, run_id: str, file: FileRef, seconds: int) -> str:
        """A URL that leads to the run's file for so many seconds, as a download under its name."""

    def delete_of_run(self, run_id: str) -> None:
        """Delete every file of the run."""
