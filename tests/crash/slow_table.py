"""`python -m tests.crash.slow_table …`: the local cloud, in which one write of a Lambda process takes its time.

It is the next append of text to the run that the file `slow` names. While there is a file `held`, it is on its way, and
nothing in the table has changed; once that is gone it is tried, and once there is a file `answered` its answer is out.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from infra.local.__main__ import main
from infra.local.overrides import override

SLOW, HELD, ANSWERED = Path("slow"), Path("held"), Path("answered")
GLANCE = 0.02

_serve: Any = DomainDispatcherApplication.__call__


def served(app: DomainDispatcherApplication, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A request, by moto's server."""
    answer: Iterable[bytes] = _serve(app, environ, start_response)
    return answer


def patiently(app: DomainDispatcherApplication, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The same, unless it is the one that takes its time."""
    if SLOW.exists() and environ.get("HTTP_X_AMZ_TARGET", "").endswith(".PutItem"):
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = BytesIO(body)
        if b"text.delta" in body and SLOW.read_bytes() in body:
            return _in_its_time(app, environ, start_response)
    return served(app, environ, start_response)


def _in_its_time(app: DomainDispatcherApplication, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    SLOW.rename(HELD)
    while HELD.exists():
        threading.Event().wait(GLANCE)
    answer: Any = served(app, environ, start_response)
    with closing(answer):
        yield from answer
    ANSWERED.touch()


if __name__ == "__main__":
    with override(DomainDispatcherApplication, "__call__", patiently):
        sys.exit(main())
