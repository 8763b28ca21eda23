"""Everything that is kept."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.bootstrap.ground import Ground

if TYPE_CHECKING:
    from chalicelib.adapters.aws.file_bucket import FileBucket
    from chalicelib.ports.agent_store import AgentStore
    from chalicelib.ports.archive_store import ArchiveStore
    from chalicelib.ports.audit import Audit
    from chalicelib.ports.file_store import FileStore
    from chalicelib.ports.key_store import KeyStore
    from chalicelib.ports.note_store import NoteStore
    from chalicelib.ports.policy_book import PolicyBook
    from chalicelib.ports.run_store import RunStore
    from chalicelib.ports.slot_store import SlotStore
    from chalicelib.ports.stream import Stream
    from chalicelib.ports.upload_store import UploadStore
    from chalicelib.ports.watch_store import WatchStore
    from chalicelib.ports.webhook_store import WebhookStore


class Stores(Ground):
    """The part of the world that keeps things."""

    @cached_property
    def runs(self) -> RunStore:
        from chalicelib.adapters.dynamodb.run_store import DynamoRunStore

        return DynamoRunStore(
            self._dynamodb,
            self.config.table,
            payloads=self._payloads,
            clock=self.clock,
            chance=self.chance,
            cap=self.config.runs_at_once,
        )

    @cached_property
    def slots(self) -> SlotStore:
        from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore

        return DynamoSlotStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def archives(self) -> ArchiveStore:
        from chalicelib.adapters.dynamodb.archive_store import DynamoArchiveStore

        return DynamoArchiveStore(
            self._dynamodb, self.config.table, payloads=self._payloads, clock=self.clock, chance=self.chance
        )

    @cached_property
    def audit(self) -> Audit:
        from chalicelib.adapters.dynamodb.audit import DynamoAudit

        return DynamoAudit(
            self._dynamodb, self.config.table, payloads=self._payloads, clock=self.clock, chance=self.chance
        )

    @cached_property
    def keys(self) -> KeyStore:
        from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore

        return DynamoKeyStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def stream(self) -> Stream:
        from chalicelib.adapters.dynamodb.stream import DynamoStream

        return DynamoStream()

    @cached_property
    def watches(self) -> WatchStore:
        from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore

        return DynamoWatchStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def policies(self) -> PolicyBook:
        from chalicelib.adapters.dynamodb.policy_book import DynamoPolicyBook

        return DynamoPolicyBook(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def uploads(self) -> UploadStore:
        from chalicelib.adapters.dynamodb.upload_store import DynamoUploadStore

        return DynamoUploadStore(
            self._dynamodb, self.config.table, bucket=self._files, clock=self.clock, chance=self.chance
        )

    @cached_property
    def files(self) -> FileStore:
        from chalicelib.adapters.dynamodb.file_store import DynamoFileStore

        return DynamoFileStore(
            self._dynamodb, self.config.table, bucket=self._files, clock=self.clock, chance=self.chance
        )

    @cached_property
    def own_agents(self) -> AgentStore:
        from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore

        return DynamoAgentStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def webhooks(self) -> WebhookStore:
        from chalicelib.adapters.dynamodb.webhook_store import DynamoWebhookStore

        return DynamoWebhookStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def notes(self) -> NoteStore:
        from chalicelib.adapters.dynamodb.note_store import DynamoNoteStore

        return DynamoNoteStore(self._dynamodb, self.config.table, clock=self.clock, chance=self.chance)

    @cached_property
    def _files(self) -> FileBucket:
        from chalicelib.adapters.aws import clients
        from chalicelib.adapters.aws.file_bucket import FileBucket
        from chalicelib.adapters.aws.retry import Retry

        url, retry = self.config.s3_url, Retry(self.clock, self.chance)
        return FileBucket(lambda: clients.client("s3"), lambda: clients.signing(url), self.config.bucket, retry)
