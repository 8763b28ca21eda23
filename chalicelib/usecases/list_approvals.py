"""What the account's runs ask people, over all runs."""

from __future__ import annotations

from chalicelib.core import approvals
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.run_store import RunStore


def list_approvals(
    *, account_id: str, limit: int, after: str | None, runs: RunStore
) -> tuple[list[tuple[Run, Event]], str | None]:
    """The open questions of at most `limit` runs, each with its run, and where the next page begins.

    Which runs ask is read from an index that follows the table; what each of them asks is read from its log,
    also where a part of that is gone: nobody's other questions wait for it.
    """
    asking, next = runs.asking(account_id, limit, after)
    found = [runs.remains(run_id) for run_id in asking]
    return [(run, asked) for run, log in found if run and log for asked in approvals.open_in(log)], next
