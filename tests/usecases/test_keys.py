"""Keys: made, found again by their secret, revoked."""

from __future__ import annotations

import pytest

from chalicelib.core.api_key import Scope
from chalicelib.core.errors import NotFound, Unauthenticated
from chalicelib.ports.key_store import KeyStore
from chalicelib.usecases.identify import identify
from chalicelib.usecases.list_keys import list_keys
from chalicelib.usecases.make_key import make_key
from chalicelib.usecases.revoke_key import revoke_key
from tests.virtual_time import CountedChance, VirtualTime

TIME = VirtualTime()
READ = frozenset({Scope.READ})


def test_a_key_is_known_by_its_secret_until_it_is_revoked(api_keys: KeyStore) -> None:
    key, secret = make_key("x", READ, account_id="acme", keys=api_keys, clock=TIME, chance=CountedChance())

    assert identify(secret, keys=api_keys) == key
    revoke_key(key.key_id, account_id="acme", keys=api_keys, clock=TIME)
    with pytest.raises(Unauthenticated) as refusal:
        identify(secret, keys=api_keys)

    assert refusal.value.code == "key_revoked"


def test_a_secret_that_nobody_has_is_refused(api_keys: KeyStore) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        identify("pawl_guess", keys=api_keys)

    assert refusal.value.code == "unauthenticated"


def test_keys_of_an_account_are_listed_oldest_first(api_keys: KeyStore) -> None:
    time, chance = VirtualTime(), CountedChance()
    for name in ("first", "second"):
        make_key(name, READ, account_id="acme", keys=api_keys, clock=time, chance=chance)
        time.advance(1)
    make_key("theirs", READ, account_id="globex", keys=api_keys, clock=time, chance=chance)

    assert [key.name for key in list_keys(account_id="acme", keys=api_keys)] == ["first", "second"]


def test_only_an_accounts_own_key_can_be_revoked(api_keys: KeyStore) -> None:
    key, secret = make_key("x", READ, account_id="acme", keys=api_keys, clock=TIME, chance=CountedChance())

    with pytest.raises(NotFound) as refusal:
        revoke_key(key.key_id, account_id="globex", keys=api_keys, clock=TIME)

    assert refusal.value.code == "key_not_found"
    assert identify(secret, keys=api_keys) == key
