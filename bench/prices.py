"""What an hour of watching costs, at list prices: `python -m bench.prices`.

A client follows one run that streams for the whole hour. List prices of us-east-1, in USD; each names its page. Network
traffic, free tiers and the key's look-up (one in a minute) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from bench import printed

MILLION = 1_000_000
HOUR = 3600

REST_REQUEST = 3.50 / MILLION
"""https://aws.amazon.com/api-gateway/pricing/ (REST APIs, the first 333 million)"""
HTTP_REQUEST = 1.00 / MILLION
"""https://aws.amazon.com/api-gateway/pricing/ (HTTP APIs)"""
SOCKET_MESSAGE, SOCKET_MINUTE = 1.00 / MILLION, 0.25 / MILLION
"""https://aws.amazon.com/api-gateway/pricing/ (WebSocket APIs: a message of up to 32 KB; a minute of connection)"""
LAMBDA_REQUEST, LAMBDA_GB_SECOND = 0.20 / MILLION, 0.0000133334
"""https://aws.amazon.com/lambda/pricing/ (arm64)"""
READ_UNIT, WRITE_UNIT = 0.125 / MILLION, 0.625 / MILLION
"""https://aws.amazon.com/dynamodb/pricing/on-demand/ (a Lambda's reads of the table's stream are free)"""
VCPU_HOUR, CONTAINER_GB_HOUR = 0.03238, 0.00356
"""https://aws.amazon.com/fargate/pricing/ (Linux, ARM)"""

MEMORY_GB = 0.25
"""Of a Lambda of ours."""

POLL_SECONDS, ANSWER_SECONDS = 0.02, 0.5
"""Seconds that a Lambda works for a poll that is answered at once; and for one that is held until an event comes, at
an event every 200 ms, looked for every 500 ms."""

EVENTS_PER_SECOND = 5
"""A watched run that streams writes a batch of text every 200 ms."""

LOOKS_PER_SECOND = 5
"""A stream looks at the end of the log every 200 ms while it streams; eventually consistent, half a read unit."""

POST_SECONDS, PING_EVERY = 0.03, 10
"""Seconds that a Lambda works to bring one socket up to date: a read, a post, a write; and between two pings."""

CROWD = 1000
"""Watchers of one run on one edge, as many as bench/watchers.py and bench/slow_clients.py have."""


@dataclass(frozen=True, slots=True)
class Row:
    """USD for one watcher and hour, and what it is made of."""

    way: str
    usd: float
    parts: dict[str, float]

    @classmethod
    def of(cls, way: str, **parts: float) -> Row:
        return cls(way, sum(parts.values()), parts)


def lambda_seconds(seconds: float) -> float:
    return seconds * MEMORY_GB * LAMBDA_GB_SECOND


def polling(way: str, every: float, request: float, seconds: float = POLL_SECONDS) -> Row:
    """A poll every so many seconds, each of which occupies a Lambda for `seconds`."""
    polls = HOUR / every
    return Row.of(
        way,
        requests=polls * request,
        invocations=polls * LAMBDA_REQUEST,
        compute=polls * lambda_seconds(seconds),
        reads=polls * READ_UNIT / 2,
    )


def socket(way: str, watchers: int) -> Row:
    """One of so many sockets that watch a run: `deliver` is woken and reads once for all of them."""
    posts, pings = HOUR * EVENTS_PER_SECOND, HOUR / PING_EVERY
    return Row.of(
        way,
        messages=(posts + 2 * pings) * SOCKET_MESSAGE,
        connection=60 * SOCKET_MINUTE,
        writes=posts * WRITE_UNIT,
        invocations=(posts / watchers + pings) * LAMBDA_REQUEST,
        compute=(posts + pings) * lambda_seconds(POST_SECONDS),
        reads=(posts / watchers + pings) * READ_UNIT,
    )


def stream(way: str, server: float, watchers: int) -> Row:
    """One of so many watchers of a run that share a server, at that price an hour, and its tail."""
    reads = HOUR * LOOKS_PER_SECOND * READ_UNIT / 2
    return Row.of(way, compute=server / watchers, reads=reads / watchers)


def rows() -> list[Row]:
    """Every way out."""
    small, large = VCPU_HOUR / 4 + CONTAINER_GB_HOUR / 2, VCPU_HOUR + 2 * CONTAINER_GB_HOUR
    return [
        polling("poll every 2 s, REST API", 2, REST_REQUEST),
        polling("poll every 2 s, HTTP API in front", 2, HTTP_REQUEST),
        polling("poll, or SSE buffered, as fast as it is answered", 0.75, REST_REQUEST, ANSWER_SECONDS),
        stream("SSE, a Lambda for each stream", lambda_seconds(HOUR), 1),
        stream("SSE, a container (0.25 vCPU, 0.5 GB), alone on it", small, 1),
        stream(f"SSE, a container (1 vCPU, 2 GB), one of {CROWD:,}", large, CROWD),
        socket("WebSocket, alone", 1),
        socket(f"WebSocket, one of {CROWD:,}", CROWD),
    ]


def main() -> None:
    """Print the table."""
    asked = printed.arguments("bench.prices", __doc__).parse_args()
    found = rows()
    printed.table([cells(row) for row in found], [asdict(row) for row in found], asked.json)


def cells(row: Row) -> Mapping[str, object]:
    """A line of the table."""
    parts = ", ".join(f"{name} {1000 * usd:.2f}" for name, usd in row.parts.items() if usd)
    return {"way out": row.way, "USD for 1,000 watched hours": f"{1000 * row.usd:,.2f}", "of which": parts}


if __name__ == "__main__":
    main()
