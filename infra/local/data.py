"""What the journal is told of, and what becomes of it at the next start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import boto3
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from infra.local import dynamodb
from infra.local.dynamodb import Write
from infra.local.journal import Journal, JournalClosed
from infra.local.stack import REGION, Stack


class Data:
    """Keeps what changes in tables and buckets, under the template's names for them: CloudFormation's change."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._tables: Mapping[str, str] = {}
        self._buckets: Mapping[str, str] = {}

    def written(self, writes: Sequence[Write]) -> None:
        """A DynamoDB request has changed this."""
        known = [
            {"table": self._tables[write.table], "key": write.key, "item": write.item}
            for write in writes
            if write.table in self._tables
        ]
        self._keep(items=known)

    def stored(self, bucket: str, key: str, body: bytes | None) -> None:
        """An object was put, or is gone."""
        if bucket in self._buckets:
            self._keep(objects=[{"bucket": self._buckets[bucket], "key": key, "body": body}])

    def started(self, execution: Mapping[str, Any]) -> None:
        """An execution runs now, described as the event of its end describes it."""
        self._keep(started=[execution])

    def ended(self, arn: str) -> None:
        """That execution is over, and whoever had to know knows."""
        with suppress(JournalClosed):  # the next start tells of it once more
            self._keep(ended=[arn])

    def restore(self, stack: Stack) -> list[dict[str, Any]]:
        """Fill the stack with what was kept, and keep what changes from now on; the executions that were running."""
        kept = self._journal.kept if self._journal else None
        for write in kept.items.values() if kept else ():
            table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[stack.tables[write["table"]]]
            dynamodb.load(table, [write["item"]])
        s3 = boto3.client("s3", region_name=REGION)
        for stored in kept.objects.values() if kept else ():
            s3.put_object(Bucket=stack.buckets[stored["bucket"]], Key=stored["key"], Body=stored["body"])
        self._tables = {name: logical for logical, name in stack.tables.items()}
        self._buckets = {name: logical for logical, name in stack.buckets.items()}
        return list(kept.executions.values()) if kept else []

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    def _keep(self, **entry: Any) -> None:
        if self._journal and any(entry.values()):
            self._journal.write(**entry)
