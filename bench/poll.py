"""What a poll costs, at log lengths that lie far apart: `python -m bench.poll`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.meter import Meter
from chalicelib.adapters.dynamodb import items
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core.events import Event, EventType
from chalicelib.usecases.read_events import read_events
from tests.builders import RUN_ID, a_held_run, accepted, an_event
from tests.virtual_time import CountedChance, VirtualTime

LENGTHS = (10, 10_000)
TEXT = "Markets rose a little this morning, led by energy and followed by the banks. "
BATCH = 25


@dataclass(frozen=True, slots=True)
class Cost:
    """One poll of a log of `length`: requests and read units."""

    length: int
    case: str
    requests: int
    read_units: float


def costs(client: Any, table: str, payloads: Any, length: int) -> list[Cost]:
    """An empty poll at the tail, and one that brings the last ten events."""
    time = VirtualTime()
    store = DynamoRunStore(client, table, payloads=payloads, clock=time, chance=CountedChance())
    fill(client, table, store, length)
    store.stamp_watched(RUN_ID, time.now().replace(year=2099))
    polls = {"nothing new": length - 1, "ten new events": max(length - 11, -1)}
    return [_cost(client, store, time, length, case, since) for case, since in polls.items()]


def _cost(client: Any, store: DynamoRunStore, time: VirtualTime, length: int, case: str, since: int) -> Cost:
    with Meter().running(client) as meter:
        read_events(RUN_ID, since, 100, 0, account_id="acme", runs=store, clock=time)
    return Cost(length, case, len(meter.requests), meter.read_units)


def fill(client: Any, table: str, store: DynamoRunStore, length: int) -> None:
    """A running run whose log has `length` events, put there in batches: the writes are not what is measured."""
    run = a_held_run()
    store.create(run, accepted(), None)
    rows = [_row(run, an_event(seq, EventType.TEXT_DELTA, step=1, text=TEXT)) for seq in range(1, length)]
    for place in range(0, len(rows), BATCH):
        client.batch_write_item(RequestItems={table: rows[place : place + BATCH]})


def _row(run: Any, event: Event) -> Mapping[str, Any]:
    return {"PutRequest": {"Item": items.event_item(run, event, items.data_text(event.data))}}


def main() -> None:
    """Print the table of docs and README."""
    from moto import mock_aws

    from chalicelib.adapters.aws.clients import client
    from tests.fresh_table import fresh_table

    with mock_aws():
        made = client("dynamodb")
        print("log length  poll            requests  read units")
        for length in LENGTHS:
            with fresh_table(made) as table:
                for cost in costs(made, table, None, length):
                    print(f"{cost.length:>10,}  {cost.case:<14}  {cost.requests:>8}  {cost.read_units:>10}")


if __name__ == "__main__":
    main()
