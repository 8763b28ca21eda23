"""The ways in which a tool call can go wrong, by the numbers of the list that they were drawn up in.

Here stands each with the least that shows it; F13 and F16 to F20 are looked at closely where their rules are, under
the same numbers: in tests/adapters/tools, tests/core, tests/adapters/net and tests/sandbox.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from chalicelib.adapters.models.scripted import Turn
from chalicelib.core import lease
from chalicelib.core.approvals import Decision, Verdict
from chalicelib.core.errors import Conflict, Unavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import Effect, Invocation, ToolResult
from chalicelib.usecases.resolve import resolve
from chalicelib.usecases.route import END, Next
from chalicelib.usecases.sweep import sweep
from tests.crash.killer import Killer, Moment
from tests.crash.stage import Play, Stage
from tests.fresh_table import fresh_table
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RUN_ID, Tool, Workshop, asks, unasked

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

SEND = Effect.IRREVERSIBLE


def taken_over(shop: Workshop) -> None:
    """The lease lapses, and another worker takes the run."""
    run, last = shop.found()
    shop.runs.commit(lease.take(run, tail=last.seq, now=shop.time.now(), write_id=shop.chance.write_id()))


def answer(shop: Workshop, decision: str, number: int = -1, **more: Any) -> Event:
    asked = shop.told(EventType.APPROVAL_REQUESTED)[number].data
    return resolve(
        RUN_ID,
        asked["approval_id"],
        Verdict(Decision(decision), **{"digest": asked["digest"], **more}),
        account_id="acme",
        actor="key_1",
        runs=shop.runs,
        agents=shop.needs().agents,
        toolboxes=shop.needs().toolboxes,
        policies=shop.policies,
        workflow=shop.workflow,
        clock=shop.time,
        chance=shop.chance,
    )


def asking(workshop: OpenWorkshop) -> Workshop:
    shop = workshop((asks("send"), Turn(text="Done.")), [Tool("send", SEND)], permissions=())
    assert shop.advance().next is Next.ASK
    return shop


def refused(shop: Workshop, decision: str, **more: Any) -> str:
    with pytest.raises(Conflict) as conflict:
        answer(shop, decision, **more)
    return conflict.value.code


@pytest.mark.parametrize("tool", ["look", "file", "note", "send"])
def test_f01_a_crash_around_a_call_leaves_one_effect_of_every_class(
    tool: str, dynamodb: DynamoDBClient, s3: S3Client
) -> None:
    play = Play(f"one call of {tool}", only=tool)
    began, ended = _puts(_performed(play, Killer(), dynamodb, s3))[2:4]
    for at in (began, ended):
        for moment in Moment:
            stage = _performed(play, Killer(at, moment), dynamodb, s3)
            made = {"look": stage.look, "file": stage.file, "note": stage.note, "send": stage.send}[tool].made
            told = [event for event in stage.log_at_the_end if event.type is EventType.TOOL_FINISHED]
            assert (stage.killer.struck, len(told), told[0].data["ok"]) == (True, 1, True)
            assert len(made) == 1 or (tool != "send" and len(made) == 2), (tool, at, moment)


def _puts(stage: Stage) -> list[int]:
    """Which calls to AWS were appends: step.started, model.replied, tool.started, tool.finished, and so on."""
    return [at for at, name in enumerate(stage.killer.calls, 1) if name == "put_item"]


def _performed(play: Play, killer: Killer, dynamodb: DynamoDBClient, s3: S3Client) -> Stage:
    with fresh_table(dynamodb) as table:
        stage = Stage(play, dynamodb, table, s3, killer)
        stage.perform()
        stage.log_at_the_end = stage.log
        assert stage.run_status is Status.DONE
    return stage


def test_f02_a_start_whose_answer_was_lost_is_known_again_and_the_call_made_once(
    dynamodb: DynamoDBClient, s3: S3Client
) -> None:
    play = Play("one call of send", only="send")
    began = _puts(_performed(play, Killer(), dynamodb, s3))[2]
    stage = _performed(play, Killer(began, Moment.LOST), dynamodb, s3)
    assert stage.send.made == ["send"]
    assert EventType.TOOL_UNKNOWN not in [event.type for event in stage.log_at_the_end]


def test_f03_a_slice_that_is_invoked_twice_makes_its_call_once(workshop: OpenWorkshop) -> None:
    tool = Tool("send", SEND, timeout=60)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    tool.works = shop.after(20, "sent")
    shop.at(5, shop.advance)
    assert shop.advance() == END
    assert tool.made == ["send"]


def test_f04_an_older_hold_that_comes_back_after_a_takeover_begins_nothing(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("send"), Turn(text="Done.")), [Tool("send", SEND)])
    append = shop.runs.append

    def take_over_first(run: Run, event: Event) -> None:
        if event.type is EventType.TOOL_STARTED:
            shop.runs.append = append  # type: ignore[method-assign]
            shop.time.advance(31)
            taken_over(shop)
        append(run, event)

    shop.runs.append = take_over_first  # type: ignore[method-assign]
    assert shop.advance().next is Next.WAIT
    assert shop.tools["send"].made == []
    assert shop.told(EventType.TOOL_STARTED) == []


def test_f05_a_cancel_before_the_start_of_a_call_keeps_it_from_being_made(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("send"), Turn(text="Done.")), [Tool("send", SEND)])
    append = shop.runs.append

    def cancel_first(run: Run, event: Event) -> None:
        if event.type is EventType.TOOL_STARTED:
            shop.runs.append = append  # type: ignore[method-assign]
            shop.cancel()
        append(run, event)

    shop.runs.append = cancel_first  # type: ignore[method-assign]
    assert shop.advance() == END
    assert (shop.run.status, shop.tools["send"].made) == (Status.CANCELLED, [])


def test_f05_a_cancel_in_the_middle_of_a_call_stops_the_tool_and_ends_the_run(workshop: OpenWorkshop) -> None:
    stopped: list[float] = []
    tool = Tool("send", SEND, timeout=300)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    began = shop.time.now()

    def work(invocation: Invocation) -> None:
        shop.time.sleep(100, unless=cast(threading.Event, invocation.stop))
        stopped.append((shop.time.now() - began).total_seconds())

    tool.minds = work
    shop.at(10, shop.cancel)
    assert shop.advance() == END
    assert shop.words[-2:] == ["tool.finished", "run.cancelled"]
    assert stopped[0] <= 12


def test_f05_a_worker_that_is_fenced_out_stops_its_tools(workshop: OpenWorkshop) -> None:
    stopped: list[float] = []
    tool = Tool("note", Effect.KEYED, timeout=300)
    shop = workshop((asks("note"), Turn(text="Done.")), [tool])

    def work(invocation: Invocation) -> None:
        shop.time.sleep(200, unless=cast(threading.Event, invocation.stop))
        stopped.append(shop.time.now().timestamp())

    tool.minds = work
    shop.at(10, lambda: taken_over(shop))
    assert shop.advance().next is Next.WAIT
    shop.time.advance(1)
    assert len(stopped) == 1


def test_f06_a_result_that_comes_after_the_call_was_called_unknown_settles_nothing(workshop: OpenWorkshop) -> None:
    tool = Tool("send", SEND, timeout=7)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    tool.works = shop.after(60, "late")
    assert shop.advance().next is Next.ASK
    tool.works = lambda: "sent"
    answer(shop, "retry")
    shop.time.advance(120)
    assert shop.advance() == END
    assert [event.data["content"] for event in shop.told(EventType.TOOL_FINISHED)] == ["sent"]


def test_f07_a_worker_that_was_frozen_before_the_effect_does_not_act_when_it_wakes_up(workshop: OpenWorkshop) -> None:
    tool = Tool("send", SEND, timeout=20)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    begin, frozen = shop.time.begin, []

    def freeze(work: Any) -> None:
        if work.__qualname__.startswith("_work"):
            frozen.append(work)
        else:
            begin(work)

    shop.time.begin = freeze  # type: ignore[method-assign]
    shop.advance()
    shop.time.advance(60)
    for work in frozen:
        work()
    assert tool.made == []
    assert shop.told(EventType.TOOL_UNKNOWN), "until a person says so, nobody knows"


def test_f08_a_slice_that_is_delivered_again_after_it_is_through_does_nothing(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("send"), Turn(text="Done.")), [Tool("send", SEND)])
    assert shop.advance() == END
    before = shop.log
    assert shop.advance() == END
    assert shop.log == before
    assert shop.tools["send"].made == ["send"]


def test_f09_a_call_is_made_with_the_arguments_that_its_reply_holds_whoever_makes_it(workshop: OpenWorkshop) -> None:
    heard: list[Any] = []
    tool = Tool("note", Effect.KEYED, hears=heard.append)
    shop = workshop((asks("note"), Turn(text="Done.")), [tool])
    append = shop.runs.append

    def die(run: Run, event: Event) -> None:
        if event.type is EventType.TOOL_FINISHED:
            shop.runs.append = append  # type: ignore[method-assign]
            raise Unavailable("gone")
        append(run, event)

    shop.runs.append = die  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        shop.advance()
    shop.time.advance(120)
    assert shop.advance() == END
    first, second = heard
    assert first == second, "the same call under the same key"


@pytest.mark.parametrize("when", ["with another digest", "a second time", "after its expiry", "after a cancel"])
def test_f10_an_approval_counts_once_in_time_and_for_the_call_that_was_seen(workshop: OpenWorkshop, when: str) -> None:
    shop = asking(workshop)
    match when:
        case "with another digest":
            assert refused(shop, "approve", digest="0" * 64) == "digest_differs"
        case "a second time":
            answer(shop, "deny")
            assert refused(shop, "approve") == "approval_decided"
        case "after its expiry":
            shop.time.advance(24 * 3600)
            assert refused(shop, "approve") == "approval_expired"
        case "after a cancel":
            shop.cancel()
            assert refused(shop, "approve") == "run_over"
    shop.advance()
    assert shop.tools["send"].made == []


def test_f10_after_an_edit_the_old_call_can_no_longer_be_approved(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, "edit", args={"to": "bert"})
    assert refused(shop, "approve") == "approval_decided"
    assert shop.advance() == END
    (started,) = shop.told(EventType.TOOL_STARTED)
    assert started.data["args"] == {"to": "bert"}


def test_f10_an_approval_against_a_takeover_is_taken_in_by_the_one_who_holds_the_run(workshop: OpenWorkshop) -> None:
    slow = Tool("slow", timeout=100)
    rules = (Grant(Ruling.ALLOW, "send"), *unasked(["slow"]))
    shop = workshop((asks("send", "slow"), Turn(text="Done.")), [Tool("send", SEND), slow], permissions=rules)
    slow.works = shop.after(20, "slowly")
    commit = shop.runs.commit

    def take_over_first(change: Any) -> None:
        if change.event.type is EventType.APPROVAL_RESOLVED:
            shop.runs.commit = commit  # type: ignore[method-assign]
            run, last = shop.found()
            lapsed = run.lease_until - shop.time.now() + timedelta(seconds=1) if run.lease_until else timedelta()
            commit(lease.take(run, tail=last.seq, now=shop.time.now() + lapsed, write_id="thief"))
        commit(change)

    shop.runs.commit = take_over_first  # type: ignore[method-assign]
    shop.at(5, lambda: answer(shop, "approve"))
    shop.advance()
    shop.time.advance(300)
    sweep(runs=shop.runs, slots=shop.slots, workflow=shop.workflow, clock=shop.time, chance=shop.chance)
    assert shop.advance(start=shop.run.start) == END
    assert shop.tools["send"].made == ["send"]


@pytest.mark.parametrize(("effect", "told"), [(Effect.READ, EventType.TOOL_FINISHED), (SEND, EventType.TOOL_UNKNOWN)])
def test_f11_a_call_that_was_sent_and_never_answered_is_unknown_and_a_failure_only_if_it_bears_repeating(
    workshop: OpenWorkshop, effect: Effect, told: EventType
) -> None:
    tool = Tool("send", effect, results=lambda: ToolResult(ok=False, content="no answer came", unknown=True))
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    shop.advance()
    assert len(shop.told(told)) == 1


def test_f11_a_call_that_could_not_be_sent_is_a_failure_of_whatever_effect(workshop: OpenWorkshop) -> None:
    tool = Tool("send", SEND, results=lambda: ToolResult(ok=False, content="connection refused"))
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    assert shop.advance() == END
    assert shop.told(EventType.TOOL_UNKNOWN) == []


def test_f12_a_call_s_deadline_lies_within_the_time_that_its_lambda_has_left(workshop: OpenWorkshop) -> None:
    tool = Tool("send", SEND, timeout=800)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    tool.works = shop.after(700, "late")
    began = shop.time.now()
    shop.advance(seconds=400)
    (started,) = shop.told(EventType.TOOL_STARTED)
    assert datetime.fromisoformat(started.data["deadline"]) < began + timedelta(seconds=400)
    assert shop.time.now() - began < timedelta(seconds=400), "the worker was through before it was killed"
    assert shop.told(EventType.TOOL_UNKNOWN)


def test_f15_a_limit_holds_for_twenty_calls_that_are_asked_for_at_once(workshop: OpenWorkshop) -> None:
    tool = Tool("look")
    rules = (Grant(Ruling.ALLOW, "look", calls=7, preapproved=True),)
    shop = workshop((asks(*["look"] * 20), Turn(text="Done.")), [tool], permissions=rules)
    assert shop.advance() == END
    assert len(tool.made) == 7
    outcomes = [event.data.get("refused", False) for event in shop.told(EventType.TOOL_FINISHED)]
    assert (outcomes.count(False), outcomes.count(True)) == (7, 13)
