"""What blocks, done in threads beside the event loop: the use cases, and with them the AWS client."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import anyio

from chalicelib.bootstrap import World
from chalicelib.core import ticket
from chalicelib.core.api_key import ApiKey
from chalicelib.core.cursor import Answer
from chalicelib.core.task import Task
from chalicelib.core.ticket import Ticket
from chalicelib.usecases.check_webhook import check_webhook
from chalicelib.usecases.identify import identify
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.submit import Submitted, submit

PAGE = 50
"""Events in a read, which are in memory while it lasts and, as far as the shelf goes, for a while after."""

THREADS = 32

T = TypeVar("T")


class Blocking:
    """`world` is asked for when something is to be done."""

    def __init__(self, world: Callable[[], World]) -> None:
        self._world = world

    @property
    def stream_seconds(self) -> int:
        return self._world().config.stream_seconds

    async def identify(self, secret: str) -> ApiKey:
        return await self._beside(lambda: identify(secret, keys=self._world().keys))

    async def verify(self, sent: str) -> Ticket:
        world = self._world()
        return await self._beside(lambda: ticket.verify(sent, world.ticket_secret, world.clock.now()))

    async def read(self, account_id: str, run_id: str, since: int, in_full: bool) -> Answer:
        world = self._world()
        return await self._beside(
            lambda: read_events(
                run_id,
                since,
                limit=PAGE,
                wait=0,
                account_id=account_id,
                runs=world.runs,
                clock=world.clock,
                replay_cap=None if in_full else world.config.replay_cap,
            )
        )

    async def submit(self, task: Task, account_id: str, idempotency_key: str | None) -> Submitted:
        world = self._world()

        def checked() -> Task:
            return check_webhook(task, account_id=account_id, webhooks=world.webhooks, policy=world.webhook_egress)

        return await self._beside(
            lambda: submit(
                checked(),
                account_id=account_id,
                idempotency_key=idempotency_key,
                runs=world.runs,
                agents=world.agents,
                toolboxes=world.toolboxes,
                uploads=world.uploads,
                files=world.files,
                workflow=world.workflow,
                clock=world.clock,
                chance=world.chance,
            )
        )

    async def _beside(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        """Belongs to the event loop, so it is made inside."""
        return anyio.CapacityLimiter(THREADS)
