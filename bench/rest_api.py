"""`python -m bench.rest_api PORT`: the Chalice app on Chalice's own server, with the environment's table behind it."""

from __future__ import annotations

import sys

from chalice.config import Config
from chalice.local import LocalDevServer

from app import app


def main(port: int) -> None:
    """Serve until it is killed."""
    LocalDevServer(app, Config(), "127.0.0.1", port).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
