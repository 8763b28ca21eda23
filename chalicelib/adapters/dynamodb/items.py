"""Values to items and back, in the typed attributes of the low-level client.

None is an absent attribute. Times are ISO 8601 in UTC with microseconds, all of one width: exact, and sorted as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.dynamodb import keys
from chalicelib.core import retention, slots, watching
from chalicelib.core.announcement import STATUS_WITH
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.core.events import SCHEMA_VERSION, SPARABLE, Event, EventType
from chalicelib.core.run import Budget, Run, RunWebhook, Slot, Status
from chalicelib.ports.run_store import Claim

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Attribute = AttributeValueTypeDef
    Item = Mapping[str, Attribute]


def text(value: str) -> Attribute:
    return {"S": str(value)}


def number(value: int) -> Attribute:
    return {"N": str(value)}


def moment(at: datetime) -> Attribute:
    return {"S": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def read_moment(attribute: Attribute) -> datetime:
    return datetime.fromisoformat(attribute["S"])


def key(named: Mapping[str, str]) -> dict[str, Attribute]:
    """What `keys` spells, as attributes."""
    return {name: text(value) for name, value in named.items()}


@dataclass(frozen=True, slots=True)
class _Form:
    """How a field is kept as an attribute, and read again."""

    keep: Callable[[Any], Attribute]
    read: Callable[[Attribute], Any]


_TEXT = _Form(text, lambda attribute: attribute["S"])
_NUMBER = _Form(number, lambda attribute: int(attribute["N"]))
_MOMENT = _Form(moment, read_moment)
_STATUS = _Form(text, lambda attribute: Status(attribute["S"]))
_SLOT = _Form(text, lambda attribute: Slot(attribute["S"]))
_TAGS = _Form(
    lambda tags: {"M": {name: text(value) for name, value in tags.items()}},
    lambda attribute: {name: value["S"] for name, value in attribute["M"].items()},
)
_NAMES = _Form(
    lambda names: {"L": [text(name) for name in names]},
    lambda attribute: tuple(name["S"] for name in attribute["L"]),
)
_BUDGET = _Form(
    lambda budget: {"M": {"steps": number(budget.steps), "seconds": number(budget.seconds)}},
    lambda attribute: Budget(**{name: int(value["N"]) for name, value in attribute["M"].items()}),
)
_WEBHOOK = _Form(
    lambda webhook: {"M": {"url": text(webhook.url), "signed_by": text(webhook.signed_by)}},
    lambda attribute: RunWebhook(**{name: value["S"] for name, value in attribute["M"].items()}),
)

_RUN: Mapping[str, _Form] = {
    "run_id": _TEXT,
    "account_id": _TEXT,
    "agent": _TEXT,
    "agent_version": _NUMBER,
    "status": _STATUS,
    "budget": _BUDGET,
    "created_at": _MOMENT,
    "metadata": _TAGS,
    "webhook": _WEBHOOK,
    "attempt": _NUMBER,
    "start": _NUMBER,
    "lease_until": _MOMENT,
    "due_at": _MOMENT,
    "waiting_for": _TEXT,
    "waiting_seq": _NUMBER,
    "wake_at": _MOMENT,
    "wake_seq": _NUMBER,
    "token": _TEXT,
    "asks": _NAMES,
    "slot": _SLOT,
    "watched_until": _MOMENT,
    "first_token_at": _MOMENT,
    "ended_at": _MOMENT,
    "archived_at": _MOMENT,
    "deleted_at": _MOMENT,
}


def run_attributes(run: Run) -> dict[str, Attribute | None]:
    """Every attribute of the run besides its key, those of the indexes too; None for one that must not be there."""
    return {name: run_attribute(run, name) for name in _RUN} | _index_attributes(run)


def run_attribute(run: Run, name: str) -> Attribute | None:
    value = getattr(run, name)
    return None if value is None or value == () else _RUN[name].keep(value)


def changed_attributes(before: Run, after: Run) -> dict[str, Attribute | None]:
    """What of `after` differs from `before`: all that a change may write.

    A run's place in the index of what is due goes with what it is made of: it may stand elsewhere than `before` says.
    """
    attributes, were = run_attributes(after), run_attributes(before)
    changed = {name: value for name, value in attributes.items() if value != were[name]}
    if _PLACED_BY & changed.keys():
        changed |= {name: attributes[name] for name in (keys.DUE_PK, keys.DUE_SK)}
    return changed


def _index_attributes(run: Run) -> dict[str, Attribute | None]:
    due = _due_place(run)
    return {
        keys.ACCOUNT_PK: text(keys.account(run.account_id)),
        keys.ACCOUNT_SK: text((keys.account_deleted_sk if run.deleted_at else keys.account_run_sk)(run.run_id)),
        keys.DUE_PK: text(due[0]) if due else None,
        keys.DUE_SK: text(due[1]) if due else None,
        keys.INBOX_PK: text(keys.account(run.account_id)) if run.asks else None,
        keys.INBOX_SK: text(run.run_id) if run.asks else None,
    }


_PLACED_BY = {"slot", "due_at", "ended_at", "archived_at", "deleted_at"}


def _due_place(run: Run) -> tuple[str, str] | None:
    """Where the run stands in the index of what is due: in line, unfinished, to be archived, to be erased, or
    nowhere."""
    if run.slot is Slot.WANTED:
        return keys.line(run.account_id), keys.line_sk(run.run_id, resumes=slots.resumes(run))
    if erase_at := retention.erase_at(run):
        return keys.deleted_shard(run.run_id), keys.due_sk(erase_at, run.run_id)
    if run.ended_at and not run.archived_at:
        return keys.old_shard(run.run_id), keys.due_sk(run.ended_at, run.run_id)
    return (keys.due_shard(run.run_id), keys.due_sk(run.due_at, run.run_id)) if run.due_at else None


def run_item(run: Run) -> Item:
    present = {name: value for name, value in run_attributes(run).items() if value is not None}
    return key(keys.run(run.run_id)) | present


def read_run(item: Item) -> Run:
    """The run of an item, or of its entry in an index: what is not there is as if it had never been set."""
    return Run(**{name: form.read(item[name]) for name, form in _RUN.items() if name in item})


def is_run(item: Item) -> bool:
    return item[keys.SK]["S"] == keys.RUN_SK


def data_text(data: Any) -> str:
    """The JSON that an event's data, or a part of it, is kept as."""
    plain = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        plain.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, as models send it where a chunk ends: escaped it can be kept.
        return json.dumps(data, allow_nan=False, separators=(",", ":"))
    return plain


WATCHED = "watched"
"""Stands on what a slow client may be spared, if its writer knew of somebody who follows: the stream's filter sees it.
Everything else passes that filter by its type."""


OWN_WEBHOOK = "webhook"
"""Stands on what is announced, so that whoever announces it need not read the run."""


def own_webhook(item: Item) -> RunWebhook | None:
    """Where the run of an announced event wants it told besides."""
    found: RunWebhook | None = _WEBHOOK.read(item[OWN_WEBHOOK]) if OWN_WEBHOOK in item else None
    return found


def event_item(run: Run, event: Event, data: str, moved: Sequence[str] = ()) -> Item:
    """`data` is the event's data as text, in which the fields `moved` are references to payloads."""
    item = key(keys.event(run.run_id, event.seq)) | {
        "type": text(event.type),
        "at": moment(event.at),
        "data": text(data),
        "attempt": number(event.attempt),
        "write_id": text(event.write_id),
        "account_id": text(run.account_id),
        "v": number(SCHEMA_VERSION),
    }
    if event.type in SPARABLE and watching.watched(run, event.at):
        item[WATCHED] = {"BOOL": True}
    if event.type in STATUS_WITH and run.webhook is not None:
        item[OWN_WEBHOOK] = _WEBHOOK.keep(run.webhook)
    return item | {"moved": {"L": [text(name) for name in moved]}} if moved else item


def read_event(item: Item) -> Event:
    """The event as it stands: what was moved to a payload is a reference."""
    return Event(
        seq=keys.seq_of(item[keys.SK]["S"]),
        type=EventType(item["type"]["S"]),
        at=read_moment(item["at"]),
        data=json.loads(item["data"]["S"]),
        attempt=int(item["attempt"]["N"]),
        write_id=item["write_id"]["S"],
    )


def moved_fields(item: Item) -> tuple[str, ...]:
    """Which fields of the event's data are references; said outside the data, which may itself look like anything."""
    return tuple(name["S"] for name in item["moved"]["L"]) if "moved" in item else ()


def account_of(item: Item) -> str:
    """Whose it is: every event says so, and the run."""
    return item["account_id"]["S"]


def claim_item(run: Run, claim: Claim) -> Item:
    return key(keys.idempotency(run.account_id, claim.key)) | {
        "run_id": text(run.run_id),
        "payload_digest": text(claim.payload_digest),
        keys.TTL: number(math.ceil(claim.expires_at.timestamp())),
    }


def read_claim(item: Item) -> tuple[str, str]:
    """The run that the idempotency key stands for, and the digest of the payload it came with."""
    return item["run_id"]["S"], item["payload_digest"]["S"]


def key_item(api_key: ApiKey) -> Item:
    item = key(keys.api_key(api_key.digest)) | {
        keys.ACCOUNT_PK: text(keys.account(api_key.account_id)),
        keys.ACCOUNT_SK: text(keys.account_key_sk(api_key.key_id)),
        "account_id": text(api_key.account_id),
        "key": {"M": _key_fields(api_key)},
    }
    return item | {"revoked_at": moment(api_key.revoked_at)} if api_key.revoked_at else item


def _key_fields(api_key: ApiKey) -> Item:
    return {
        "key_id": text(api_key.key_id),
        "name": text(api_key.name),
        "scopes": {"L": [text(scope) for scope in sorted(api_key.scopes)]},
        "created_at": moment(api_key.created_at),
    }


def read_key(item: Item) -> ApiKey:
    fields = item["key"]["M"]
    return ApiKey(
        key_id=fields["key_id"]["S"],
        digest=keys.digest_of(item[keys.PK]["S"]),
        account_id=account_of(item),
        name=fields["name"]["S"],
        scopes=frozenset(Scope(scope["S"]) for scope in fields["scopes"]["L"]),
        created_at=read_moment(fields["created_at"]),
        revoked_at=read_moment(item["revoked_at"]) if "revoked_at" in item else None,
    )
