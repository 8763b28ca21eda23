"""What a holder writes, and what it learns."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from chalicelib.adapters.models.scripted import Silent, Turn
from chalicelib.core import lease
from chalicelib.core.change import Change
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import Effect
from chalicelib.core.transcript import text
from chalicelib.usecases.route import END, Next, Route
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import Tool, Workshop, asks


def taken_over(shop: Workshop) -> None:
    """Another worker takes the run, as after a lapse."""
    run, last = shop.found()
    run = shop.runs.renew(lease.renewed(run, shop.time.now() - lease.LEASE)) if run.lease_until is None else run
    shop.runs.commit(lease.take(run, tail=last.seq, now=shop.time.now(), write_id=shop.chance.write_id()))


def test_the_lease_of_a_long_silent_call_is_kept_alive(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="at last", fault=Silent(200)),))
    held: list[bool] = []
    for seconds in range(5, 200, 15):
        shop.at(seconds, lambda: held.append(lease.held(shop.run, shop.time.now())))
    assert shop.advance() == END
    assert held == [True] * len(held)
    assert text(shop.log) == "at last"


def test_a_worker_that_was_overtaken_writes_nothing_more(
    workshop: OpenWorkshop, caplog: pytest.LogCaptureFixture
) -> None:
    shop = workshop((Turn(text="a b c d e f g h", pace=1),))
    shop.at(3.5, lambda: taken_over(shop))
    logging.getLogger("chalicelib.usecases.advance").addHandler(caplog.handler)
    route = shop.advance()
    logging.getLogger("chalicelib.usecases.advance").removeHandler(caplog.handler)
    line = next(record for record in caplog.records if record.name == "chalicelib.usecases.advance")
    assert line.getMessage().startswith("the hold was lost: fenced: seq")
    assert route.next is Next.WAIT
    log = shop.log
    (takeover,) = shop.told(EventType.RUN_ATTEMPT)
    assert log[-1] == takeover


def test_a_silent_worker_that_was_overtaken_notices_within_two_seconds(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="never", fault=Silent(500)),))
    shop.at(20.0, lambda: taken_over(shop))
    began = shop.time.now()
    assert shop.advance().next is Next.WAIT
    assert shop.time.now() - began <= timedelta(seconds=22)


def test_a_watched_text_is_written_more_often(workshop: OpenWorkshop) -> None:
    words = " ".join("word" for _ in range(40))
    unwatched, watched = workshop((Turn(text=words, pace=0.1),)), workshop((Turn(text=words, pace=0.1),))
    watched.runs.stamp_watched(watched.run.run_id, watched.time.now() + timedelta(seconds=60))
    unwatched.advance()
    watched.advance()
    assert len(unwatched.told(EventType.TEXT_DELTA)) == 3
    assert len(watched.told(EventType.TEXT_DELTA)) in range(13, 22)
    assert text(unwatched.log) == text(watched.log) == words


def test_a_watcher_who_comes_late_is_noticed_while_the_text_streams(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text=" ".join("word" for _ in range(80)), pace=0.1),))
    shop.at(4.1, lambda: shop.runs.stamp_watched(shop.run.run_id, shop.time.now() + timedelta(seconds=60)))
    shop.advance()
    gaps = [
        (late.at - early.at).total_seconds()
        for early, late in zip(shop.told(EventType.TEXT_DELTA), shop.told(EventType.TEXT_DELTA)[1:], strict=False)
    ]
    assert max(gaps[:2]) >= 1.9
    assert max(gaps[-5:]) <= 0.35


def test_a_cancel_in_the_middle_of_a_stream_is_met_at_the_next_append(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="a b c d e f g h i j k l", pace=0.5),))
    shop.at(3.2, shop.cancel)
    assert shop.advance() == END
    words = shop.words
    after = words[words.index("run.cancelling") + 1 :]
    assert after == ["text.delta", "model.replied", "run.cancelled"]
    assert shop.run.status is Status.CANCELLED
    assert "".join(event.data["text"] for event in shop.told(EventType.TEXT_DELTA)) == text(shop.log)
    (reply,) = shop.told(EventType.MODEL_REPLIED)
    assert reply.data["partial"] is True
    assert reply.data["usage"]["output_tokens"] > 0


def test_a_cancel_of_a_silent_model_is_seen_within_two_seconds(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="never", fault=Silent(500)),))
    shop.at(33.3, shop.cancel)
    assert shop.advance() == END
    end = shop.log[-1]
    assert end.type is EventType.RUN_CANCELLED
    assert end.data["latency_ms"] <= 2000
    assert (end.data["actor"], end.data["reason"]) == ("key_1", "enough")


def test_a_cancel_in_the_middle_of_a_tool_is_seen_within_two_seconds_and_lists_the_call(
    workshop: OpenWorkshop,
) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE, timeout=300)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    tool.works = shop.after(250, "late")
    shop.at(10.0, shop.cancel)
    began = shop.time.now()
    assert shop.advance() == END
    assert shop.time.now() - began <= timedelta(seconds=10 + 2 + 2)
    (unknown,) = shop.told(EventType.TOOL_UNKNOWN)
    assert unknown.data["call_id"].endswith("-1-0")
    assert len(shop.told(EventType.STEP_STARTED)) == 1


def test_a_result_that_comes_right_after_the_cancel_is_still_written_down(workshop: OpenWorkshop) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE, timeout=300)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    tool.works = shop.after(10.2, "sent")
    shop.at(10.0, shop.cancel)
    assert shop.advance() == END
    assert shop.words[-3:] == ["run.cancelling", "tool.finished", "run.cancelled"]
    assert shop.log[-1].data["unsettled"] == []


def test_a_cancel_before_a_tool_begins_keeps_it_from_being_made(workshop: OpenWorkshop) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    append = shop.runs.append

    def cancel_first(run: Run, event: Event) -> None:
        if event.type is EventType.TOOL_STARTED and shop.run.status is not Status.CANCELLING:
            shop.cancel()
        append(run, event)

    shop.runs.append = cancel_first  # type: ignore[method-assign]
    assert shop.advance() == END
    assert tool.made == []
    assert shop.run.status is Status.CANCELLED


def test_a_worker_that_was_stopped_between_gate_and_effect_does_not_act_when_it_wakes_up(
    workshop: OpenWorkshop,
) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE, timeout=120)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    append = shop.runs.append

    def stopped_after(run: Run, event: Event) -> None:
        append(run, event)
        if event.type is EventType.TOOL_STARTED:
            shop.time.advance(lease.LEASE.total_seconds())

    shop.runs.append = stopped_after  # type: ignore[method-assign]
    shop.advance()
    assert tool.made == []


def test_a_call_whose_deadline_passed_before_it_could_begin_is_not_made(workshop: OpenWorkshop) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE, timeout=5)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    append = shop.runs.append

    def stopped_after(run: Run, event: Event) -> None:
        append(run, event)
        if event.type is EventType.TOOL_STARTED:
            shop.time.advance(6)

    shop.runs.append = stopped_after  # type: ignore[method-assign]
    shop.advance()
    assert tool.made == []


def test_a_second_invocation_of_the_same_slice_stops_at_its_first_write(workshop: OpenWorkshop) -> None:
    tool = Tool(effect=Effect.IRREVERSIBLE)
    shop = workshop((asks("look"), Turn(text="x")), [tool])
    commit = shop.runs.commit
    routes: list[Route] = []

    def twin_first(change: Change) -> None:
        shop.runs.commit = commit  # type: ignore[method-assign]
        routes.append(shop.advance())
        commit(change)

    shop.runs.commit = twin_first  # type: ignore[method-assign]
    routes.append(shop.advance())
    assert [route.next for route in routes] == [Next.END, Next.WAIT]
    assert tool.made == ["look"]
    assert len(shop.told(EventType.RUN_STARTED)) == 1


def test_a_cancel_is_seen_within_two_seconds_while_tools_are_asked_for(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="never"),), [Tool()])
    slowly = shop.after(60, "listed")
    shop.toolbox.pending = lambda: slowly  # type: ignore[method-assign, assignment]
    shop.at(5, shop.cancel)
    began = shop.time.now()
    assert shop.advance() == END
    assert shop.log[-1].type is EventType.RUN_CANCELLED
    assert shop.time.now() - began <= timedelta(seconds=7)


def test_what_is_next_is_decided_once_the_tools_have_been_asked_for(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("look"), Turn(text="Done.")), [Tool()])
    looks = [shop.after(3, "listed"), shop.after(3, "listed")]
    shop.toolbox.pending = lambda: looks.pop() if looks else None  # type: ignore[method-assign, assignment]
    assert shop.advance() == END
    assert shop.log[-1].data == {"output": {"text": "Done."}}


def test_a_fault_of_asking_for_the_tools_ends_the_slice_and_is_no_endless_round(
    workshop: OpenWorkshop, caplog: pytest.LogCaptureFixture
) -> None:
    shop = workshop((Turn(text="never"),), [Tool()])
    looks: list[int] = []

    def fails() -> None:
        looks.append(1)
        raise ZeroDivisionError("while looking")

    shop.toolbox.pending = lambda: fails if len(looks) < 3 else None  # type: ignore[method-assign, assignment]
    with pytest.raises(ZeroDivisionError, match="while looking"):
        shop.advance()
    assert len(looks) == 1
    assert "what was done beside the run failed: run_id=" in caplog.text
