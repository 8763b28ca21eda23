"""The one key schema. Every key and index of the table is spelled here and nowhere else.

what                 pk                      sk
an event             RUN#<run_id>            EVENT#<seq, ten digits>
the run              RUN#<run_id>            RUN            (after all its events; nothing sorts in between)
its archive          RUN#<run_id>            ARCHIVE        (before all its events: no read of the log meets it)
an idempotency key   IDEM#<account>#<key>    IDEM           (expires by TTL)
an API key           KEY#<digest>            KEY
an open socket       SOCKET#<connection_id>  SOCKET         (expires by TTL, as all that follows)
a run on it          SOCKET#<connection_id>  WATCH#<run_id>
the same, by run     WATCH#<run_id>          SOCKET#<connection_id>
a webhook            WEBHOOKS#<account>      WEBHOOK#<name>
a note               NOTES#<account>         NOTE#<name>
an account's policy  POLICY#<account>        POLICY
an account's agent   AGENTS#<account>        AGENT#<name>   (its newest version)
a version of it      AGENT#<account>#<name>  VERSION#<number, ten digits>
an upload            FILE#<account>#<file>   FILE           (expires by TTL)
a file of a run      FILES#<run_id>          FILE#<file_id>
all its artifacts    FILES#<run_id>          TOTAL          (how many, of how many bytes)
an account's slots   SLOTS#<account>         SLOTS

index       hash                    range                    holds
by_account  account_pk ACCOUNT#<id> account_sk RUN#<run_id>  runs; run ids sort by time
                                    account_sk KEY#<key_id>  API keys
                                    account_sk DELETED#<run_id>  runs that are deleted and not erased yet
by_inbox    inbox_pk   ACCOUNT#<id> inbox_sk   <run_id>      runs that ask a person something (sparse)
by_due      due_pk     DUE#<shard>  due_sk <minute>#<run_id> unfinished runs only (sparse); the minute is coarse, so
                                                             that lease renewals within it do not touch the index
            due_pk     OLD#<shard>  due_sk <minute>#<run_id> ended runs, by the minute of their end, until archived
            due_pk DELETED#<shard>  due_sk <minute>#<run_id> deleted runs, by the minute from which they may be erased
            due_pk   SLOTS#<shard>  due_sk <minute>#<account> slots that are looked at again from that minute on
            due_pk  LINE#<account>  due_sk <rank>#<run_id>   runs in line for a slot: those whose wait is over, then new
                                                             ones, the older first
"""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta

PK, SK = "pk", "sk"
BY_ACCOUNT, ACCOUNT_PK, ACCOUNT_SK = "by_account", "account_pk", "account_sk"
BY_DUE, DUE_PK, DUE_SK = "by_due", "due_pk", "due_sk"
BY_INBOX, INBOX_PK, INBOX_SK = "by_inbox", "inbox_pk", "inbox_sk"
TTL = "expires_at"

ACCOUNT_PROJECTION = (
    *("run_id", "account_id", "agent", "status", "budget", "created_at", "ended_at", "metadata"),
    *("key", "revoked_at"),
)
"""What a list of runs, and one of keys, shows: nothing that changes with a renewal or an append."""

SEQ_WIDTH = 10
DUE_SHARDS = 4
EVENTS_SK = "EVENT#"
RUN_SK = "RUN"
ARCHIVE_SK = "ARCHIVE"


def run(run_id: str) -> dict[str, str]:
    return {PK: partition(run_id), SK: RUN_SK}


def event(run_id: str, seq: int) -> dict[str, str]:
    return {PK: partition(run_id), SK: event_sk(seq)}


def archive(run_id: str) -> dict[str, str]:
    return {PK: partition(run_id), SK: ARCHIVE_SK}


def partition(run_id: str) -> str:
    return f"RUN#{run_id}"


def run_id_of(partition: str) -> str:
    return partition.removeprefix("RUN#")


def event_sk(seq: int) -> str:
    return f"{EVENTS_SK}{seq:0{SEQ_WIDTH}d}"


def seq_of(event_sk: str) -> int:
    return int(event_sk.removeprefix(EVENTS_SK))


def idempotency(account_id: str, key: str) -> dict[str, str]:
    return {PK: f"IDEM#{account_id}#{key}", SK: "IDEM"}


def api_key(digest: str) -> dict[str, str]:
    return {PK: f"KEY#{digest}", SK: "KEY"}


SOCKET_SK = "SOCKET"


def socket(connection_id: str) -> dict[str, str]:
    return {PK: socket_partition(connection_id), SK: SOCKET_SK}


def socket_partition(connection_id: str) -> str:
    return f"SOCKET#{connection_id}"


def socket_watch(connection_id: str, run_id: str) -> dict[str, str]:
    return {PK: socket_partition(connection_id), SK: watchers(run_id)}


def watch(run_id: str, connection_id: str) -> dict[str, str]:
    return {PK: watchers(run_id), SK: socket_partition(connection_id)}


def watchers(run_id: str) -> str:
    return f"WATCH#{run_id}"


WEBHOOK_SK = "WEBHOOK#"


def webhook(account_id: str, name: str) -> dict[str, str]:
    return {PK: webhooks(account_id), SK: f"{WEBHOOK_SK}{name}"}


def webhooks(account_id: str) -> str:
    return f"WEBHOOKS#{account_id}"


def webhook_name_of(sk: str) -> str:
    return sk.removeprefix(WEBHOOK_SK)


def digest_of(api_key_pk: str) -> str:
    return api_key_pk.removeprefix("KEY#")


def notes(account_id: str) -> str:
    return f"NOTES#{account_id}"


def note(account_id: str, name: str) -> dict[str, str]:
    return {PK: notes(account_id), SK: f"NOTE#{name}"}


def note_name(note_sk: str) -> str:
    return note_sk.removeprefix("NOTE#")


def policy(account_id: str) -> dict[str, str]:
    return {PK: f"POLICY#{account_id}", SK: "POLICY"}


AGENTS_SK = "AGENT#"


def agents(account_id: str) -> str:
    return f"AGENTS#{account_id}"


def agent(account_id: str, name: str) -> dict[str, str]:
    return {PK: agents(account_id), SK: f"{AGENTS_SK}{name}"}


def agent_version(account_id: str, name: str, version: int) -> dict[str, str]:
    return {PK: f"AGENT#{account_id}#{name}", SK: f"VERSION#{version:0{SEQ_WIDTH}d}"}


FILES_SK = "FILE#"
UPLOADS_PK, RUN_FILES_PK = "FILE#", "FILES#"
"""What their partitions begin with: of these, and of webhooks, the API may delete."""


def upload(account_id: str, file_id: str) -> dict[str, str]:
    return {PK: f"{UPLOADS_PK}{account_id}#{file_id}", SK: "FILE"}


def run_files(run_id: str) -> str:
    return f"{RUN_FILES_PK}{run_id}"


def run_file(run_id: str, file_id: str) -> dict[str, str]:
    return {PK: run_files(run_id), SK: f"{FILES_SK}{file_id}"}


def run_files_total(run_id: str) -> dict[str, str]:
    return {PK: run_files(run_id), SK: "TOTAL"}


SLOTS_PREFIX = "SLOTS#"


def slots(account_id: str) -> dict[str, str]:
    return {PK: f"{SLOTS_PREFIX}{account_id}", SK: "SLOTS"}


def slots_account_of(pk: str) -> str:
    return pk.removeprefix(SLOTS_PREFIX)


def account(account_id: str) -> str:
    return f"ACCOUNT#{account_id}"


RUNS_SK, KEYS_SK, DELETED_SK = "RUN#", "KEY#", "DELETED#"
"""What the account's entries of each kind begin with in the index."""


def account_run_sk(run_id: str) -> str:
    return f"RUN#{run_id}"


def account_deleted_sk(run_id: str) -> str:
    return f"{DELETED_SK}{run_id}"


def account_key_sk(key_id: str) -> str:
    return f"KEY#{key_id}"


DUE_PREFIX, OLD_PREFIX, DELETED_PREFIX, LINE_PREFIX = "DUE#", "OLD#", "DELETED#", "LINE#"


def due_shard(run_id: str) -> str:
    return f"{DUE_PREFIX}{_shard(run_id)}"


def due_shards() -> tuple[str, ...]:
    return tuple(f"{DUE_PREFIX}{shard}" for shard in range(DUE_SHARDS))


def old_shard(run_id: str) -> str:
    return f"{OLD_PREFIX}{_shard(run_id)}"


def old_shards() -> tuple[str, ...]:
    return tuple(f"{OLD_PREFIX}{shard}" for shard in range(DUE_SHARDS))


def deleted_shard(run_id: str) -> str:
    return f"{DELETED_PREFIX}{_shard(run_id)}"


def deleted_shards() -> tuple[str, ...]:
    return tuple(f"{DELETED_PREFIX}{shard}" for shard in range(DUE_SHARDS))


def slots_shard(account_id: str) -> str:
    return f"{SLOTS_PREFIX}{_shard(account_id)}"


def slots_shards() -> tuple[str, ...]:
    return tuple(f"{SLOTS_PREFIX}{shard}" for shard in range(DUE_SHARDS))


def line(account_id: str) -> str:
    return f"{LINE_PREFIX}{account_id}"


def line_sk(run_id: str, *, resumes: bool) -> str:
    return f"{0 if resumes else 1}#{run_id}"


def _shard(name: str) -> int:
    return zlib.crc32(name.encode()) % DUE_SHARDS


def due_sk(at: datetime, name: str) -> str:
    """The minute that follows `at`, so that nothing looks due before it is."""
    minute = at.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return f"{due_minute(minute)}#{name}"


def due_minute(at: datetime) -> str:
    """As a bound of a range: sorts before every run of that minute."""
    return at.strftime("%Y-%m-%dT%H:%M")
