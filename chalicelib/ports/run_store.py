"""Where runs and their logs are kept. Every write of a run goes through here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.core.change import Change
from chalicelib.core.events import Event
from chalicelib.core.run import Run, Status


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to one Query. `run` is absent where the page was full before it was reached.

    `account_id` is whose log this is, on a full page too; None where there is no such run.
    """

    events: tuple[Event, ...]
    run: Run | None
    account_id: str | None


@dataclass(frozen=True, slots=True)
class Claim:
    """An idempotency key of an account, the digest of the payload it came with, and how long it counts."""

    key: str
    payload_digest: str
    expires_at: datetime


class KeyTaken(Exception):  # noqa: N818 - named by what happened
    """The idempotency key stands already, for `run_id` and a payload of that digest."""

    def __init__(self, run_id: str, payload_digest: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id
        self.payload_digest = payload_digest


class RunStore(Protocol):
    """Writes raise `Unavailable` when their outcome could not be learned within the adapter's bounded retries."""

    def create(self, run: Run, first: Event, claim: Claim | None) -> None:
        """Put run, event 0 and, if given, the claim in one transaction. Raises `KeyTaken` or `Collision`."""

    def look_up(self, run_id: str) -> Run | None:
        """The run alone, read strongly; one that was deleted and is not erased yet, too. All other reads hide that."""

    def page(self, run_id: str, since: int, limit: int, *, strong: bool = False) -> Page:
        """One Query: the event at the cursor, at most `limit` events after it, and the run behind them."""

    def log(self, run_id: str, since: int = -1) -> tuple[Run | None, list[Event]]:
        """The run and the unbroken prefix of its log after `since`, read strongly, however many pages that takes.

        Raises `PayloadMissing`.
        """

    def remains(self, run_id: str) -> tuple[Run | None, list[Event]]:
        """The same of a whole log, for whoever only ends the run: what is gone of an event is named in it."""

    def tail(self, run_id: str) -> tuple[Run, Event] | None:
        """The run and the last event of its log, read strongly by one Query from the end.

        What is gone of the event is named in it. Of a run whose log is gone, it comes from the archive, and if that
        is gone too, this raises `PayloadMissing`.
        """

    def archive(self, run_id: str) -> Event | None:
        """The snapshot that stands for the run's whole log, read strongly; None if the run was never archived.

        Raises `PayloadMissing`.
        """

    def payload(self, run_id: str, digest: str) -> bytes | None:
        """The JSON that an event of the run refers to by its digest; None if there is none."""

    def append(self, run: Run, event: Event) -> None:
        """One conditional put. Raises `Collision` with the event that stands there, unless it is this very write."""

    def commit(self, change: Change) -> None:
        """The run's change, what it means for the account's slots, and its events, in one transaction.

        Raises `Collision`, `RunMoved`, and `NoSlot` where the run was to take a slot and there is none.
        """

    def renew(self, run: Run) -> Run:
        """Write the lease of `run`, on the condition of its attempt and that a lease is there. Raises `LeaseLost`.

        Gives the run as it then stands, with the lease of a later renewal if there was one.
        """

    def hand_back(self, run: Run) -> None:
        """Remove the lease, on the same condition. Raises `LeaseLost`."""

    def raise_start(self, run: Run, due_at: datetime) -> Run:
        """Count the run's executions up by one, if number, status and attempt are as read; one in line gets its slot.

        Raises `RunMoved` and `NoSlot`.
        """

    def line_up(self, run: Run) -> None:
        """Note that the run, which has not begun, stands in line. Raises `RunMoved`, also if there is a slot by now."""

    def keep_token(self, run: Run, token: str) -> None:
        """Keep what wakes the run's execution, if it is still in the same start and wait, without an answer.

        From then on an execution stands by, and the run is due when its wait is over. Raises `RunMoved`.
        """

    def delete(self, run: Run, at: datetime) -> None:
        """Note that the ended run is deleted: no other read finds it from then on. The first time stands."""

    def stamp_watched(self, run_id: str, until: datetime) -> None:
        """Note that somebody follows the run; an unfinished run only, and never backwards."""

    def of_account(
        self, account_id: str, status: Status | None, limit: int, after: str | None
    ) -> tuple[Sequence[Run], str | None]:
        """The account's runs, newest first, and where the next page begins (perhaps before `limit` are found).

        Eventually consistent, and of each run only what a list shows: its hold, start and wait are not there.
        """

    def asking(self, account_id: str, limit: int, after: str | None) -> tuple[Sequence[str], str | None]:
        """The ids of the account's runs with open approvals, oldest first, and where the next page begins.

        Eventually consistent: what a run asks is for its log to say.
        """

    def due(self, now: datetime, limit: int) -> Sequence[Run]:
        """At most `limit` unfinished runs whose `due_at` has passed, the longest overdue first."""
