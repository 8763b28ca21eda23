"""Where the parts of events that are too large for the log are kept."""

from __future__ import annotations

from typing import Protocol


class PayloadStore(Protocol):
    def put(self, key: str, body: bytes) -> None:
        """Keep `body`; the same again is one."""

    def get(self, key: str) -> bytes:
        """What was put under `key`. Raises `KeyError` if nothing is there."""

    def first_under(self, prefix: str) -> str | None:
        """A key that begins with `prefix`; None if there is none."""

    def delete_under(self, prefix: str) -> None:
        """Delete everything whose key begins with `prefix`."""
