"""What every model keeps to, whoever the provider is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from chalicelib.adapters.models.openai import OpenAIModel
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Refuses, ScriptedModel, Silent, Turn, Unavailable
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.reply import AskedCall, Reply
from chalicelib.ports.model import Model
from tests.adapters.models.a_call import a_request
from tests.adapters.models.provider import DONE, Answer, Ending, call_fragment, delta, serving, stream, usage
from tests.virtual_time import VirtualTime

WORDS = ("One ", "small ", "step.")
CALL = AskedCall("get_weather", {"city": "Paris"})


class Scripted:
    """The models of this suite, played."""

    def says(self, *words: str, calls: tuple[AskedCall, ...] = ()) -> Model:
        return self._plays(Turn(text="".join(words), calls=calls))

    def is_unavailable(self) -> Model:
        return self._plays(Turn(fault=Unavailable(retry_after=7.0)))

    def refuses(self) -> Model:
        return self._plays(Turn(fault=Refuses()))

    def never_ends(self) -> Model:
        return self._plays(Turn(text="".join(WORDS), fault=Silent(3600, after=1)))

    def _plays(self, turn: Turn) -> Model:
        return ScriptedModel({"test": (turn,)}, VirtualTime())


class Routed(Scripted):
    """The same, behind the routing."""

    def _plays(self, turn: Turn) -> Model:
        scripted = ScriptedModel({"name:with:colons": (turn,)}, VirtualTime())
        return RoutedModel({"test": scripted})


class Wired:
    """The models of this suite, spoken over a real connection."""

    def __init__(self, open_: ExitStack) -> None:
        self._open = open_

    def says(self, *words: str, calls: tuple[AskedCall, ...] = ()) -> Model:
        asked = [
            delta(tool_calls=[call_fragment(index, json.dumps(call.args), id=f"c{index}", name=call.name)])
            for index, call in enumerate(calls)
        ]
        ends = delta("tool_calls" if calls else "stop")
        return self._answers(stream(*(delta(content=word) for word in words), *asked, ends, usage(9, 3), DONE))

    def is_unavailable(self) -> Model:
        return self._answers(Answer((b"{}",), 503, {"Content-Type": "application/json", "Retry-After": "7"}))

    def refuses(self) -> Model:
        return self._answers(Answer((b"{}",), 400, {"Content-Type": "application/json"}))

    def never_ends(self) -> Model:
        return self._answers(stream(delta(content=WORDS[0]), ending=Ending.SILENT))

    def _answers(self, answer: Answer) -> Model:
        return OpenAIModel(self._open.enter_context(serving(answer)).url)


Models = Scripted | Wired

MAKERS: dict[str, Callable[[ExitStack], Models]] = {
    "scripted": lambda _: Scripted(),
    "routed": lambda _: Routed(),
    "openai": Wired,
}


@pytest.fixture(params=MAKERS)
def models(request: pytest.FixtureRequest) -> Iterator[Models]:
    with ExitStack() as open_:
        yield MAKERS[request.param](open_)


@pytest.fixture
def name(models: Models) -> str:
    return "test:name:with:colons" if isinstance(models, Routed) else "test"


def test_text_comes_in_chunks_and_the_whole_reply_last(models: Models, name: str) -> None:
    *chunks, last = models.says(*WORDS).call(a_request(model=name)).chunks()

    assert chunks == list(WORDS)
    assert isinstance(last, Reply)
    assert (last.text, last.calls, last.stop) == ("".join(WORDS), (), "stop")
    assert last.usage.output_tokens == 3


def test_a_reply_may_ask_for_calls_without_a_word(models: Models, name: str) -> None:
    came = list(models.says(calls=(CALL, CALL)).call(a_request(model=name)).chunks())

    assert [(reply.text, reply.calls, reply.stop) for reply in came if isinstance(reply, Reply)] == [
        ("", (CALL, CALL), "tool_calls")
    ]
    assert len(came) == 1


def test_a_call_that_was_closed_before_it_began_ends_without_a_word(models: Models, name: str) -> None:
    call = models.says(*WORDS).call(a_request(model=name))

    call.close()

    assert list(call.chunks()) == []


def test_a_call_that_is_closed_half_way_ends_without_a_reply(models: Models, name: str) -> None:
    call = models.says(*WORDS).call(a_request(model=name))
    chunks = call.chunks()

    assert next(chunks) == WORDS[0]
    call.close()

    assert list(chunks) == []


def test_closing_is_harmless_at_any_time_and_any_number_of_times(models: Models, name: str) -> None:
    call = models.says(*WORDS).call(a_request(model=name))
    *_, last = call.chunks()

    call.close()
    call.close()

    assert isinstance(last, Reply)


def test_a_provider_that_is_down_is_worth_another_try_when_it_says(models: Models, name: str) -> None:
    call = models.is_unavailable().call(a_request(model=name))

    with pytest.raises(ModelUnavailable) as fault:
        list(call.chunks())

    assert fault.value.retry_after == 7.0


def test_a_refusal_is_told_when_the_chunks_are_wanted(models: Models, name: str) -> None:
    call = models.refuses().call(a_request(model=name))

    with pytest.raises(ModelRefused):
        list(call.chunks())


def test_a_reply_that_never_ends_is_given_up_when_its_time_is_over(models: Models, name: str) -> None:
    chunks = models.never_ends().call(a_request(model=name, seconds=0.2)).chunks()

    assert next(chunks) == WORDS[0]
    with pytest.raises(ModelUnavailable, match=r"no whole reply in 0\.2 s"):
        list(chunks)
