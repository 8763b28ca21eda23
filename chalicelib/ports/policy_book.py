"""The policies of accounts."""

from __future__ import annotations

from typing import Protocol

from chalicelib.core.policy import Policy


class PolicyBook(Protocol):
    def policy(self, account_id: str) -> Policy:
        """The account's policy as it stands, read strongly."""

    def replace(self, account_id: str, policy: Policy) -> Policy:
        """Keep the policy, if the version before it is the one that stands. What stands then: this one, or somebody
        else's."""
