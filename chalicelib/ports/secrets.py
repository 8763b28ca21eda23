"""What tools need to be let in elsewhere, by name; told to nobody but the tool, at the call."""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    def get(self, account_id: str, name: str) -> str | None:
        """The account's secret of that name as it is now, None if there is none. Raises `Unavailable`."""
