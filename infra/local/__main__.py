"""`python -m infra.local`: the whole of Pawl on this machine."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

from chalicelib import bootstrap
from chalicelib.config import InvalidSetting
from infra.local import development_key, logs
from infra.local.cloud import LocalCloud
from infra.local.gateway import PortTaken
from infra.local.journal import DataInUse, JournalDamaged
from infra.local.packaged import options
from infra.local.speed import FastTime

KEY = Path(".pawl", "key")


def main() -> int:
    """Run until Ctrl-C or SIGTERM."""
    asked = _arguments()
    shown = sys.stdout
    logs.show(lambda line: print(line, file=shown, flush=True), logging.WARNING if asked.quiet else logging.INFO)
    sys.stdout = logs.Readable(lambda line: None if asked.quiet else print(line, file=shown, flush=True))
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        _serve(asked, stop)
    except PortTaken:
        return _refuse(f"Port {asked.port} is taken. Stop what listens there, or choose another: --port N or PORT=N.")
    except InvalidSetting as fault:
        return _refuse(f"{fault}.")
    except DataInUse as fault:
        return _refuse(f"Another local cloud keeps its data in {fault}.")
    except JournalDamaged as fault:
        return _refuse(f"The journal is damaged: {fault}. Move it away to start empty.")
    return 0


def _serve(asked: argparse.Namespace, stop: threading.Event) -> None:
    given = {
        "port": asked.port,
        "data": asked.data,
        "processes": asked.lambdas == "process",
        "console_key": KEY,
        "own_functions": dict(asked.function),
    }
    time = FastTime.kept(asked.speed, asked.data) if asked.speed != 1 else None
    with LocalCloud(options(os.environ, time, **given)) as cloud:
        development_key.provide(KEY, bootstrap.world())
        print(_banner(cloud.url, asked), file=sys.__stdout__, flush=True)
        stop.wait()
        print("Stopping.", file=sys.__stdout__, flush=True)


USUAL_PORT = 8787
"""Where `pawl` looks unless it is told otherwise."""


def _banner(url: str, asked: argparse.Namespace) -> str:
    pawl = "pawl" if asked.port == USUAL_PORT else f"PORT={urlsplit(url).port} pawl"
    kept = f"data     {asked.data}" if asked.data else "data     in memory only (--data DIR keeps it)"
    return f"""
Pawl is running at {url}  (Ctrl-C stops it)

console  {url}/
key      {KEY}, found by `{pawl}` when it is run here
{kept}
try      {pawl} run "Analyse market data" --follow
         curl -s {url}/v1/agents -H "Authorization: Bearer $(cat {KEY})"
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description=__doc__)
    port = os.environ.get("PORT") or str(USUAL_PORT)
    parser.add_argument("--port", type=int, default=port, help="where to serve on 127.0.0.1 (PORT, 8787)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep runs and keys there, over restarts and kills")
    kinds = ("thread", "process")
    parser.add_argument("--lambdas", choices=kinds, default="thread", help="where Lambdas run; processes can be killed")
    parser.add_argument(
        "--function",
        type=_function,
        action="append",
        default=[],
        metavar="NAME=MODULE.HANDLER",
        help="a Lambda function of your own, for an agent's tool; may be given more than once",
    )
    parser.add_argument("--speed", type=_speed, default=1, metavar="N", help="a minute of Pawl takes 60/N seconds (1)")
    parser.add_argument("--quiet", action="store_true", help="warnings only")
    return parser.parse_args()


def _function(text: str) -> tuple[str, str]:
    name, between, handler = text.partition("=")
    if not (name and between and handler.rpartition(".")[0]):
        raise ValueError(text)
    return name, handler


def _speed(text: str) -> float:
    speed = float(text)
    if not 1 <= speed <= 100:
        raise ValueError(text)
    return speed


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Long polls and Lambdas in mid-work sit in threads that nothing can end, and that Python would wait for.
    os._exit(code)
