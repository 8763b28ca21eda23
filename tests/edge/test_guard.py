"""Whose key it is, asked once a minute."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.core import api_key, ticket
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.core.errors import Forbidden, Unauthenticated
from chalicelib.core.ticket import Ticket
from chalicelib.edge.guard import Guard
from tests.builders import NOON, RUN_ID, a_key, run_id
from tests.edge.hand_pace import HandPace
from tests.edge.test_tail import tell

SECRET = b"s" * 32


class Book:
    """Finds one key, until it is revoked; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.revoked = False

    async def find(self, secret: str) -> ApiKey:
        self.asked += 1
        if self.revoked or secret != "pawl_1":
            raise Unauthenticated("unauthenticated", "nobody has this API key")
        return replace(a_key(), digest=api_key.digest(secret))

    async def verify(self, sent: str) -> Ticket:
        return ticket.verify(sent, SECRET, NOON)


def a_guard() -> Guard:
    book = Book()
    return Guard(book.find, book.verify, HandPace())


def test_a_key_is_looked_up_once_a_minute_and_a_revoked_one_counts_no_longer() -> None:
    async def story() -> None:
        book, pace = Book(), HandPace()
        guard = Guard(book.find, book.verify, pace)
        for _ in range(100):
            assert (await guard.let_in("Bearer pawl_1", Scope.READ)).account_id == "acme"
        assert book.asked == 1
        book.revoked = True
        await pace.turn(59)
        await guard.let_in("Bearer pawl_1")
        await pace.turn(1)
        with pytest.raises(Unauthenticated):
            await guard.let_in("Bearer pawl_1")

    tell(story)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic cGF3bA==", "pawl_1", "Bearer pawl_2"])
def test_nobody_comes_in_without_a_key_that_counts(header: str) -> None:
    async def story() -> None:
        with pytest.raises(Unauthenticated):
            await a_guard().let_in(header)

    tell(story)


def test_a_key_must_have_every_scope_that_is_needed() -> None:
    async def story() -> None:
        guard = a_guard()
        await guard.let_in("Bearer pawl_1", Scope.READ, Scope.RUN)
        with pytest.raises(Forbidden):
            await guard.let_in("Bearer pawl_1", Scope.READ, Scope.ADMIN)

    tell(story)


def a_ticket(*scopes: Scope, run: str | None = None) -> str:
    return ticket.sign(Ticket("acme", "key_1", frozenset(scopes), run, NOON + ticket.COUNTS_FOR), SECRET)


def test_a_ticket_lets_in_for_its_run_and_its_scopes() -> None:
    async def story() -> None:
        guard, bound = a_guard(), a_ticket(Scope.READ, run=RUN_ID)
        assert (await guard.admit(bound, RUN_ID, Scope.READ)).account_id == "acme"
        with pytest.raises(Forbidden):
            await guard.admit(bound, run_id(2), Scope.READ)
        with pytest.raises(Forbidden):
            await guard.admit(a_ticket(Scope.RUN), RUN_ID, Scope.READ)
        with pytest.raises(Unauthenticated):
            await guard.admit(bound[:-1], RUN_ID, Scope.READ)

    tell(story)
