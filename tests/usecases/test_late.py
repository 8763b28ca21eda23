"""What comes too late to count has a line in its worker's log, and nothing in the run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.adapters.models.scripted import Silent, Turn
from chalicelib.core import lease
from chalicelib.core.change import Change
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run
from chalicelib.core.tools import Effect
from chalicelib.usecases.route import END, Next
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RUN_ID, Tool, Workshop, asks

FIELDS = ("action", "of", "run_id", "attempt", "step", "call_id", "tool", "ok", "unknown", "bytes")
TOKENS = ("input_tokens", "output_tokens")


class Lines(logging.Handler):
    """The lines of results that came late."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def told(self) -> list[dict[str, Any]]:
        names = (*FIELDS, *TOKENS)
        return [{name: getattr(each, name) for name in names if hasattr(each, name)} for each in self.late()]

    def late(self) -> list[logging.LogRecord]:
        return [each for each in self.records if getattr(each, "late", False)]

    def everything(self) -> str:
        return " ".join(f"{each.getMessage()} {vars(each)}" for each in self.records)


@pytest.fixture
def lines() -> Iterator[Lines]:
    ours, handler = logging.getLogger("chalicelib"), Lines()
    ours.addHandler(handler)
    yield handler
    ours.removeHandler(handler)


def taken_over(shop: Workshop) -> None:
    """The lease lapses, and another worker takes the run."""
    shop.runs.hand_back(lease.handed_back(shop.run, shop.time.now()))
    run, last = shop.found()
    shop.runs.commit(lease.take(run, tail=last.seq, now=shop.time.now(), write_id=shop.chance.write_id()))


def a_model_call(**more: Any) -> dict[str, Any]:
    return {"action": "advance", "of": "model_call", "run_id": RUN_ID, "attempt": 1, "step": 1, **more}


def a_tool_call(number: int = 0, **more: Any) -> dict[str, Any]:
    told = {"action": "advance", "of": "tool_call", "run_id": RUN_ID, "attempt": 1, "unknown": False}
    return {**told, "call_id": f"{RUN_ID}-1-{number}", "tool": "look", **more}


def test_what_a_model_had_said_to_a_lost_hold_is_measured(workshop: OpenWorkshop, lines: Lines) -> None:
    shop = workshop((Turn(text="größer " * 30, pace=1),))
    shop.at(3.5, lambda: taken_over(shop))
    assert shop.advance().next is Next.WAIT
    (line,) = lines.told()
    words, rest = divmod(line.pop("bytes"), len("größer ".encode()))
    assert words in range(3, 6)
    assert rest == 0
    assert line == a_model_call()
    assert "größer" not in lines.everything()


def test_a_whole_reply_that_finds_its_hold_lost_is_told_with_its_tokens(workshop: OpenWorkshop, lines: Lines) -> None:
    shop = workshop((Turn(text="said and done"),))
    append = shop.runs.append

    def overtaken(run: Run, event: Event) -> None:
        if event.type is EventType.MODEL_REPLIED:
            shop.runs.append = append  # type: ignore[method-assign]
            taken_over(shop)
        append(run, event)

    shop.runs.append = overtaken  # type: ignore[method-assign]
    assert shop.advance().next is Next.WAIT
    assert lines.told() == [a_model_call(bytes=13, input_tokens=3, output_tokens=3)]
    assert shop.told(EventType.MODEL_REPLIED) == []


def test_words_that_nobody_had_listened_to_yet_are_counted_too(workshop: OpenWorkshop, lines: Lines) -> None:
    """A worker that was frozen: when it wakes up, its call has gone on without it."""
    shop = workshop((Turn(text="one two three four", pace=0.01, fault=Silent(500, after=4)),))
    commit = shop.runs.commit

    def frozen_at_the_first_word(change: Change) -> None:
        commit(change)
        if change.event.type is EventType.TEXT_DELTA:
            shop.runs.commit = commit  # type: ignore[method-assign]
            shop.time.advance(40)
            taken_over(shop)

    shop.runs.commit = frozen_at_the_first_word  # type: ignore[method-assign]
    assert shop.advance().next is Next.WAIT
    assert lines.told() == [a_model_call(bytes=len("one two three four"))]


def test_the_results_of_a_lost_hold_each_have_their_line(workshop: OpenWorkshop, lines: Lines) -> None:
    """The first finds the takeover, the second comes when nobody is there any more."""
    first, second = Tool("look", timeout=120), Tool("send", Effect.IRREVERSIBLE, timeout=120)
    shop = workshop((asks("look", "send"), Turn(text="x")), [first, second])
    first.works, second.works = shop.after(5, "seen: ä"), shop.after(60, "sent")
    shop.at(4.9, lambda: taken_over(shop))
    assert shop.advance().next is Next.WAIT
    assert lines.told() == [a_tool_call(ok=True, bytes=8)]
    shop.time.advance(60)
    assert lines.told()[1:] == [a_tool_call(1, tool="send", ok=True, bytes=4)]
    assert shop.told(EventType.TOOL_FINISHED, EventType.TOOL_UNKNOWN) == []
    assert "seen" not in lines.everything()


@pytest.mark.parametrize("seconds", [1.0, 1.5], ids=["by its write", "by its look at the tail"])
def test_a_result_that_is_in_hand_when_the_takeover_is_found_is_not_forgotten(
    seconds: float, workshop: OpenWorkshop, lines: Lines
) -> None:
    tool = Tool(timeout=120)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    tool.works = shop.after(seconds, "seen")
    shop.at(0.5, lambda: taken_over(shop))
    assert shop.advance().next is Next.WAIT
    assert lines.told() == [a_tool_call(ok=True, bytes=4)]


@pytest.mark.parametrize("others", [(), ("wait",)], ids=["alone", "beside another"])
def test_a_result_after_its_deadline_has_a_line_and_its_call_the_outcome_that_it_was_given(
    others: tuple[str, ...], workshop: OpenWorkshop, lines: Lines
) -> None:
    tool, other = Tool(timeout=5), Tool("wait", timeout=60)
    shop = workshop((asks("look", *others), Turn(text="Done.")), [tool, other])
    tool.works, other.works = shop.after(9, "seen after all"), shop.after(30, "waited")
    assert shop.advance() == END
    shop.time.advance(10)
    assert lines.told() == [a_tool_call(ok=True, bytes=14)]
    (outcome,) = [event for event in shop.told(EventType.TOOL_FINISHED) if event.data["name"] == "look"]
    assert outcome.data["ok"] is False


def test_a_result_after_a_cancels_grace_has_a_line(workshop: OpenWorkshop, lines: Lines) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE, timeout=300)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    tool.works = shop.after(60, "sent")
    shop.at(10, shop.cancel)
    assert shop.advance() == END
    assert lines.told() == []
    shop.time.advance(60)
    assert lines.told() == [a_tool_call(ok=True, bytes=4)]
    assert len(shop.told(EventType.TOOL_UNKNOWN)) == 1


def test_a_run_that_goes_its_way_has_no_such_line(workshop: OpenWorkshop, lines: Lines) -> None:
    tool = Tool()
    shop = workshop((asks("look", "look"), Turn(text="Done.")), [tool])
    assert shop.advance() == END
    shop.time.advance(300)
    assert lines.told() == []
