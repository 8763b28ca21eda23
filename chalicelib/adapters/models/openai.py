"""Every provider that speaks OpenAI's chat completions, by base URL and key. It retries nothing: the runtime does."""

from __future__ import annotations

import json
from collections.abc import Iterator

from urllib3.exceptions import LocationParseError
from urllib3.response import HTTPResponse
from urllib3.util import Url, parse_url

from chalicelib.adapters.models import openai_faults
from chalicelib.adapters.models.exchange import BROKEN, Exchange
from chalicelib.adapters.models.openai_wire import Incoming, body
from chalicelib.adapters.net import sse
from chalicelib.core.errors import ModelUnavailable
from chalicelib.core.reply import Reply
from chalicelib.ports.model import ModelCall, ModelRequest

LONGEST_ERROR_BODY = 65_536


class OpenAIModel:
    """`base_url` is what the paths hang under, as `https://api.openai.com/v1`; a local server may want no key."""

    def __init__(self, base_url: str, key: str | None = None) -> None:
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ValueError("the model's key holds characters that no HTTP header takes")
        self._url = _endpoint(base_url)
        self._key = key

    def call(self, request: ModelRequest) -> ModelCall:
        return OpenAICall(self._url, self._key, request)


class OpenAICall:
    """One request for a streamed completion."""

    def __init__(self, url: Url, key: str | None, request: ModelRequest) -> None:
        self._key = key
        self._request = request
        self._exchange = Exchange(url, request.seconds)

    def chunks(self) -> Iterator[str | Reply]:
        incoming = Incoming(self._request)
        try:
            yield from self._texts(incoming)
        except BROKEN as fault:
            if not (self._exchange.closed or incoming.whole):
                raise self._broken(f"{type(fault).__name__}: {fault}") from fault
        finally:
            self._exchange.release()
        if self._exchange.closed:
            return
        if not incoming.whole:
            raise self._broken("the stream ended before the reply was whole")
        yield incoming.reply()

    def close(self) -> None:
        self._exchange.close()

    def _texts(self, incoming: Incoming) -> Iterator[str]:
        if self._exchange.closed:
            return
        self._expect_stream(self._exchange.post(json.dumps(body(self._request)).encode(), self._headers()))
        for data in sse.data(self._exchange.pieces()):
            if self._exchange.closed or incoming.done:
                return
            text = incoming.take(data)
            if incoming.error is not None:
                raise openai_faults.in_stream(incoming.error, self._key)
            if text:
                yield text

    def _expect_stream(self, response: HTTPResponse) -> None:
        kind = response.headers.get("Content-Type", "")
        if response.status != 200:
            content = response.read(LONGEST_ERROR_BODY).decode(errors="replace")
            raise openai_faults.of_status(response.status, content, response.headers.get("Retry-After"), self._key)
        if not kind.startswith("text/event-stream"):
            raise ModelUnavailable(f"the provider answered {kind[:80] or 'no content type'!r} instead of a stream")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream", "Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _broken(self, how: str) -> ModelUnavailable:
        if self._exchange.expired:
            return ModelUnavailable(f"no whole reply in {self._request.seconds:g} s")
        return ModelUnavailable(f"the line to the provider broke: {how}")


def _endpoint(base_url: str) -> Url:
    try:
        url = parse_url(base_url.rstrip("/") + "/chat/completions")
    except LocationParseError as why:
        raise ValueError(f"the model's URL cannot be read: {why}") from why
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the model's URL must begin with http:// or https:// and name a host")
    return url
