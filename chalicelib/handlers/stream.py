"""The table's stream: logs went on."""

from __future__ import annotations

from typing import Any

from chalicelib import bootstrap
from chalicelib.handlers import socket
from chalicelib.usecases import deliver as tell


def deliver(event: dict[str, Any], context: Any) -> None:
    """Tell the sockets that watch the logs which went on. What is raised has the batch tried again."""
    world = bootstrap.world()
    written = world.stream.written(event["Records"])
    tell.deliver(written, needs=socket.needs(world), until=socket.until(world, context))
