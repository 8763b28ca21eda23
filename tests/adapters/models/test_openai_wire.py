"""Our words in the provider's, and the provider's in ours, without a wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.adapters.models.openai_wire import Incoming, body
from chalicelib.core.errors import ModelUnavailable
from chalicelib.core.reply import AskedCall, ModelSaid, Reply, ToolCall, ToolSaid, Usage, UserSaid
from tests.adapters.models.a_call import WEATHER, a_request

PARIS = ToolCall("run_1-0-0", "get_weather", {"city": "Paris"})


def read(*chunks: object) -> Reply:
    incoming = Incoming(a_request())
    for chunk in chunks:
        incoming.take(json.dumps(chunk))
    return incoming.reply()


def choice(finish: str | None = None, **delta: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def fragment(arguments: str | None, **more: object) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    return choice(tool_calls=[{**more, "function": {**name, "arguments": arguments}}])


def called(arguments: str) -> AskedCall:
    (call,) = read(fragment(arguments, index=0, id="c", name="f")).calls
    return call


def test_a_request_is_streamed_and_asks_for_usage() -> None:
    assert body(a_request(UserSaid("Hi"))) == {
        "model": "test",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_tools_are_functions_that_the_model_may_choose() -> None:
    asked = body(a_request(tools=(WEATHER,)))

    assert asked["tools"] == [
        {
            "type": "function",
            "function": {"name": "get_weather", "description": "The weather.", "parameters": WEATHER.parameters},
        }
    ]
    assert asked["tool_choice"] == "auto"


def test_an_answered_call_goes_back_under_its_call_id() -> None:
    told = body(
        a_request(UserSaid("?"), ModelSaid("", (PARIS,)), ToolSaid(PARIS.call_id, "get_weather", "Rain.", ok=True))
    )

    assert told["messages"][2:] == [
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "run_1-0-0",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "run_1-0-0", "content": "Rain."},
    ]


def test_what_the_model_said_goes_back_as_text() -> None:
    told = body(a_request(UserSaid("?"), ModelSaid("Rain.", ()), UserSaid("And now?")))

    assert told["messages"][2] == {"role": "assistant", "content": "Rain."}


def test_an_odd_call_goes_back_in_a_form_that_no_provider_refuses() -> None:
    odd = ToolCall("run_1-0-0", "functions.get weather:", {}, malformed="{city")

    (_, said) = body(a_request(ModelSaid("", (odd,))))["messages"]

    assert said["tool_calls"][0]["function"] == {"name": "functions_get_weather_", "arguments": "{}"}


def test_text_comes_out_as_it_comes_in() -> None:
    incoming = Incoming(a_request())

    assert [incoming.take(json.dumps(choice(content=text))) for text in ("a", "", None, "b")] == ["a", "", "", "b"]
    assert incoming.reply().text == "ab"


def test_fragments_of_several_calls_are_put_together_by_index() -> None:
    reply = read(
        fragment("", index=0, id="a", name="get_weather"),
        fragment('{"city": ', index=0),
        fragment("", index=1, id="b", name="get_time"),
        fragment('"Paris"}', index=0),
        fragment('{"zone": "UTC"}', index=1),
        choice("tool_calls"),
    )

    assert reply.calls == (AskedCall("get_weather", {"city": "Paris"}), AskedCall("get_time", {"zone": "UTC"}))
    assert reply.stop == "tool_calls"


def test_a_name_that_is_repeated_with_every_fragment_counts_once() -> None:
    reply = read(
        fragment('{"a"', index=0, id="c", name="f"), fragment(": 1}", index=0, id="c", name="f"), choice("stop")
    )

    assert reply.calls == (AskedCall("f", {"a": 1}),)


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    reply = read(fragment("{}", id="a", name="f"), fragment("{}", id="b", name="g"))

    assert reply.calls == (AskedCall("f", {}), AskedCall("g", {}))


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    assert called(arguments) == AskedCall("f", {})


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": ',
        '{"a": {"b": 1, "b": 2}}',
        "[1]",
        '"Paris"',
        "null",
        '{"n": NaN}',
        '{"n": 1e999}',
        r'{"half": "\ud83d"}',
        '{"a":' * 100_000,
    ],
)
def test_arguments_that_are_no_json_object_are_kept_as_they_came(arguments: str) -> None:
    assert called(arguments) == AskedCall("f", {}, malformed=arguments)


def test_an_odd_name_is_kept_as_it_came() -> None:
    (call,) = read(fragment("{}", index=0, name="get_weather:")).calls

    assert call == AskedCall("get_weather:", {})


def test_the_last_usage_counts() -> None:
    reply = read(
        {**choice(content="a"), "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
    )

    assert reply.usage == Usage(5, 2)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": 2}])
def test_without_usage_four_characters_are_taken_for_a_token(usage: object) -> None:
    reply = read({**choice(content="ninechars"), "usage": usage}, fragment('{"a": 1}', index=0, name="f"))

    assert reply.usage.estimated
    assert reply.usage.output_tokens == 5
    assert reply.usage.input_tokens >= len("Be brief.Hello there") // 4


def test_a_reply_is_whole_once_its_end_is_told() -> None:
    by_reason, by_mark = Incoming(a_request()), Incoming(a_request())
    by_reason.take(json.dumps(choice(content="a")))

    assert not by_reason.whole
    by_reason.take(json.dumps(choice("length")))
    by_mark.take("[DONE]")

    assert (by_reason.whole, by_reason.done, by_reason.reply().stop) == (True, False, "length")
    assert (by_mark.whole, by_mark.done) == (True, True)


def test_half_a_character_is_replaced_so_that_it_can_be_stored() -> None:
    assert read(choice(content="\ud83d!")).text == "?!"


@pytest.mark.parametrize(
    "data",
    [
        "no json",
        "[]",
        "7",
        '{"choices": {}}',
        '{"choices": [7]}',
        '{"choices": [{"delta": 7}]}',
        '{"choices": [{"delta": {"content": 7}}]}',
        '{"choices": [{"delta": {"tool_calls": {"a": 1}}}]}',
        '{"choices": [{"delta": {"tool_calls": [{"function": {"name": 7}}]}}]}',
        '{"choices": [{"delta": {}, "finish_reason": 7}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_chunk_is_a_broken_stream(data: str) -> None:
    with pytest.raises(ModelUnavailable, match="no chunk of a reply"):
        Incoming(a_request()).take(data)
