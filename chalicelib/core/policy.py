"""An account's policy: the layer of rules that holds for every run of the account, whatever its agent says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.core.errors import Conflict
from chalicelib.core.permissions import Grant


@dataclass(frozen=True, slots=True)
class Policy:
    """`version` rises by one with each change; 0 is that of an account that never had one, and says nothing.

    `set_by` is the key that it was set with.
    """

    version: int = 0
    rules: tuple[Grant, ...] = ()
    set_at: datetime | None = None
    set_by: str | None = None


def following(standing: Policy, seen: int, new: Policy) -> Policy:
    """The new policy in the place of the standing one. Raises `Conflict` if that is not the one that was seen."""
    if standing.version != seen:
        detail = f"the policy has version {standing.version} by now"
        raise Conflict("policy_changed", detail, field="version", expected=str(standing.version))
    return replace(new, version=seen + 1)
