"""Secrets in the parameter store: the account's own, as they are at the moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError

from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.aws.secrets import ParameterSecrets
from chalicelib.core.errors import Unavailable
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

PREFIX = "/pawl/dev/secrets"


@pytest.fixture
def ssm(aws: None) -> SSMClient:
    made = client("ssm")
    for path, value in [("acme/token", "one two three"), ("evil/token", "not ours"), ("acme/deep/token", "deeper")]:
        made.put_parameter(Name=f"{PREFIX}/{path}", Value=value, Type="SecureString", Overwrite=True)
    return made


def secrets(ssm: SSMClient) -> ParameterSecrets:
    return ParameterSecrets(ssm, PREFIX, Retry(VirtualTime(), CountedChance()))


def test_a_secret_is_the_accounts_own_decrypted_and_as_it_is_now(ssm: SSMClient) -> None:
    assert secrets(ssm).get("acme", "token") == "one two three"
    ssm.put_parameter(Name=f"{PREFIX}/acme/token", Value="changed", Type="SecureString", Overwrite=True)
    assert secrets(ssm).get("acme", "token") == "changed"


@pytest.mark.parametrize(
    ("account_id", "name"),
    [("acme", "nothing"), ("acme", "../evil/token"), ("acme", "deep/token"), ("acme/../evil", "token"), ("", "token")],
)
def test_what_is_not_there_or_leads_elsewhere_is_none(ssm: SSMClient, account_id: str, name: str) -> None:
    assert secrets(ssm).get(account_id, name) is None


@contextmanager
def answering(ssm: SSMClient, code: str) -> Iterator[None]:
    """Every request of the block is answered with that error."""

    def refuse(**kwargs: object) -> None:
        response = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": 400}}
        raise ClientError(response, "GetParameter")  # type: ignore[arg-type]

    ssm.meta.events.register_first("before-call.ssm.GetParameter", refuse)
    yield
    ssm.meta.events.unregister("before-call.ssm.GetParameter", refuse)


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
def test_a_store_that_is_too_busy_or_closed_to_us_is_unavailable(ssm: SSMClient, code: str) -> None:
    with answering(ssm, code), pytest.raises(Unavailable):
        secrets(ssm).get("acme", "token")
