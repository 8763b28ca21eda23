"""What every part of the world stands on: the settings, time and chance, the table and the bucket."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING

from chalicelib.adapters.system import SystemChance, SystemClock, ThreadCrew
from chalicelib.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.ports.chance import Chance
    from chalicelib.ports.clock import Clock
    from chalicelib.ports.crew import Crew
    from chalicelib.ports.payload_store import PayloadStore


class Ground:
    """The bottom of the world."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.clock: Clock = SystemClock()
        self.chance: Chance = SystemChance()
        self.crew: Crew = ThreadCrew()

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        from chalicelib.adapters.aws import clients

        return clients.client("dynamodb")

    @cached_property
    def _payloads(self) -> PayloadStore:
        return _LatePayloads(self._s3_payloads)

    def _s3_payloads(self) -> PayloadStore:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.payload_store import S3PayloadStore
        from chalicelib.adapters.aws.retry import Retry

        return S3PayloadStore(clients.client("s3"), self.config.bucket, Retry(self.clock, self.chance))

    def _parameter(self, name: str) -> str:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.retry import Retry

        ssm = clients.client("ssm")
        found = Retry(self.clock, self.chance)(lambda: ssm.get_parameter(Name=name, WithDecryption=True))
        return found["Parameter"]["Value"]


class _LatePayloads:
    """A payload store that is made when the first payload comes: every Lambda reads runs, and hardly a run has one."""

    def __init__(self, make: Callable[[], PayloadStore]) -> None:
        self._store = cache(make)

    def put(self, key: str, body: bytes) -> None:
        self._store().put(key, body)

    def get(self, key: str) -> bytes:
        return self._store().get(key)

    def first_under(self, prefix: str) -> str | None:
        return self._store().first_under(prefix)

    def delete_under(self, prefix: str) -> None:
        self._store().delete_under(prefix)
