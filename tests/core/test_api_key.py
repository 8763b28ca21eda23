"""API keys: what is told, what is kept."""

from __future__ import annotations

import pytest

from chalicelib.core import api_key
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import InvalidInput

READ = frozenset({Scope.READ})


def test_a_secret_says_whose_kind_it_is_and_carries_256_bits() -> None:
    secret = api_key.secret(bytes(range(32)))

    assert secret == "pawl_" + bytes(range(32)).hex()
    assert len(secret) == 5 + 64


def test_what_is_kept_of_a_secret_does_not_contain_it() -> None:
    secret = api_key.secret(bytes(range(32)))

    assert api_key.digest(secret) == api_key.digest(secret)
    assert secret.removeprefix("pawl_") not in api_key.digest(secret)


@pytest.mark.parametrize(
    ("name", "scopes", "code", "field"),
    [
        ("", READ, "text_empty", "name"),
        ("  ", READ, "text_empty", "name"),
        ("n" * 101, READ, "text_too_long", "name"),
        ("laptop", frozenset[Scope](), "invalid_scopes", "scopes"),
    ],
)
def test_a_key_needs_a_name_and_a_scope(name: str, scopes: frozenset[Scope], code: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        api_key.check(name, scopes)

    assert (refusal.value.code, refusal.value.field) == (code, field)


def test_a_name_of_a_hundred_characters_will_do() -> None:
    api_key.check("n" * 100, READ)
