"""A job of the tick goes from one thing to the next, past what fails, until its time is up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TypeVar

from chalicelib.ports.clock import Clock

T = TypeVar("T")

log = logging.getLogger(__name__)


class Tour:
    """One round of a job. `until`: when its time is up; None where nobody waits for it."""

    def __init__(self, job: str, *, clock: Clock, until: datetime | None = None) -> None:
        self._job = job
        self._clock = clock
        self._until = until
        self._faults: list[Exception] = []

    @property
    def over(self) -> bool:
        """Whether its time is up."""
        return self._until is not None and self._clock.now() >= self._until

    def past(self, due: Iterable[T]) -> Iterator[T]:
        """What is due, one after the other, until the time is up. The rest is still due at the next tick."""
        for each in due:
            if self.over:
                return
            yield each

    def alone(self, do: Callable[[], T], **named: str) -> T | None:
        """What `do` gives; None if it failed. `named` says of what: it is logged at once, and `end` raises it."""
        try:
            return do()
        except ExceptionGroup as told:
            self._faults += told.exceptions
        except Exception as fault:
            # Whatever one run does, a fault of ours too, the others must not wait for it. Nothing is dropped: the
            # tick fails by it in the end.
            log.exception("%s goes on past a fault", self._job, extra={"action": self._job, **named})
            self._faults.append(fault)
        return None

    def end(self) -> None:
        """Raises what was met on the way."""
        if self._faults:
            raise ExceptionGroup(f"{self._job} met faults", self._faults)
