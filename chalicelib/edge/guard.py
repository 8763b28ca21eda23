"""Who may watch: the API keys of the REST API, remembered as long as API Gateway remembers them, and tickets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from chalicelib.core import api_key, ticket
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.core.ticket import Ticket
from chalicelib.edge.pace import Pace

REMEMBERED = 60.0
"""Seconds, as the authorizer of app.py has it."""


class Guard:
    """`find` looks up the key of a secret, `verify` reads a ticket; both raise `Unauthenticated` for one that does not
    count."""

    def __init__(
        self, find: Callable[[str], Awaitable[ApiKey]], verify: Callable[[str], Awaitable[Ticket]], pace: Pace
    ) -> None:
        self._find = find
        self._verify = verify
        self._pace = pace
        self._known: dict[str, tuple[float, ApiKey]] = {}

    async def let_in(self, authorization: str, *needs: Scope) -> ApiKey:
        """The key that was sent. Raises `Unauthenticated`, and `Forbidden` if it lacks a scope."""
        key = await self._key(api_key.bearer(authorization))
        for scope in needs:
            api_key.permit(key.scopes, scope)
        return key

    async def admit(self, sent: str, run_id: str, needs: Scope) -> Ticket:
        """The ticket that was sent. Raises `Unauthenticated`, and `Forbidden` if it does not go so far."""
        shown = await self._verify(sent)
        api_key.permit(shown.scopes, needs)
        ticket.permit(shown.run_id, run_id)
        return shown

    async def _key(self, secret: str) -> ApiKey:
        digest, now = api_key.digest(secret), self._pace.now()
        until, key = self._known.get(digest, (now, None))
        if key is not None and until > now:
            return key
        self._known.pop(digest, None)
        key = await self._find(secret)
        self._known[digest] = (now + REMEMBERED, key)
        return key
