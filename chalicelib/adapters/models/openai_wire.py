"""The words of OpenAI's chat completions: our request in theirs, their chunks in ours. No network here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.core.errors import ModelUnavailable
from chalicelib.core.reply import AskedCall, Message, ModelSaid, Reply, ToolCall, ToolSaid, Usage, UserSaid
from chalicelib.core.tools import ToolSpec
from chalicelib.ports.model import ModelRequest

CHARACTERS_A_TOKEN = 4
"""The common rule of thumb, for a provider that gives no usage."""

LONGEST_EXCERPT = 80
"""How much of a broken chunk is quoted."""

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def body(request: ModelRequest) -> dict[str, Any]:
    """The request as it is posted."""
    asked: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.prompt}, *map(_message, request.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        asked |= {"tools": [_function(tool) for tool in request.tools], "tool_choice": "auto"}
    return asked


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserSaid(text):
            return {"role": "user", "content": text}
        case ModelSaid(text, ()):
            return {"role": "assistant", "content": text}
        case ModelSaid(text, calls):
            # Without text there is no content at all: some servers take no null there, others no empty text.
            said = {"content": text} if text else {}
            return {"role": "assistant", **said, "tool_calls": [_made_call(call) for call in calls]}
        case ToolSaid(call_id, _, content):
            return {"role": "tool", "tool_call_id": call_id, "content": content}


def _made_call(call: ToolCall) -> dict[str, Any]:
    # Providers refuse a whole conversation for one odd name in it, so it goes back mended; the tool's answer quotes it.
    name = _NO_NAME.sub("_", call.name)[:64] or "_"
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(dict(call.args))},
    }


def _function(tool: ToolSpec) -> dict[str, Any]:
    named = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": named}


@dataclass(slots=True)
class _Fragments:
    """A tool call as far as it has come."""

    name: str = ""
    arguments: str = ""


class Incoming:
    """A reply as far as it has come. `done` once the stream says so; `error` is what the provider sent in its place."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._text: list[str] = []
        self._calls: dict[str, _Fragments] = {}
        self._usage: Usage | None = None
        self._stop: str | None = None
        self.done = False
        self.error: object = None

    @property
    def whole(self) -> bool:
        """Whether the provider has said that nothing more of the reply comes."""
        return self.done or self._stop is not None

    def take(self, data: str) -> str:
        """Take in the data of one event; the text that it brought. Raises `ModelUnavailable` if it is no chunk."""
        if data.strip() == "[DONE]":
            self.done = True
            return ""
        chunk = _object(_parsed(data))
        self.error = chunk.get("error") or self.error
        self._usage = _usage(chunk.get("usage")) or self._usage
        return "".join(self._choice(_object(choice)) for choice in _list(chunk.get("choices"))[:1])

    def reply(self) -> Reply:
        """The whole reply."""
        text = "".join(self._text)
        calls = tuple(_asked(call) for call in self._calls.values())
        return Reply(text, calls, self._usage or self._estimate(text), self._stop or "")

    def _choice(self, choice: Mapping[str, Any]) -> str:
        self._stop = _text(choice.get("finish_reason")) or self._stop
        delta = _object(choice.get("delta") or {})
        for fragment in _list(delta.get("tool_calls")):
            self._fragment(_object(fragment))
        text = _text(delta.get("content"))
        self._text.append(text)
        return text

    def _fragment(self, fragment: Mapping[str, Any]) -> None:
        # Some providers leave the index out and send each call whole; some repeat the name with every fragment.
        index = fragment.get("index")
        call = self._calls.setdefault(str(fragment.get("id") if index is None else index), _Fragments())
        function = _object(fragment.get("function") or {})
        call.name = call.name or _text(function.get("name"))
        call.arguments += _text(function.get("arguments"))

    def _estimate(self, text: str) -> Usage:
        sent = json.dumps(body(self._request), ensure_ascii=False)
        came = text + "".join(call.name + call.arguments for call in self._calls.values())
        return Usage(_tokens(sent), _tokens(came), estimated=True)


def _asked(call: _Fragments) -> AskedCall:
    try:
        args = json.loads(call.arguments.strip() or "{}", object_pairs_hook=_once_each)
        # What no JSON text can hold, a number beyond every bound or half a character, could not be written to the log.
        json.dumps(args, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        args = None
    return AskedCall(call.name, args) if isinstance(args, dict) else AskedCall(call.name, {}, malformed=call.arguments)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two values of one name some readers take the first, some the last: what is judged must be what is done."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    read, wrote = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Usage(read, wrote) if isinstance(read, int) and isinstance(wrote, int) else None


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _parsed(data: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise _no_chunk(data) from None


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _no_chunk(value)
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list | None):
        raise _no_chunk(value)
    return value or []


def _text(value: object) -> str:
    if not isinstance(value, str | None):
        raise _no_chunk(value)
    # Half of a surrogate pair can be escaped in JSON, yet neither be stored nor sent on.
    return (value or "").encode(errors="replace").decode()


def _no_chunk(value: object) -> ModelUnavailable:
    return ModelUnavailable(f"the stream holds something that is no chunk of a reply: {str(value)[:LONGEST_EXCERPT]!r}")
