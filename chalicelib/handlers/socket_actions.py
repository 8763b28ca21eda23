"""What may be asked by a WebSocket. Everything may be asked twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.bootstrap import World
from chalicelib.core import api_key, ticket
from chalicelib.core.api_key import Scope
from chalicelib.core.cursor import START
from chalicelib.core.watch import Connection
from chalicelib.handlers import http_input, socket_shapes
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.keep_watching import keep_watching
from chalicelib.usecases.pump import Needs, say
from chalicelib.usecases.subscribe import subscribe, unsubscribe

Asked = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """A socket that may ask, the runs that it watches, and the time that its message has."""

    connection: Connection
    run_ids: frozenset[str]
    world: World
    needs: Needs
    until: datetime

    def reply(self, frame: str) -> None:
        say(self.connection.connection_id, frame, needs=self.needs)


def _subscribe(caller: Caller, asked: Asked) -> None:
    run_id, since = http_input.run_id(asked["run_id"]), http_input.since({"since": str(asked.get("since", START))})
    subscribe(
        caller.connection,
        caller.run_ids,
        run_id,
        since,
        in_full=http_input.in_full({"replay": asked["replay"]} if "replay" in asked else {}),
        reply=socket_shapes.subscribed(run_id, since),
        needs=caller.needs,
        until=caller.until,
    )


def _unsubscribe(caller: Caller, asked: Asked) -> None:
    run_id = http_input.run_id(asked["run_id"])
    unsubscribe(caller.connection, run_id, needs=caller.needs)
    caller.reply(socket_shapes.unsubscribed(run_id))


def _ping(caller: Caller, asked: Asked) -> None:
    caller.reply(socket_shapes.pong())
    keep_watching(caller.connection, caller.run_ids, needs=caller.needs, until=caller.until)


def _cancel(caller: Caller, asked: Asked) -> None:
    connection, world, run_id = caller.connection, caller.world, http_input.run_id(asked["run_id"])
    api_key.permit(connection.scopes, Scope.RUN)
    ticket.permit(connection.run_id, run_id)
    run, _ = cancel(
        run_id,
        account_id=connection.account_id,
        actor=connection.key_id,
        reason=asked.get("reason"),
        runs=world.runs,
        slots=world.slots,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    caller.reply(socket_shapes.status(run))


ACTIONS: dict[str, Callable[[Caller, Asked], None]] = {
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "ping": _ping,
    "cancel": _cancel,
}
