"""The OpenAI adapter against a real server on loopback: what goes over the wire, and every way in which that breaks."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from chalicelib.adapters.models.openai import OpenAIModel
from chalicelib.core.errors import ModelUnavailable
from chalicelib.core.reply import AskedCall, Reply, Usage, UserSaid
from tests.adapters.models.a_call import KEY, WEATHER, Reading, a_request, ask, fault_of
from tests.adapters.models.provider import (
    DONE,
    HELLO,
    JSON,
    STOP,
    STREAM,
    Answer,
    Ending,
    Serve,
    call_fragment,
    delta,
    stream,
    usage,
)


def test_the_request_goes_to_chat_completions_with_the_key(serve: Serve) -> None:
    provider = serve(stream(*HELLO, STOP, DONE))

    list(OpenAIModel(provider.url + "/", KEY).call(a_request(UserSaid("Grüße 🙂"), tools=(WEATHER,))).chunks())

    (asked,) = provider.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body["messages"][1] == {"role": "user", "content": "Grüße 🙂"}
    assert asked.body["stream"] is True


def test_a_server_without_a_key_is_sent_none(serve: Serve) -> None:
    provider = serve(stream(*HELLO, STOP, DONE))

    list(OpenAIModel(provider.url).call(a_request()).chunks())

    assert "Authorization" not in provider.asked[0].headers


def test_nothing_is_sent_before_the_chunks_are_wanted(serve: Serve) -> None:
    provider = serve(stream(*HELLO, STOP, DONE))

    call = OpenAIModel(provider.url).call(a_request())
    assert provider.asked == []
    call.close()
    list(call.chunks())

    assert provider.asked == []


def test_a_documented_stream_is_read_whole(serve: Serve) -> None:
    provider = serve(
        stream(
            *HELLO,
            delta(tool_calls=[call_fragment(0, "", id="call_9", type="function", name="get_weather")]),
            delta(tool_calls=[call_fragment(0, '{"ci')]),
            delta(tool_calls=[call_fragment(0, 'ty": "Paris"}')]),
            delta("tool_calls"),
            usage(82, 17),
            DONE,
        )
    )

    assert ask(provider) == [
        "Hel",
        "lo",
        Reply("Hello", (AskedCall("get_weather", {"city": "Paris"}),), Usage(82, 17), "tool_calls"),
    ]


def test_a_stream_recorded_from_a_real_model_is_read_whole(serve: Serve) -> None:
    recorded = Path(__file__).with_name("recorded_call.sse").read_bytes()

    (reply,) = ask(serve(stream(recorded)))

    assert isinstance(reply, Reply)
    assert reply.calls == (AskedCall("current_time", {"timezone": "Europe/Paris"}),)
    assert reply.usage.estimated


def test_without_a_usage_chunk_usage_is_estimated(serve: Serve) -> None:
    *_, reply = ask(serve(stream(*HELLO, STOP, DONE)))

    assert isinstance(reply, Reply)
    assert reply.usage.estimated


def test_pieces_may_end_in_the_middle_of_a_character(serve: Serve) -> None:
    said = b": hello\r\n\r\n" + b"data: "
    chunk = json.dumps({"choices": [{"delta": {"content": "naïve 🙂"}, "finish_reason": "stop"}]}, ensure_ascii=False)
    wire = said + chunk.encode() + b"\r\n\r\n" + DONE

    *_, reply = ask(serve(stream(*(wire[at : at + 1] for at in range(len(wire))))))

    assert isinstance(reply, Reply)
    assert reply.text == "naïve 🙂"


def test_the_stream_may_end_without_its_mark_once_the_reason_is_told(serve: Serve) -> None:
    *_, reply = ask(serve(stream(*HELLO, STOP)))

    assert isinstance(reply, Reply)


def test_a_line_that_breaks_after_the_reason_costs_no_more_than_the_usage(serve: Serve) -> None:
    *_, reply = ask(serve(stream(*HELLO, STOP, ending=Ending.CUT)))

    assert isinstance(reply, Reply)
    assert (reply.text, reply.usage.estimated) == ("Hello", True)


@pytest.mark.parametrize("headers", [{}, JSON, {"Content-Type": "text/html"}])
def test_anything_but_a_stream_is_worth_another_try(serve: Serve, headers: dict[str, str]) -> None:
    fault = fault_of(serve(Answer((b"<html>",), 200, headers)))

    assert isinstance(fault, ModelUnavailable)
    assert "instead of a stream" in str(fault)


@pytest.mark.parametrize("ending", [Ending.WHOLE, Ending.CUT])
def test_a_stream_that_ends_too_early_is_worth_another_try(serve: Serve, ending: Ending) -> None:
    assert isinstance(fault_of(serve(stream(*HELLO, ending=ending))), ModelUnavailable)


def test_the_text_before_a_break_has_come(serve: Serve) -> None:
    chunks = OpenAIModel(serve(stream(*HELLO, ending=Ending.CUT)).url).call(a_request()).chunks()

    assert [next(chunks), next(chunks)] == ["Hel", "lo"]
    with pytest.raises(ModelUnavailable):
        next(chunks)


def test_an_empty_stream_is_worth_another_try(serve: Serve) -> None:
    assert isinstance(fault_of(serve(stream())), ModelUnavailable)


def test_a_server_that_hangs_up_without_a_word_is_worth_another_try(serve: Serve) -> None:
    assert isinstance(fault_of(serve(Answer(status=None, ending=Ending.CUT))), ModelUnavailable)


def test_a_port_where_nobody_listens_is_worth_another_try() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = OpenAIModel(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")

        with pytest.raises(ModelUnavailable):
            list(nobody.call(a_request()).chunks())


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(status=None, ending=Ending.SILENT), id="before the status line"),
        pytest.param(Answer(headers=STREAM, ending=Ending.SILENT), id="before the first event"),
        pytest.param(stream(*HELLO, ending=Ending.SILENT), id="in the middle"),
        pytest.param(Answer((b'{"error"',), 500, JSON, Ending.SILENT), id="in the middle of an error"),
    ],
)
def test_closing_ends_a_silent_call_and_hangs_up(serve: Serve, answer: Answer) -> None:
    provider = serve(answer)
    call = OpenAIModel(provider.url).call(a_request(seconds=3600))
    reading = Reading(call)
    assert provider.silent.wait(10)

    call.close()

    came = reading.ends()
    assert provider.hung_up.wait(10)
    assert reading.fault is None
    assert not any(isinstance(chunk, Reply) for chunk in came)


@pytest.mark.parametrize("answer", [Answer(status=None, ending=Ending.SILENT), stream(*HELLO, ending=Ending.DRIPPING)])
def test_the_time_bounds_the_whole_call_however_often_bytes_come(serve: Serve, answer: Answer) -> None:
    provider = serve(answer)

    fault = fault_of(provider, seconds=0.3)

    assert isinstance(fault, ModelUnavailable)
    assert str(fault) == "no whole reply in 0.3 s"
    assert provider.hung_up.wait(10)


def test_leaving_a_call_half_way_hangs_up(serve: Serve) -> None:
    provider = serve(stream(*HELLO, ending=Ending.SILENT))
    chunks = OpenAIModel(provider.url).call(a_request()).chunks()

    next(chunks)
    del chunks

    assert provider.hung_up.wait(10)


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://models.test/v1", "http://", "http://[::1"])
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="the model's URL"):
        OpenAIModel(url)


@pytest.mark.parametrize("key", ["sk-1\n", "sk-ключ"])
def test_a_key_that_no_header_takes_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ValueError, match="the model's key") as refused:
        OpenAIModel("http://models.test/v1", key)

    assert key not in str(refused.value)
