"""Take an agent away from new runs."""

from __future__ import annotations

from chalicelib.core import recipe
from chalicelib.core.account import no_such_agent
from chalicelib.core.errors import Conflict
from chalicelib.ports.agent_store import AgentStore
from chalicelib.ports.clock import Clock


def delete_agent(name: str, *, account_id: str, reserved: frozenset[str], store: AgentStore, clock: Clock) -> None:
    """No new run can name the agent; those that have begun go on with their version. Raises `NotFound`, `Conflict`."""
    if name in reserved:
        raise Conflict("agent_built_in", f"{name} comes along with Pawl", field="name", expected="an agent of your own")
    if not recipe.is_name(name) or not store.unlist(account_id, name, clock.now()):
        raise no_such_agent()
