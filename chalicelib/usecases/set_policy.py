"""Set an account's policy."""

from __future__ import annotations

from chalicelib.core.permissions import Grant
from chalicelib.core.policy import Policy, following
from chalicelib.ports.clock import Clock
from chalicelib.ports.policy_book import PolicyBook


def set_policy(
    rules: tuple[Grant, ...], seen: int, *, account_id: str, actor: str, policies: PolicyBook, clock: Clock
) -> Policy:
    """Replace the policy of the version that the caller has seen (0: none). The same rules again are no change.

    Raises `Conflict` if another one stands by now.
    """
    standing = policies.policy(account_id)
    if standing.version == seen + 1 and standing.rules == rules and standing.set_by == actor:
        return standing
    new = following(standing, seen, Policy(rules=rules, set_at=clock.now(), set_by=actor))
    kept = policies.replace(account_id, new)
    return kept if kept == new else following(kept, seen, new)
