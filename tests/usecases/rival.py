"""A store in which somebody else comes first: how races are interleaved by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from chalicelib.ports.run_store import RunStore


class _Beaten:
    def __init__(self, runs: RunStore, method: str, rival: Callable[[], object], times: int) -> None:
        self._runs = runs
        self._method = method
        self._rival = rival
        self._left = times

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._runs, name)
        return self._after_the_rival(found) if name == self._method else found

    def _after_the_rival(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def beaten(*args: Any, **kwargs: Any) -> Any:
            if self._left:
                self._left -= 1
                self._rival()
            return call(*args, **kwargs)

        return beaten


def beaten(runs: RunStore, method: str, rival: Callable[[], object], times: int = 1) -> RunStore:
    """The store, but the first calls of `method` come after something that `rival` does."""
    return cast(RunStore, _Beaten(runs, method, rival, times))
