"""Runs and their logs in DynamoDB: the log is the lock. DESIGN sections 2 and 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb.run_reads import RunReads
from chalicelib.adapters.dynamodb.run_writes import RunWrites
from chalicelib.adapters.dynamodb.table import Table
from chalicelib.core import slots
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.payload_store import PayloadStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoRunStore(RunReads, RunWrites):
    """A `RunStore`. `chance` gives the jitter of retries and the ids of writes that have no event.

    An account has at most `cap` runs at work at once.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        *,
        payloads: PayloadStore,
        clock: Clock,
        chance: Chance,
        cap: int = slots.CAP,
    ) -> None:
        called = Table(client, table, Retry(clock, chance))
        RunReads.__init__(self, called, payloads)
        RunWrites.__init__(self, called, payloads, chance, cap)
