"""The backend on AWS, up to the wire and from it: botocore's model of Lambda on this side, on the other the zip that is
deployed, in a process of its own. moto knows no tenants. Lambda itself was never asked."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.aws.clients import function_client
from chalicelib.adapters.sandbox import wire
from chalicelib.adapters.sandbox.aws_lambda import LambdaSandbox
from chalicelib.adapters.sandbox.interpreter import interpreter
from chalicelib.core.code import MOST_INPUT, CodeJob, CodeLimits, Limit
from chalicelib.core.errors import SandboxUnavailable
from infra.build import BUILD, Built, build
from infra.sandbox import HANDLER
from tests.sandbox.attacks import SNIPPETS
from tests.sandbox.host import USER
from tests.sandbox.jobs import CLOCK, a_job

FUNCTION = "pawl-dev-sandbox"
LARGEST = 6_291_556
"""Bytes that Lambda takes, and gives, in one call."""

CALL = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
module, _, name = sys.argv[2].rpartition(".")
class Context:
    def get_remaining_time_in_millis(self):
        return 60_000
print(json.dumps(getattr(importlib.import_module(module), name)(json.load(sys.stdin), Context())))
"""

Answer = tuple[int, dict[str, str], bytes]


class FakeLambda:
    """Speaks HTTP as Lambda does. `answer` makes an answer of a payload; `asked` are the requests that came."""

    def __init__(self, answer: Callable[[bytes], Answer]) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                status, headers, content = answer(body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture(scope="module")
def built() -> Built:
    return build()


@pytest.fixture(scope="module")
def machine(built: Built) -> Iterator[Callable[[bytes], Answer]]:
    """The zip, unpacked where the user that has no rights may read it, with a folder for temporary files of its own."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        task, scratch = root / "task", root / "tmp"
        with zipfile.ZipFile(BUILD / "sandbox.zip") as package:
            package.extractall(task)
        scratch.mkdir()
        scratch.chmod(0o777)
        yield lambda payload: _invoked(payload, task, scratch)


def _invoked(payload: bytes, task: Path, scratch: Path) -> Answer:
    as_user: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": ()} if os.geteuid() == 0 else {}
    secret = "of-the-role"
    done = subprocess.run(
        [interpreter(USER if as_user else None).binary, "-ISB", "-c", CALL, str(task), HANDLER],
        input=payload,
        env={"TMPDIR": str(scratch), "AWS_LAMBDA_FUNCTION_NAME": FUNCTION, "AWS_SECRET_ACCESS_KEY": secret},
        cwd="/",
        capture_output=True,
        check=False,
        **as_user,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert os.listdir(scratch) == []
    return 200, {}, done.stdout


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[bytes], Answer]], FakeLambda]]:
    made: list[FakeLambda] = []

    def at(answer: Callable[[bytes], Answer]) -> FakeLambda:
        made.append(FakeLambda(answer))
        for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", made[-1].url)
        return made[-1]

    yield at
    for each in made:
        each.server.shutdown()
        each.server.server_close()


At = Callable[[Callable[[bytes], Answer]], FakeLambda]


def a_sandbox(seconds: float = wire.FUNCTION_SECONDS + 15) -> LambdaSandbox:
    return LambdaSandbox(function_client(seconds, None), FUNCTION, CLOCK)


def test_code_runs_in_the_function_and_files_come_back(environment: At, machine: Callable[[bytes], Answer]) -> None:
    aws = environment(machine)
    code = "print(open('in/a.txt').read())\nopen('out/b.bin', 'wb').write(bytes(range(256)))"
    result = a_sandbox().run(a_job(code, files={"a.txt": b"given"}))

    assert (result.exit, result.stdout, result.backend) == (0, "given\n", "lambda")
    assert result.files == {"b.bin": bytes(range(256))}
    [(path, headers, _)] = aws.asked
    assert path == f"/2015-03-31/functions/{FUNCTION}/invocations"
    assert (headers["x-amz-tenant-id"], headers["x-amz-invocation-type"]) == ("acme:run_1", "RequestResponse")


@pytest.mark.parametrize("name", ["benign", "proc_environ", "env_secret", "fork_bomb", "net_tcp", "memory_one"])
def test_the_code_wears_the_same_lock_there(name: str, environment: At, machine: Callable[[bytes], Answer]) -> None:
    aws = environment(machine)
    world = json.dumps({"tcp": aws.server.server_port, "mark": "x"}).encode()
    result = a_sandbox().run(a_job(SNIPPETS[name], files={"world.json": world}))

    assert "GOT" not in result.stdout
    if name == "memory_one":
        assert result.limit is Limit.MEMORY
    else:
        assert result.stdout.splitlines()[-1].startswith(("HELD", "DONE")), result


def test_code_that_does_not_end_is_ended_by_its_own_limits(environment: At, machine: Callable[[bytes], Answer]) -> None:
    environment(machine)

    assert a_sandbox().run(a_job("while True: pass", cpu=1)).limit is Limit.CPU
    assert a_sandbox().run(a_job("import time; time.sleep(60)", wall=0.5)).limit is Limit.WALL


def test_a_call_is_made_once_whatever_becomes_of_it(environment: At) -> None:
    aws = environment(lambda _: (500, {}, b"{}"))

    with pytest.raises(SandboxUnavailable, match="lambda: "):
        a_sandbox().run(a_job(""))

    assert len(aws.asked) == 1


def test_a_silent_function_is_not_asked_again(environment: At) -> None:
    waiting = threading.Event()
    aws = environment(lambda _: (200, {}, str(waiting.wait(3)).encode()))

    with pytest.raises(SandboxUnavailable, match="ReadTimeoutError"):
        a_sandbox(0.3).run(a_job(""))

    waiting.set()
    assert len(aws.asked) == 1


def test_the_client_waits_longer_than_the_function_may_take(environment: At) -> None:
    environment(lambda _: (200, {}, b""))
    config: Any = function_client(wire.FUNCTION_SECONDS + 15, None).meta.config

    assert config.read_timeout > wire.FUNCTION_SECONDS > CodeLimits().wall
    assert config.retries["total_max_attempts"] == 1


def test_a_stopped_run_does_not_wait_for_the_function(environment: At) -> None:
    waiting, stop = threading.Event(), threading.Event()
    environment(lambda _: (200, {}, str(waiting.wait(20)).encode()))
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()

    assert a_sandbox().run(a_job("", stop=stop)).limit is Limit.STOPPED
    assert time.monotonic() - began < 1.3
    waiting.set()


def _unhandled(message: str) -> Answer:
    return 200, {"X-Amz-Function-Error": "Unhandled"}, json.dumps({"errorMessage": message}).encode()


def test_a_function_that_ran_out_of_time_is_a_limit(environment: At) -> None:
    environment(lambda _: _unhandled("2026-11-30T12:00:00Z x Task timed out after 60.00 seconds"))

    assert a_sandbox().run(a_job("")).limit is Limit.WALL


@pytest.mark.parametrize(
    "answer",
    [
        _unhandled("RequestId: x Error: Runtime exited with error: signal: killed"),
        (200, {}, b'{"refused": "no Python"}'),
        (200, {}, b"[]"),
        (200, {}, b"nonsense"),
        (200, {}, b'{"packed": "bm90IHBhY2tlZA=="}'),
        (200, {}, json.dumps(wire.packed({"exit": "x"})).encode()),
        (429, {"x-amzn-ErrorType": "TooManyRequestsException"}, b'{"message": "Rate exceeded"}'),
        (404, {"x-amzn-ErrorType": "ResourceNotFoundException"}, b'{"message": "no function"}'),
    ],
)
def test_no_result_is_no_run(answer: Answer, environment: At) -> None:
    environment(lambda _: answer)

    with pytest.raises(SandboxUnavailable, match="lambda: "):
        a_sandbox().run(a_job(""))


def test_approved_hosts_are_refused_on_aws(environment: At) -> None:
    aws = environment(lambda _: (200, {}, b""))

    with pytest.raises(SandboxUnavailable, match="http_get"):
        a_sandbox().run(a_job("", hosts=("example.com",)))

    assert aws.asked == []


def test_the_largest_job_and_the_largest_result_fit_a_call() -> None:
    limits = CodeLimits()
    job = CodeJob("", "t", CLOCK.now(), threading.Event(), files={"large": os.urandom(MOST_INPUT)})
    said = os.urandom(limits.output).decode(errors="replace")
    result = wire.packed(
        {"stdout": said, "files": {"a": base64.b64encode(os.urandom(limits.file_bytes)).decode()}, "stderr": ""}
    )

    assert len(json.dumps(wire.job_event(job, 30))) < LARGEST
    assert len(json.dumps(result)) < LARGEST


def test_the_handler_clears_no_machine_but_lambda_s(machine: Callable[[bytes], Answer]) -> None:
    from chalicelib.adapters.sandbox.on_lambda import handler

    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 60_000

    assert "AWS_LAMBDA_FUNCTION_NAME" not in os.environ
    with pytest.raises(RuntimeError, match="for Lambda only"):
        handler({}, Context())


def test_the_zip_holds_the_sandbox_and_no_more(built: Built) -> None:
    with zipfile.ZipFile(BUILD / "sandbox.zip") as package:
        rooms = {"/".join(name.split("/")[:3]) for name in package.namelist()}

    assert not [room for room in rooms if room.startswith(("chalicelib/handlers", "chalicelib/usecases"))]
    assert not [
        room for room in rooms if room.startswith("chalicelib/adapters/") and room.endswith(("aws", "dynamodb"))
    ]
    assert (BUILD / "sandbox.zip").stat().st_size < 520_000
