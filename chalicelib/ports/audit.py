"""The table as the doctor sees it: what lies there for a run, right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.case import Case
from chalicelib.core.run import Run


class Audit(Protocol):
    def case(self, run_id: str) -> Case | None:
        """The run and everything that is kept for it, read strongly; None if there is no such run."""

    def deleted(self, account_id: str, limit: int, after: str | None) -> tuple[Sequence[str], str | None]:
        """The ids of the account's runs that are deleted and not erased yet, and the one after which the next page
        begins. Eventually consistent."""

    def relist(self, run: Run) -> bool:
        """List the run where it belongs, if it still is as it was read; whether it was."""
