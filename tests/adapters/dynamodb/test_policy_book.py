"""A policy is replaced by one that has seen it, and by no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.adapters.dynamodb.policy_book import DynamoPolicyBook
from chalicelib.core.errors import Conflict
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.policy import Policy
from chalicelib.usecases.set_policy import set_policy
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TIME = VirtualTime()
RULES = (Grant(Ruling.ALLOW, "http_get", {"host": {"host_in": ["*.acme.com"]}}, 5, True), Grant(Ruling.DENY, "*"))
FIRST = Policy(1, RULES, TIME.now(), "key_1")


@pytest.fixture
def book(dynamodb: DynamoDBClient, table: str) -> DynamoPolicyBook:
    return DynamoPolicyBook(dynamodb, table, clock=TIME, chance=CountedChance())


def test_a_policy_is_kept_whole(book: DynamoPolicyBook) -> None:
    assert book.policy("acme") == Policy()
    assert book.replace("acme", FIRST) == FIRST
    assert book.policy("acme") == FIRST
    assert book.policy("evil") == Policy()


def test_of_two_who_have_seen_the_same_the_second_is_told_what_stands(book: DynamoPolicyBook) -> None:
    rival = replace(FIRST, rules=(), set_by="key_2")
    book.replace("acme", FIRST)

    assert book.replace("acme", rival) == FIRST
    second = replace(rival, version=2)
    assert book.replace("acme", second) == second
    assert book.replace("acme", replace(FIRST, version=2)) == second


def test_a_write_that_was_made_before_is_known_again(book: DynamoPolicyBook) -> None:
    book.replace("acme", FIRST)
    assert book.replace("acme", FIRST) == FIRST


class Slow(DynamoPolicyBook):
    """Somebody else sets a policy between its reading and its writing."""

    def policy(self, account_id: str) -> Policy:
        seen = super().policy(account_id)
        super().replace(account_id, FIRST)
        return seen


def test_who_loses_the_race_is_refused(dynamodb: DynamoDBClient, table: str) -> None:
    slow = Slow(dynamodb, table, clock=TIME, chance=CountedChance())
    agents = DynamoAgentStore(dynamodb, table, clock=TIME, chance=CountedChance())
    with pytest.raises(Conflict) as refused:
        set_policy([], 0, account_id="acme", actor="key_2", built_in=(), agents=agents, policies=slow, clock=TIME)
    assert refused.value.code == "policy_changed"
