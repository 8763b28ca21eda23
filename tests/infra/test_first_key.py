"""The key that opens a new deployment."""

from __future__ import annotations

import pytest

from chalicelib.core.api_key import Scope
from chalicelib.ports.key_store import KeyStore
from chalicelib.usecases.identify import identify
from infra.first_key import main


def test_the_first_key_may_make_others_and_its_secret_is_all_that_goes_to_the_standard_output(
    table: str, api_keys: KeyStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--table", table]) == 0

    told = capsys.readouterr()
    key = identify(told.out.rstrip("\n"), keys=api_keys)
    assert (key.account_id, key.scopes) == ("default", frozenset({Scope.ADMIN}))
    assert told.out.rstrip("\n") not in told.err


def test_account_name_and_scopes_can_be_chosen(
    table: str, api_keys: KeyStore, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--table", table, "--account", "acme", "--name", "ops", "--scope", "read", "--scope", "run"])

    key = identify(capsys.readouterr().out.rstrip("\n"), keys=api_keys)
    assert (key.account_id, key.name, key.scopes) == ("acme", "ops", frozenset({Scope.READ, Scope.RUN}))


def test_a_key_without_a_name_is_refused_and_none_is_made(
    table: str, api_keys: KeyStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--table", table, "--name", ""]) == 2

    assert capsys.readouterr().err.startswith("name: ")
    assert api_keys.of_account("default") == []
