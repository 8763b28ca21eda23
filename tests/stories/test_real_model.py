"""A real language model, asked through the whole of Pawl: `make test-llm` builds and serves it, and runs this.

It is a very small model: what is proved is the wire, the loop, the stream and the cancel, not what it says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.stories.conftest import Town, a_town

pytestmark = pytest.mark.llm

QUESTION = "What time is it in Paris right now?"
LONG_TASK = "Tell me a long story about a fox, a goose and a river."


@pytest.fixture
def place() -> Iterator[Town]:
    with a_town(os.environ) as place:
        yield place


def test_a_question_is_answered_through_a_real_tool_call_and_streamed(place: Town) -> None:
    events = place.follow(place.submit("chat", QUESTION))
    types = [event["type"] for event in events]
    assert types[-1] == "run.done", events[-1]
    (began,) = [event["data"] for event in events if event["type"] == "tool.started"]
    assert (began["name"], began["args"]) == ("current_time", {"timezone": "Europe/Paris"})
    assert [event["data"]["ok"] for event in events if event["type"] == "tool.finished"] == [True]
    answer = events[-1]["data"]["output"]["text"]
    last_step = events[types.index("tool.finished") :]
    assert "".join(event["data"]["text"] for event in last_step if event["type"] == "text.delta") == answer
    assert all(event["data"]["usage"]["estimated"] for event in events if event["type"] == "model.replied")


def test_a_second_run_is_cancelled_half_way(place: Town) -> None:
    run_id = place.submit("chat", LONG_TASK)
    place.follow(run_id, until=lambda event: event["type"] == "text.delta")
    assert place.cancel(run_id).status_code == 202
    events = place.follow(run_id)
    assert events[-1]["type"] == "run.cancelled"
    assert events[-1]["data"]["latency_ms"] < 2500
    (reply,) = [event["data"] for event in events if event["type"] == "model.replied"]
    assert reply["partial"]
    assert reply["text"] == "".join(event["data"]["text"] for event in events if event["type"] == "text.delta")
