"""The sandbox on AWS: a function of its own, in a machine that no two runs share.

Lambda keeps an execution environment for one tenant, and the run is the tenant. A call goes out once: a second attempt
would be the code run twice.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.adapters.sandbox import wire
from chalicelib.core.code import CodeJob, CodeResult, Limit
from chalicelib.core.errors import SandboxUnavailable
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

NAME = "lambda"
GLANCE = 0.05
"""How long an order to stop may go unseen, in seconds."""

TO_START = timedelta(seconds=10)
"""What a machine may take to start, and an answer to come, beyond the time of the code."""

_Outcome = Any


class LambdaSandbox:
    """`client` has to be one that makes one attempt, and waits longer than the function may take."""

    def __init__(self, client: LambdaClient, function: str, clock: Clock) -> None:
        self._client = client
        self._function = function
        self._clock = clock

    def run(self, job: CodeJob) -> CodeResult:
        if job.hosts:
            raise SandboxUnavailable("on AWS code has no network: fetch what it needs with http_get, and hand it in")
        began = time.monotonic()
        outcome = self._outcome(job)
        if isinstance(outcome, Limit):
            return CodeResult(None, "", "", NAME, time.monotonic() - began, limit=outcome)
        return _result(outcome, time.monotonic() - began)

    def _outcome(self, job: CodeJob) -> _Outcome:
        """What the function answered, or why it was not waited for: nothing stops an invocation from outside. The code
        then goes on in its machine, until the function's own limits end it."""
        box: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        seconds = (job.deadline - self._clock.now()).total_seconds()
        threading.Thread(target=lambda: box.put(self._invoked(job, seconds)), daemon=True).start()
        while True:
            try:
                return box.get(timeout=GLANCE)
            except queue.Empty:
                if job.stop.is_set():
                    return Limit.STOPPED
                if self._clock.now() >= job.deadline + TO_START:
                    return Limit.WALL

    def _invoked(self, job: CodeJob, seconds: float) -> _Outcome:
        try:
            answer = self._client.invoke(
                FunctionName=self._function,
                InvocationType="RequestResponse",
                TenantId=job.tenant,
                Payload=json.dumps(wire.job_event(job, seconds)).encode(),
            )
            return answer.get("FunctionError"), json.loads(answer["Payload"].read())
        except (BotoCoreError, ClientError, ValueError, OSError) as fault:
            return fault


def _result(outcome: _Outcome, seconds: float) -> CodeResult:
    if isinstance(outcome, Exception):
        raise SandboxUnavailable(f"{NAME}: {type(outcome).__name__}: {outcome}") from outcome
    failed, answer = outcome
    said = answer if isinstance(answer, dict) else {}
    if failed is not None:
        if "timed out" in str(said.get("errorMessage")):
            return CodeResult(None, "", "", NAME, seconds, limit=Limit.WALL)
        raise SandboxUnavailable(f"{NAME}: the function failed: {str(said.get('errorMessage'))[:300]}")
    if "refused" in said:
        raise SandboxUnavailable(f"{NAME}: {str(said['refused'])[:300]}")
    try:
        return wire.result_told(answer, NAME, seconds)
    except wire.BadAnswer as fault:
        raise SandboxUnavailable(f"{NAME}: {fault}") from fault
