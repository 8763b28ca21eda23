"""What watchers of one run cost the table: `python -m bench.watchers`.

One edge, one run whose log grows five times a second, and one, ten, a hundred and a thousand clients that watch it. The
edge's requests to DynamoDB are counted for ten seconds, once all of them watch.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import monotonic

from bench import printed
from bench.cloud import Cloud, a_cloud
from bench.crowd import Watcher
from bench.growing import Growing
from bench.meter import Meter
from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.bootstrap import World
from tests.edge.serving import serving

CROWDS = (1, 10, 100, 1000)
EVERY, SECONDS, SETTLE = 0.2, 10.0, 2.0
"""Seconds between two events; for which requests are counted; and before that."""


@dataclass(frozen=True, slots=True)
class Row:
    """Requests of the edge in a second, by operation, and the events that its watchers got in that time."""

    watchers: int
    queries: float
    others: float
    delivered: float


def measure(cloud: Cloud, watchers: int) -> Row:
    """So many watchers of one run."""
    table = client("dynamodb")
    run, stop = Growing(cloud), threading.Event()
    growing = threading.Thread(target=run.grow, args=(10_000, EVERY, stop))
    crowd = [Watcher() for _ in range(watchers)]
    with serving(_metered(cloud, table)) as (url, _):
        watching = threading.Thread(target=_watch, args=(crowd, url, run.run_id, cloud.key))
        growing.start()
        watching.start()
        pause = threading.Event()
        pause.wait(SETTLE)
        begun, before = monotonic(), _received(crowd)
        with Meter().running(table) as meter:
            pause.wait(SECONDS)
        spent, received = monotonic() - begun, _received(crowd) - before
        stop.set()
        growing.join()
        watching.join()
    queries = sum(request.operation == "Query" for request in meter.requests)
    return Row(watchers, queries / spent, (len(meter.requests) - queries) / spent, received / spent)


def _metered(cloud: Cloud, table: object) -> World:
    """The cloud's world, with a client of its own for its runs."""
    world = World(cloud.world.config)
    world.keys = cloud.world.keys
    payloads = world._payloads
    world.runs = DynamoRunStore(
        table,  # type: ignore[arg-type]
        world.config.table,
        payloads=payloads,
        clock=world.clock,
        chance=world.chance,
    )
    return world


def _received(crowd: list[Watcher]) -> int:
    return sum(len(watcher.seqs) for watcher in crowd)


def _watch(crowd: list[Watcher], url: str, run_id: str, key: str) -> None:
    async def all_of_them() -> None:
        port = int(url.rpartition(":")[2])
        await asyncio.gather(*(one.follow(port, f"/v1/runs/{run_id}/stream", key, 1.0) for one in crowd))

    asyncio.run(all_of_them())


def main() -> None:
    """Print the table."""
    asked = printed.arguments("bench.watchers", __doc__).parse_args()
    with a_cloud() as cloud:
        rows = [measure(cloud, watchers) for watchers in CROWDS]
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)


def _cells(row: Row) -> Mapping[str, object]:
    return {
        "watchers": row.watchers,
        "Query in a second": row.queries,
        "other requests in a second": row.others,
        "events delivered in a second": row.delivered,
    }


if __name__ == "__main__":
    main()
