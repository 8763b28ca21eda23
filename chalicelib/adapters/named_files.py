"""The files of runs as code finds them: by their names. Of several of one name, the one that was left last."""

from __future__ import annotations

import mimetypes

from chalicelib.adapters.tools.toolbox import ToolProblem
from chalicelib.core import files as rules
from chalicelib.core.errors import NoRoom
from chalicelib.core.tools import FileRef
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.run_store import RunStore


class NamedFiles:
    """A `RunFiles`."""

    def __init__(self, files: FileStore, runs: RunStore) -> None:
        self._files = files
        self._runs = runs

    def content(self, run_id: str, name: str) -> bytes:
        found = self._files.of_run(run_id)
        named = [file for file in (*found.inputs, *found.artifacts) if file.name == rules.fit(name)]
        if not named:
            raise KeyError(name)
        return self._files.read(run_id, named[-1].file_id)

    def keep(self, run_id: str, name: str, content: bytes) -> FileRef:
        account_id = self._runs.page(run_id, -1, 1, strong=True).account_id
        assert account_id is not None, "code runs in a run"
        media_type = mimetypes.guess_type(name)[0] or rules.OTHER
        try:
            return self._files.keep(run_id, account_id, name, content, media_type)
        except NoRoom as fault:
            raise ToolProblem(f"The file {name[:100]!r} was not kept: {fault}.") from fault
