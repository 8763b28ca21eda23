"""A way to a file of a run."""

from __future__ import annotations

from chalicelib.core import files as rules
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.run_store import RunStore
from chalicelib.usecases.read_run import read_run


def link_file(run_id: str, file_id: str, *, account_id: str, runs: RunStore, files: FileStore) -> str:
    """A URL that leads to the file for some minutes. Raises `NotFound`."""
    read_run(run_id, account_id=account_id, runs=runs)
    file = files.of_run(run_id).find(file_id)
    if file is None:
        raise rules.no_such_file()
    return files.link(run_id, file, int(rules.LINK_FOR.total_seconds()))
