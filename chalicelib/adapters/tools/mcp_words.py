"""The words of the Model Context Protocol, in both of its forms. No network here."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.adapters.tools.mcp_line import NoAnswer

STATELESS = "2026-07-28"
WITH_SESSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Versions that begin with a handshake, the best one first."""

CALL_ID = "pawl/call-id"
"""In a call's `_meta`: its idempotency key, for a server that wants to know a call again."""

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CLIENT = {"name": "pawl", "version": "0"}
NEEDS_ANOTHER_VERSION = -32022
LONGEST_MESSAGE = 500

_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_ENCODED = re.compile(r"=\?base64\?.*\?=")


class Refused(Exception):  # noqa: N818 - named by what happened
    """The server answered that it does not do it. `code` is JSON-RPC's, 0 where there is none; `supported` are the
    versions that it names instead."""

    def __init__(self, said: str, *, code: int = 0, status: int = 200, supported: tuple[str, ...] = ()) -> None:
        super().__init__(said)
        self.code = code
        self.status = status
        self.supported = supported


@dataclass(frozen=True, slots=True)
class Session:
    """How a server is spoken to. Without a state, each request says everything; otherwise by what a handshake gave."""

    version: str
    session_id: str | None = None

    @property
    def stateless(self) -> bool:
        return self.version == STATELESS

    def headers(self, method: str, routing: Mapping[str, str] | None = None) -> dict[str, str]:
        """`routing` are headers that say what else is in the body; where there is a session, it routes."""
        headers = {**HEADERS, "MCP-Protocol-Version": self.version}
        if self.stateless:
            return {**headers, "Mcp-Method": method, **(routing or {})}
        return headers if self.session_id is None else {**headers, "Mcp-Session-Id": self.session_id}

    def body(self, method: str, params: Mapping[str, Any], request_id: int | None) -> bytes:
        """Without an id it is a notification, to which nobody answers."""
        if self.stateless:
            params = {**params, "_meta": {**params.get("_meta", {}), **_envelope(self.version)}}
        return _body(method, params, request_id)


def _envelope(version: str) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    return {
        f"{prefix}protocolVersion": version,
        f"{prefix}clientInfo": CLIENT,
        f"{prefix}clientCapabilities": {},
    }


def header_value(text: str) -> str:
    """As a header carries it: what is no plain ASCII goes as base64, and says so."""
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def routing(tool: str, args: Mapping[str, Any], headers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What a call says in headers too: the tool, and the arguments at the paths that the tool wants to see there."""
    found = {name: _at(args, path) for name, path in headers.items()}
    mirrored = {f"Mcp-Param-{name}": _rendered(value) for name, value in found.items() if _is_scalar(value)}
    return {"Mcp-Name": header_value(tool), **mirrored}


def _at(args: Any, path: Sequence[str]) -> Any:
    for name in path:
        args = args.get(name) if isinstance(args, Mapping) else None
    return args


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int)


def _rendered(value: str | int) -> str:
    return header_value(json.dumps(value) if isinstance(value, bool) else str(value))


def handshake(request_id: int) -> bytes:
    """The request that begins a session. It goes with `HEADERS` alone: no version is agreed upon yet."""
    params = {"protocolVersion": WITH_SESSIONS[0], "capabilities": {}, "clientInfo": CLIENT}
    return _body("initialize", params, request_id)


def _body(method: str, params: Mapping[str, Any], request_id: int | None) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if request_id is None else {**message, "id": request_id}).encode()


def parsed(content: bytes | str) -> Any:
    """JSON that can be told on: half of a surrogate pair is mended. Raises `NoAnswer`."""
    try:
        value = json.loads(content, parse_constant=_no_constant)
        # A number like 1e999 is read as infinity, which nobody could tell on as JSON.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return value if _is_whole(text) else json.loads(text.encode(errors="replace"))
    except (ValueError, RecursionError):
        raise NoAnswer("its answer is no JSON") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def answers(message: Any, request_id: int) -> bool:
    """Whether that is the answer to the request, and not news that comes along with it."""
    return isinstance(message, dict) and message.get("id") == request_id and "method" not in message


def result(message: Any) -> Mapping[str, Any]:
    """What the server answered. Raises `Refused` where that is an error, `NoAnswer` where it is neither."""
    said = message if isinstance(message, dict) else {}
    if (refused := refusal(said)) is not None:
        raise refused
    if not isinstance(said.get("result"), dict):
        raise NoAnswer("its answer is neither a result nor an error")
    return dict(said["result"])


def refusal(message: Any, status: int = 200) -> Refused | None:
    """The error that a message tells of, None if it does not."""
    error = message.get("error") if isinstance(message, dict) else None
    if not isinstance(error, dict):
        return None
    code, data = error.get("code"), error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    return Refused(
        str(error.get("message") or "no reason given")[:LONGEST_MESSAGE],
        code=code if isinstance(code, int) else 0,
        status=status,
        supported=tuple(filter(_is_text, supported)) if isinstance(supported, list) else (),
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
