"""Secrets in the SSM parameter store, as SecureStrings under `<prefix>/<account>/<name>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from chalicelib.adapters.aws.retry import Retry
from chalicelib.core.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
"""Of an account or a secret: neither leads out of its folder."""


class ParameterSecrets:
    """A `Secrets`. Each is read when it is asked for, so that a new value counts at once."""

    def __init__(self, client: SSMClient, prefix: str, retry: Retry) -> None:
        self._client = client
        self._prefix = prefix
        self._retry = retry

    def get(self, account_id: str, name: str) -> str | None:
        if not (_NAME.fullmatch(account_id) and _NAME.fullmatch(name)):
            return None
        path = f"{self._prefix}/{account_id}/{name}"
        try:
            return self._retry(lambda: self._client.get_parameter(Name=path, WithDecryption=True))["Parameter"]["Value"]
        except ClientError as fault:
            if fault.response["Error"]["Code"] == "ParameterNotFound":
                return None
            raise Unavailable(f"the parameter store refused {path}: {fault}") from fault
