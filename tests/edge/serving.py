"""An edge on the loopback interface, in front of a log in memory."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core import api_key
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.edge.door import Edge
from chalicelib.edge.pace import Pace
from chalicelib.edge.server import EdgeServer
from tests.builders import a_key
from tests.edge.memory_log import MemoryLog

KEY = "Bearer pawl_acme"
ACCOUNTS = {"pawl_acme": frozenset(Scope), "pawl_globex": frozenset(Scope), "pawl_blind": frozenset({Scope.RUN})}


class Keys:
    """A key an account, named after it."""

    def find(self, digest: str) -> ApiKey | None:
        for secret, scopes in ACCOUNTS.items():
            if api_key.digest(secret) == digest:
                return replace(a_key(), digest=digest, account_id=secret.removeprefix("pawl_"), scopes=scopes)
        return None


def a_world(log: MemoryLog, **settings: Any) -> World:
    world = World(Config(table="table", bucket="bucket", state_machine_arn="arn", **settings))
    runs: Any = log
    keys: Any = Keys()
    world.runs, world.keys = runs, keys
    return world


@contextmanager
def serving(world: World, pace: Pace | None = None) -> Iterator[tuple[str, EdgeServer]]:
    """The edge's address, and its server, which goes when the block is left."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = EdgeServer(Edge(lambda: world, pace), port=0)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", server
        finally:
            server.handle_exit(15, None)
            thread.join()
