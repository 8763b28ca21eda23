"""`python -m chalicelib.edge`: the edge as a server of its own, in a container or behind the Lambda Web Adapter."""

from __future__ import annotations

import logging
import sys

from chalicelib import bootstrap
from chalicelib.config import InvalidSetting
from chalicelib.edge.door import Edge
from chalicelib.edge.server import EdgeServer


def main() -> int:
    """Serve until SIGTERM or Ctrl-C."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        port = bootstrap.world().config.edge_port
    except InvalidSetting as fault:
        print(f"{fault}.", file=sys.stderr)
        return 1
    EdgeServer(Edge(bootstrap.world), port).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
