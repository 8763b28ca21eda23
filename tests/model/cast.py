"""Everybody who can act in a search, and every position in which they can stand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from typing import Any, NamedTuple

from chalicelib.core.errors import Unavailable
from tests.model.promises import Broken
from tests.model.puppet import Asked, History, Ports, Surroundings
from tests.model.table import Call, Result, Shelf

Role = tuple[Any, ...]
"""What is run: a name, and its arguments."""


class Position(NamedTuple):
    """Where somebody stands: waiting for the answer to `call`, or through with `outcome`."""

    role: Role
    label: str
    history: History
    call: Call | None
    outcome: Any
    ids: int


class Cast:
    """Everybody who can act, and every position in which they can stand."""

    def __init__(self, shelf: Shelf, around: Surroundings, roles: dict[str, Callable[..., Any]]) -> None:
        self._shelf = shelf
        self._around = around
        self._roles = roles
        self._numbers: dict[Hashable, int] = {}
        self._positions: list[Position] = []
        self._memo: dict[tuple[int, Result, datetime], int] = {}

    def __getitem__(self, number: int) -> Position:
        return self._positions[number]

    def __len__(self) -> int:
        return len(self._positions)

    def begin(self, role: Role, label: str, offset: int, now: datetime) -> int:
        """The position before the first question."""
        return self._run(role, label, offset, ((("begins", offset), now),))

    def go_on(self, number: int, result: Result, now: datetime) -> int:
        """The position after this answer."""
        key = (number, result, now)
        found = self._memo.get(key)
        if found is None:
            role, label, history, _, _, _ = self._positions[number]
            found = self._memo[key] = self._run(role, label, history[0][0][1], (*history, (result, now)))
        return found

    def _run(self, role: Role, label: str, offset: int, history: History) -> int:
        ports = Ports(self._shelf, self._around, label, offset, history)
        call, outcome = None, None
        try:
            outcome = self._roles[role[0]](ports, *role[1:])
            place: Hashable = ("through", self._shelf.freezer.freeze(outcome))
        except Unavailable:
            place = ("gives up",)
        except Exception as fault:
            raise Broken(f"{label}: {type(fault).__name__}: {fault}") from fault
        except Asked as asked:
            call, place = asked.call, (asked.call, asked.place)
        return self._numbered((role, label, ports.ids, place), Position(role, label, history, call, outcome, ports.ids))

    def _numbered(self, key: Hashable, position: Position) -> int:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._positions)
            self._positions.append(position)
        return found
