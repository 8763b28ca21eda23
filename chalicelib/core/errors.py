"""Every fault, drawn as a tree. What must happen next decides the branch; the wire's status is decided at the edge.

Fault
├── Refusal                 the caller must change something; told to the caller with a stable `code`
│   ├── InvalidInput        a field, a type, a range
│   ├── Unauthenticated     no key, or none that counts
│   ├── Forbidden           a key without the scope
│   ├── NotFound            no such thing in this account
│   ├── Conflict            it stands otherwise already
│   ├── KeyReused           an idempotency key with another payload
│   └── TooLarge            more than one answer holds, or one request may have
├── Race                    somebody else wrote first; read again and decide again
│   ├── Collision           an event stands at that seq already
│   ├── RunMoved            the run is no longer what was read
│   ├── VersionTaken        an agent has got another version
│   └── LeaseLost           the hold on the run is gone: stop
├── NoSlot                  the account has as many runs at work as it may have: stand in line
├── NoRoom                  a run has all the files that it may have
├── PayloadMissing          a part of a run's log is gone: nobody can go on from it, it can only be ended
├── IllegalMove             a status and a trigger that the table does not know: our own mistake
├── ModelFault              the provider
│   ├── ModelUnavailable    worth another try, later
│   └── ModelRefused        the same request would be refused again
├── EgressFault             a place on the internet was not asked, or did not answer
│   ├── EgressRefused       it may not be reached: nothing was sent there
│   └── EgressFailed        it may be, and the answer did not come, or not whole
├── MailFault               a mail
│   ├── MailRefused         it was not sent, and would not be
│   └── MailInDoubt         it may have been sent
└── Unavailable             a service of the platform does not answer; nothing is known to be lost
    ├── WorkflowUnavailable
    └── SandboxUnavailable  no place that would contain code
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.core.events import Event
    from chalicelib.core.run import Status, Trigger


class Fault(Exception):  # noqa: N818 - the root of a tree whose leaves say what happened
    """The root; never raised itself."""


class Refusal(Fault):
    """Something the caller can mend. `code` is stable and part of the API; `detail` is for people."""

    def __init__(self, code: str, detail: str, *, field: str | None = None, expected: str | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.field = field
        self.expected = expected


class InvalidInput(Refusal):
    """The request says something that cannot be meant."""


class Unauthenticated(Refusal):
    """No key, or none that counts."""


class Forbidden(Refusal):
    """The key is good, its scopes do not reach this far."""


class NotFound(Refusal):
    """No such thing in this account; another account's thing answers the same."""


class Conflict(Refusal):
    """What is asked for contradicts what stands already."""


class KeyReused(Refusal):
    """An idempotency key came again with another payload."""


class TooLarge(Refusal):
    """It is there, and more than one answer holds; or it was sent, and more than one request may have."""


class Race(Fault):
    """Somebody else wrote first."""


class Collision(Race):
    """An event stands at the seq that was to be written. `found` is that event."""

    def __init__(self, found: Event) -> None:
        super().__init__(f"seq {found.seq} holds {found.type}")
        self.found = found


class RunMoved(Race):
    """The run is no longer in the state from which the change was made."""


class VersionTaken(Race):
    """The agent's newest version is no longer the one that was read."""


class LeaseLost(Race):
    """The hold on the run is gone; whoever meets this stops and writes nothing more."""


class NoSlot(Fault):
    """The account has as many runs at work as it may have, or another one goes first."""


class NoRoom(Fault):
    """A run has all the files that it may have, or the file is larger than one may be."""


class PayloadMissing(Fault):
    """What a run's log, or its archive, refers to is gone from the payload store. No retry brings it back."""

    code = "log_unreadable"
    detail = "a part of the run's log is gone from the payload store"
    field = expected = None

    def __init__(self, run_id: str, key: str) -> None:
        super().__init__(f"{run_id} refers to {key}, which is gone")
        self.run_id = run_id
        self.key = key


class IllegalMove(Fault):
    """The table of transitions has no such edge."""

    def __init__(self, status: Status, trigger: Trigger) -> None:
        super().__init__(f"a {status} run knows no {trigger}")
        self.status = status
        self.trigger = trigger


class ModelFault(Fault):
    """The provider did not give a whole reply."""


class ModelUnavailable(ModelFault):
    """Worth another try. `retry_after` is in seconds, None where the provider did not say."""

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class ModelRefused(ModelFault):
    """The same request would be refused again: a bad key, an unknown model, a prompt over the limit."""


class EgressFault(Fault):
    """`code` is stable, and says what was wrong with the place or with its answer; `detail` is for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class EgressRefused(EgressFault):
    """The place may not be reached. Nothing was sent there."""


class EgressFailed(EgressFault):
    """The place may be reached, and its answer did not come, or not whole, or not in time."""


class MailFault(Fault):
    """A mail is not known to be on its way."""


class MailRefused(MailFault):
    """It was certainly not sent; the text says why."""


class MailInDoubt(MailFault):
    """It was handed over, and no answer came that says what became of it."""


class Unavailable(Fault):
    """A service of the platform does not answer, after the bounded retries of its adapter."""


class WorkflowUnavailable(Unavailable):
    """Step Functions took no start; the sweeper tries again."""


class SandboxUnavailable(Unavailable):
    """Code can't be contained here, so it is not run. The text says what to do about it."""
