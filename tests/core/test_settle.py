"""What is owed to a log before it may end."""

from __future__ import annotations

from chalicelib.core.settle import partial_reply
from tests.core.a_log import RUN_ID, a_started_log


def test_text_that_was_streamed_is_owed_as_a_reply_that_was_broken_off() -> None:
    owed = partial_reply(RUN_ID, a_started_log().step().delta("Mar").delta("kets").events)
    assert owed is not None
    assert (owed["text"], owed["partial"], owed["step"], owed["tool_calls"]) == ("Markets", True, 1, [])
    assert owed["usage"] == {"input_tokens": 1, "output_tokens": 2, "estimated": True}


def test_the_text_of_a_dead_call_is_not_owed() -> None:
    owed = partial_reply(RUN_ID, a_started_log().step().delta("dead").taken().reset().delta("live").events)
    assert owed is not None
    assert owed["text"] == "live"


def test_a_call_that_said_nothing_yet_was_paid_for_all_the_same() -> None:
    owed = partial_reply(RUN_ID, a_started_log().step().events)
    assert owed is not None
    assert (owed["text"], owed["usage"]["input_tokens"]) == ("", 1)


def test_nothing_is_owed_between_model_calls() -> None:
    assert partial_reply(RUN_ID, a_started_log().events) is None
    assert partial_reply(RUN_ID, a_started_log().step().delta("x").said("x", "look").events) is None
