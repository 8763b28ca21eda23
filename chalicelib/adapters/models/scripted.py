"""A model that plays a script: demo and tests need no provider, and a script can misbehave as one does.

It keeps nothing between calls. Which turn is next follows from what the request shows the model, so that a run taken
over by another worker goes on at the right place.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.reply import AskedCall, Message, ModelSaid, Reply, ToolSaid, Usage
from chalicelib.ports.clock import Clock
from chalicelib.ports.model import ModelCall, ModelRequest

_WORD = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Silent:
    """Nothing comes for `seconds`, once `after` chunks have come."""

    seconds: float
    after: int = 0


@dataclass(frozen=True, slots=True)
class Dies:
    """The stream breaks half way through the text, in the first `times` calls of a step."""

    times: int = 1


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The provider turns the first `times` calls of a step away."""

    times: int = 1
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Refuses:
    """The provider wants none of it."""

    message: str = "the script refuses"


Misbehaviour = Silent | Dies | Unavailable | Refuses


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One reply. `pace` is the seconds before each chunk, a word; a slow model is one with a high pace. `if_failed` is
    said in its place after a call that failed."""

    text: str = ""
    pace: float = 0.0
    calls: tuple[AskedCall, ...] = ()
    fault: Misbehaviour | None = None
    if_failed: Turn | None = None


Script = tuple[Turn, ...]


class ScriptedModel:
    """Plays the script that the model's name names."""

    def __init__(self, scripts: Mapping[str, Script], clock: Clock) -> None:
        self._scripts = dict(scripts)
        self._clock = clock

    def call(self, request: ModelRequest) -> ModelCall:
        return ScriptedCall(self._scripts, request, self._clock)


class ScriptedCall:
    """One turn being played."""

    def __init__(self, scripts: Mapping[str, Script], request: ModelRequest, clock: Clock) -> None:
        self._scripts = scripts
        self._request = request
        self._clock = clock
        self._closed = threading.Event()

    def chunks(self) -> Iterator[str | Reply]:
        turn = _turn(self._scripts, self._request)
        _refuse(turn.fault, self._request)
        deadline = self._clock.now() + timedelta(seconds=self._request.seconds)
        words = _WORD.findall(turn.text)
        for place, chunk in enumerate([*words, _reply(turn, len(words), self._request)]):
            _die(turn.fault, self._request, half_way=place == (len(words) + 1) // 2)
            self._pause(_silence(turn.fault, place) + (turn.pace if isinstance(chunk, str) else 0.0), deadline)
            if self._closed.is_set():
                return
            yield chunk

    def close(self) -> None:
        self._closed.set()

    def _pause(self, seconds: float, deadline: datetime) -> None:
        left = (deadline - self._clock.now()).total_seconds()
        if seconds > 0:
            self._clock.sleep(min(seconds, max(left, 0)), unless=self._closed)
        if seconds > left and not self._closed.is_set():
            raise ModelUnavailable(f"no whole reply in {self._request.seconds:g} s")


def _turn(scripts: Mapping[str, Script], request: ModelRequest) -> Turn:
    script = scripts.get(request.model)
    if script is None:
        raise ModelRefused(f"there is no script {request.model!r}")
    played = sum(isinstance(message, ModelSaid) for message in request.messages)
    if played >= len(script):
        raise ModelRefused(f"the script {request.model!r} ends after {len(script)} turns")
    turn = script[played]
    return turn.if_failed if turn.if_failed is not None and _has_failed(request.messages) else turn


def _has_failed(messages: Sequence[Message]) -> bool:
    """Whether a call of the last reply did."""
    since = takewhile(lambda message: not isinstance(message, ModelSaid), reversed(messages))
    return any(isinstance(message, ToolSaid) and not message.ok for message in since)


def _refuse(fault: Misbehaviour | None, request: ModelRequest) -> None:
    match fault:
        case Refuses(message):
            raise ModelRefused(message)
        case Unavailable(times, retry_after) if request.attempt_no < times:
            raise ModelUnavailable("the script is unavailable", retry_after)


def _die(fault: Misbehaviour | None, request: ModelRequest, *, half_way: bool) -> None:
    match fault:
        case Dies(times) if half_way and request.attempt_no < times:
            raise ModelUnavailable("the script breaks off half way")


def _silence(fault: Misbehaviour | None, place: int) -> float:
    match fault:
        case Silent(seconds, after) if after == place:
            return seconds
    return 0.0


def _reply(turn: Turn, words: int, request: ModelRequest) -> Reply:
    """Usage counts a word as a token, so that the same run always costs the same."""
    shown = [request.prompt]
    for message in request.messages:
        shown.append(message.content if isinstance(message, ToolSaid) else message.text)
    read = sum(len(text.split()) for text in shown)
    return Reply(turn.text, turn.calls, Usage(read, words), "tool_calls" if turn.calls else "stop")
