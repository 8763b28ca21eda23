"""The scripted model: its turns, its pace, and its ways to misbehave."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from queue import SimpleQueue

import pytest

from chalicelib.adapters.models.scripted import (
    Dies,
    Misbehaviour,
    Refuses,
    Script,
    ScriptedModel,
    Silent,
    Turn,
    Unavailable,
)
from chalicelib.adapters.models.scripts import SCRIPTS
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.reply import AskedCall, ModelSaid, Reply, ToolSaid, Usage, UserSaid
from chalicelib.ports.model import ModelCall
from tests.adapters.models.a_call import a_request
from tests.virtual_time import EPOCH, VirtualTime

TEXT = "  One two\nthree four"


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


def played(script: Script, time: VirtualTime, *said: UserSaid | ModelSaid | ToolSaid, attempt_no: int = 0) -> ModelCall:
    return ScriptedModel({"test": script}, time).call(a_request(*said, attempt_no=attempt_no))


def misbehaves(fault: Misbehaviour, time: VirtualTime, attempt_no: int = 0) -> ModelCall:
    return played((Turn(text=TEXT, fault=fault),), time, attempt_no=attempt_no)


def test_the_turn_follows_from_what_the_model_has_said_already(time: VirtualTime) -> None:
    script = (Turn(text="first", calls=(AskedCall("look", {}),)), Turn(text="second"))

    first = list(played(script, time, UserSaid("Go")).chunks())
    second = list(played(script, time, UserSaid("Go"), ModelSaid("first", ()), UserSaid("And?")).chunks())

    assert first == ["first", Reply("first", (AskedCall("look", {}),), Usage(3, 1), "tool_calls")]
    assert second == ["second", Reply("second", (), Usage(5, 1), "stop")]


def test_a_chunk_is_a_word_with_its_space(time: VirtualTime) -> None:
    *chunks, _ = played((Turn(text=TEXT),), time).chunks()

    assert chunks == ["  ", "One ", "two\n", "three ", "four"]


def test_usage_counts_words_the_same_each_time(time: VirtualTime) -> None:
    said = UserSaid("a b c"), ModelSaid("d", ()), ToolSaid("c", "look", "e f", ok=True)

    *_, reply = played((Turn(), Turn(text="g h")), time, *said).chunks()

    assert isinstance(reply, Reply)
    assert reply.usage == Usage(len(["Be", "brief", "a", "b", "c", "d", "e", "f"]), 2)


def test_each_chunk_takes_its_pace(time: VirtualTime) -> None:
    times = [time.now() - EPOCH for _ in played((Turn(text="a b c", pace=0.5),), time).chunks()]

    assert times == [timedelta(seconds=seconds) for seconds in (0.5, 1, 1.5, 1.5)]


def test_a_silent_model_says_nothing_for_so_long_and_then_goes_on(time: VirtualTime) -> None:
    times = [time.now() - EPOCH for _ in misbehaves(Silent(9, after=2), time).chunks()]

    assert times == [timedelta(seconds=seconds) for seconds in (0, 0, 9, 9, 9, 9)]


def test_closing_wakes_a_silent_model_at_once(time: VirtualTime) -> None:
    call = misbehaves(Silent(20), time)
    inbox: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        inbox.put(f"{len(list(call.chunks()))} chunks")

    time.begin(read)
    assert time.take(inbox, seconds=5) is None

    call.close()

    assert time.take(inbox, seconds=0) == "0 chunks"
    assert time.now() == EPOCH + timedelta(seconds=5)


def test_a_model_that_dies_half_way_has_said_half(time: VirtualTime) -> None:
    chunks = misbehaves(Dies(), time).chunks()

    assert list(islice(chunks, 3)) == ["  ", "One ", "two\n"]
    with pytest.raises(ModelUnavailable):
        next(chunks)


@pytest.mark.parametrize("fault", [Dies(times=2), Unavailable(times=2)])
def test_a_fault_of_the_first_calls_is_over_after_them(fault: Misbehaviour, time: VirtualTime) -> None:
    for attempt_no in (0, 1):
        with pytest.raises(ModelUnavailable):
            list(misbehaves(fault, time, attempt_no).chunks())

    *_, reply = misbehaves(fault, time, attempt_no=2).chunks()

    assert isinstance(reply, Reply)
    assert reply.text == TEXT


def test_a_refusal_is_final(time: VirtualTime) -> None:
    with pytest.raises(ModelRefused, match="not today"):
        list(misbehaves(Refuses("not today"), time, attempt_no=9).chunks())


def test_a_script_that_is_not_there_or_is_over_is_refused(time: VirtualTime) -> None:
    with pytest.raises(ModelRefused, match="there is no script"):
        list(ScriptedModel({}, time).call(a_request()).chunks())
    with pytest.raises(ModelRefused, match="ends after 1 turn"):
        list(played((Turn(),), time, UserSaid("Go"), ModelSaid("", ())).chunks())


def test_the_market_script_takes_long_enough_to_be_cancelled_half_way(time: VirtualTime) -> None:
    market = ScriptedModel(SCRIPTS, time)
    said = UserSaid("Analyse market data")
    *_, first = market.call(a_request(said, model="market")).chunks()
    assert isinstance(first, Reply)
    assert [call.name for call in first.calls] == ["current_time"]

    *_, second = market.call(a_request(said, ModelSaid(first.text, ()), model="market")).chunks()

    assert isinstance(second, Reply)
    assert second.calls == ()
    assert 150 <= len(second.text.split()) <= 250
    assert timedelta(seconds=10) <= time.now() - EPOCH <= timedelta(seconds=15)


@pytest.mark.parametrize(("ok", "text"), [((True, True), "fine"), ((True, False), "sorry"), ((False, True), "sorry")])
def test_after_a_call_that_failed_a_turn_is_what_it_is_for_that_case(
    time: VirtualTime, ok: tuple[bool, bool], text: str
) -> None:
    script = (Turn(), Turn(text="fine", if_failed=Turn(text="sorry")))
    told = [ToolSaid(str(place), "look", "", each) for place, each in enumerate(ok)]

    assert next(played(script, time, UserSaid("Go"), ModelSaid("", ()), *told).chunks()) == text


def test_a_call_that_failed_a_reply_before_counts_no_more(time: VirtualTime) -> None:
    script = (Turn(), Turn(), Turn(text="fine", if_failed=Turn(text="sorry")))
    said = (ModelSaid("", ()), ToolSaid("1", "look", "", False), ModelSaid("", ()), ToolSaid("2", "look", "", True))

    assert next(played(script, time, UserSaid("Go"), *said).chunks()) == "fine"
