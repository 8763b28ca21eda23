"""API keys in the table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, a_key

LATER = NOON + timedelta(hours=1)


def test_a_key_is_found_by_its_digest(api_keys: DynamoKeyStore) -> None:
    api_keys.add(a_key())

    assert api_keys.find(a_key().digest) == a_key()
    assert api_keys.find("e" * 64) is None


def test_an_account_sees_its_own_keys_oldest_first(api_keys: DynamoKeyStore) -> None:
    young = a_key(key_id="key_a", digest="a" * 64, created_at=LATER)
    old = a_key(key_id="key_b", digest="b" * 64)
    for key in (young, old, a_key(key_id="key_c", digest="c" * 64, account_id="other")):
        api_keys.add(key)

    assert api_keys.of_account("acme") == [old, young]


def test_a_revoked_key_is_still_found_and_says_since_when(api_keys: DynamoKeyStore) -> None:
    api_keys.add(a_key())

    revoked = api_keys.revoke("acme", "key_1", LATER)

    assert revoked == replace(a_key(), revoked_at=LATER)
    assert api_keys.find(a_key().digest) == revoked
    assert api_keys.of_account("acme") == [revoked]


def test_the_first_revocation_stands(api_keys: DynamoKeyStore) -> None:
    api_keys.add(a_key())
    first = api_keys.revoke("acme", "key_1", NOON)

    assert api_keys.revoke("acme", "key_1", LATER) == first


def test_nobody_revokes_what_is_not_theirs(api_keys: DynamoKeyStore) -> None:
    api_keys.add(a_key())

    assert api_keys.revoke("other", "key_1", LATER) is None
    assert api_keys.revoke("acme", "key_", LATER) is None
    assert api_keys.find(a_key().digest) == a_key()


def test_a_key_whose_answer_was_lost_is_kept_once(api_keys: DynamoKeyStore, line: BadLine) -> None:
    line.meets(answer_lost())

    api_keys.add(a_key())

    assert api_keys.of_account("acme") == [a_key()]


def test_a_late_copy_does_not_bring_a_revoked_key_back(api_keys: DynamoKeyStore, line: BadLine) -> None:
    api_keys.add(a_key())
    copy = line.sent[-1]
    revoked = api_keys.revoke("acme", "key_1", LATER)

    line.repeat(copy)

    assert api_keys.find(a_key().digest) == revoked
