"""The laptop cloud: everything that the packaged template describes, in this process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import boto3
from moto import mock_aws
from moto.server import ThreadedMotoServer

from chalicelib.adapters.system import SystemClock
from chalicelib.ports.clock import Clock
from infra.local import events, functions, lambdas, s3, s3_door, stack, stepfunctions, tool_functions
from infra.local.api import RestApi
from infra.local.bus import Bus
from infra.local.data import Data
from infra.local.dynamodb import Serial
from infra.local.functions import Outcome, Resolve, Runtime, Threads
from infra.local.gateway import Gateway, listen
from infra.local.journal import Journal
from infra.local.lambdas import Lambdas
from infra.local.mail import Mail
from infra.local.processes import Processes
from infra.local.queues import Queues
from infra.local.refusals import Refusals
from infra.local.sockets import SocketGateway
from infra.local.stack import REGION, Stack
from infra.local.streams import Streams, consumers

LIKE_AWS: Any = {"lambda": {"use_docker": False}, "stepfunctions": {"execute_state_machine": True}}
NOBODY = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_SESSION_TOKEN": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
}
"""No request of ours is ever signed with a developer's own credentials."""
ELSEWHERE = ("AWS_PROFILE", "AWS_ENDPOINT_URL")
"""What would lead a client away from here."""

PATIENCE = 2
"""Real seconds that running invocations have to end when the cloud closes."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a local cloud is run. `template` is one that moto takes; `environment` is laid over every function's own."""

    template: Mapping[str, Any]
    refusals: Refusals = field(default_factory=lambda: Refusals({}))
    parameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    own_functions: Mapping[str, str] = field(default_factory=dict)
    """Functions beside the stack's, by their names, each with its handler."""
    data: Path | None = None
    processes: bool = False
    port: int = 0
    console_key: Path | None = None
    """The file of the key that the console's page gets; without it there is no console."""
    ticking: bool = True
    resolve: Resolve = functions.resolve
    around: Callable[[Clock], AbstractContextManager[object]] = nullcontext
    """Entered once the environment stands, before anything runs, and left when nothing does."""
    print_line: Callable[[str], None] = print
    """What becomes of a line that a Lambda process prints."""


class LocalCloud:
    """A context manager, one at a time in a process. Inside it the stack is up, and every boto3 client reaches it."""

    url: str
    lambdas: Lambdas

    def __init__(self, options: Options) -> None:
        self._options = options
        self._open = ExitStack()
        self._processes: Processes | None = None
        self.clock = options.clock

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._come_up(opened)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def invoke(self, door: str, event: Any) -> Outcome:
        """Run a function, by its name in app.py."""
        return self.lambdas.invoke(self.lambdas.of_name(door), event)

    def await_end(self, arn: str, seconds: float = 10) -> None:
        """Block until the execution is over; raises TimeoutError after so many real seconds."""
        self._bus.await_end(arn, seconds)

    def client(self, service: Any) -> Any:
        """A boto3 client."""
        return boto3.client(service, region_name=REGION)

    def busy(self, door: str) -> list[int]:
        """The processes that run the function now, by id. Only with `processes`."""
        assert self._processes is not None
        return self._processes.busy(door)

    def await_busy(self, door: str, seconds: float = 10) -> int:
        """A process that runs the function, once there is one; raises TimeoutError after so many real seconds."""
        assert self._processes is not None
        return self._processes.await_busy(door, seconds)

    def _come_up(self, opened: ExitStack) -> None:
        options = self._options
        listener = opened.enter_context(listen(options.port))
        data = Data(Journal(options.data) if options.data else None)
        opened.callback(data.close)
        serial = Serial(data.written)
        opened.enter_context(_surroundings(NOBODY))
        opened.enter_context(mock_aws(config=LIKE_AWS))
        opened.enter_context(serial.in_force())
        opened.enter_context(stepfunctions.repaired())
        tool_functions.provide(options.own_functions)
        made = stack.bring_up(options.template, options.parameters)
        opened.callback(stack.take_down)
        opened.enter_context(_surroundings({**made.environment, **s3_door.settings(listener), **options.environment}))
        ran_before = data.restore(made)
        opened.enter_context(options.around(self.clock))
        opened.enter_context(s3.in_force(data.stored))
        self.lambdas = Lambdas(made.functions, self._runtime(opened), Threads(options.resolve), self.clock)
        self._streams = Streams(consumers(self.client("lambda")), self.lambdas.invoke)
        opened.enter_context(lambdas.in_force(self.lambdas, Mail(self.lambdas.invoke).send, self._streams.send))
        self._queues = Queues(self.clock, self._invoke_arn)
        opened.enter_context(self._queues.in_force())
        self._bus = bus = Bus(events.rules(self.client("events")), self.lambdas, data, self.clock)
        opened.enter_context(stepfunctions.in_force(self.clock, bus))
        opened.callback(self._fall_silent, data)
        self._queues.begin()
        self._open_gateway(opened, made, listener)
        bus.abort(ran_before)
        if options.ticking:
            opened.callback(bus.stop)
            bus.tick(serial, made.expiry)

    def _invoke_arn(self, arn: str, event: Any) -> Outcome:
        return self.lambdas.invoke(self.lambdas.of_name(arn), event)

    def _runtime(self, opened: ExitStack) -> Runtime:
        options = self._options
        if not options.processes:
            return Threads(options.resolve)
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line for every request of every process
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        opened.callback(server.stop)
        host, port = server.get_host_and_port()
        self._processes = Processes(f"http://{host}:{port}", dict(os.environ), self.clock, options.print_line)
        opened.callback(self._processes.close)
        return self._processes

    def _fall_silent(self, data: Data) -> None:
        self._streams.close()
        self.lambdas.close()
        self._queues.close()
        if self.lambdas.drain(PATIENCE):
            self._bus.finish()
            self._queues.finish()
        # Executions that still run are for the next start to find, so the journal closes before they are stopped. From
        # then on a Lambda that still runs cannot write: nothing of its log is lost that an effect has followed.
        data.close()
        stepfunctions.stop_all()

    def _open_gateway(self, opened: ExitStack, made: Stack, listener: Any) -> None:
        served = next((each for each in made.functions.values() if each.door == "app"), None)
        if served is None:
            return
        app: Any = self._options.resolve(served.handler)
        api, sockets = RestApi(app, self.lambdas, self._options.refusals, self.clock), SocketGateway(self.lambdas)
        opened.enter_context(sockets.in_force())
        gateway = Gateway(api, sockets, listener, self._options.console_key)
        gateway.open()
        opened.callback(gateway.close)
        self.url = gateway.url


@contextmanager
def _surroundings(variables: Mapping[str, str]) -> Iterator[None]:
    """These variables in the environment, and none that leads elsewhere."""
    before = dict(os.environ)
    for name in ELSEWHERE:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
