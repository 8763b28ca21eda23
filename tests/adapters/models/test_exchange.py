"""The line to a provider where it is not plain: TLS, and a server that answers before it has read everything."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from chalicelib.adapters.models.openai import OpenAIModel
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.reply import UserSaid
from tests.adapters.models.a_call import Reading, a_request
from tests.adapters.models.provider import DONE, Ending, delta, serving, stream
from tests.certificate import certificate_of


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return certificate_of(tmp_path, "127.0.0.1")


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_closing_ends_a_silent_call_over_tls_and_hangs_up(
    certificate: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(stream(delta(content="Hello"), ending=Ending.SILENT), tls) as provider:
        call = OpenAIModel(provider.url).call(a_request(seconds=3600))
        reading = Reading(call)
        assert reading.next() == "Hello"

        call.close()

        assert reading.ends() == []
        assert reading.fault is None
        assert provider.hung_up.wait(10)


def test_a_certificate_that_nobody_vouches_for_is_not_taken(tls: ssl.SSLContext) -> None:
    with serving(stream(delta("stop", content="Hello"), DONE), tls) as provider:
        with pytest.raises(ModelUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            list(OpenAIModel(provider.url, "sk-secret").call(a_request()).chunks())

        assert provider.asked == []


def test_an_answer_that_comes_before_the_whole_request_was_read_counts() -> None:
    answer = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        hasty = threading.Thread(target=_answer_and_hang_up, args=(listening, answer))
        hasty.start()
        model = OpenAIModel(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")

        with pytest.raises(ModelRefused, match="too large"):
            list(model.call(a_request(UserSaid("x" * 20_000_000))).chunks())

        hasty.join()


def _answer_and_hang_up(listening: socket.socket, answer: bytes) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(answer)
