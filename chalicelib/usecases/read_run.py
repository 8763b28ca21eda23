"""One run, and the last event of its log."""

from __future__ import annotations

from chalicelib.core.account import no_such_run, owned
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.run_store import RunStore


def read_run(run_id: str, *, account_id: str, runs: RunStore) -> tuple[Run, Event]:
    """The run as it stands. Raises `NotFound`.

    Run and event are two items, read one after the other: a run that ended in between is read again, and shows its end.
    """
    run, last = _tail(run_id, account_id, runs)
    return (run, last) if run.status.terminal == last.ends else _tail(run_id, account_id, runs)


def _tail(run_id: str, account_id: str, runs: RunStore) -> tuple[Run, Event]:
    found = runs.tail(run_id)
    if found is None:
        raise no_such_run()
    return owned(found[0], account_id), found[1]
