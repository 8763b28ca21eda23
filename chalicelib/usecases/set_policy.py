"""Set an account's policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.core import grants, recipe
from chalicelib.core.policy import Policy, following
from chalicelib.core.tools import ToolSpec
from chalicelib.ports.agent_store import AgentStore
from chalicelib.ports.clock import Clock
from chalicelib.ports.policy_book import PolicyBook


def set_policy(
    asked: list[Any],
    seen: int,
    *,
    account_id: str,
    actor: str,
    built_in: Iterable[ToolSpec],
    agents: AgentStore,
    policies: PolicyBook,
    clock: Clock,
) -> Policy:
    """Replace the policy of the version that the caller has seen (0: none). The same rules again are no change.

    Rules may be about built-in tools, and about those that the account's agents declare now. Raises `InvalidInput`, and
    `Conflict` if another policy stands by now.
    """
    rules = grants.parse(asked, field="permissions", specs=(*built_in, *_declared(account_id, agents)))
    standing = policies.policy(account_id)
    if standing.version == seen + 1 and standing.rules == rules and standing.set_by == actor:
        return standing
    new = following(standing, seen, Policy(rules=rules, set_at=clock.now(), set_by=actor))
    kept = policies.replace(account_id, new)
    return kept if kept == new else following(kept, seen, new)


def _declared(account_id: str, agents: AgentStore) -> Iterator[ToolSpec]:
    for agent in agents.listed(account_id):
        yield from recipe.declared_specs(agent)
