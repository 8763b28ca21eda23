"""Questions to people: who is asked, what an answer makes of a call, and which answer stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.adapters.models.scripted import Turn
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.core.approvals import Decision, Verdict
from chalicelib.core.errors import Conflict, InvalidInput, NotFound
from chalicelib.core.events import Event, EventType
from chalicelib.core.moments import spelled
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.policy import Policy
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import Answers, Effect, ToolResult
from chalicelib.ports.model import ModelCall, ModelRequest
from chalicelib.usecases.answer_call import answer_call
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.list_approvals import list_approvals
from chalicelib.usecases.resolve import resolve
from chalicelib.usecases.route import END, Next
from chalicelib.usecases.sweep import sweep
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.rival import beaten
from tests.usecases.workshop import RUN_ID, Tool, Workshop, asks, unasked

DAY = 24 * 3600


def allowed(risky: str, *others: str) -> tuple[Grant, ...]:
    """The first tool is allowed as far as its risk lets it be, the others whatever it is."""
    return (Grant(Ruling.ALLOW, risky), *unasked(others))


def asking(workshop: OpenWorkshop, tool: Tool | None = None, *more: Tool, **given: Any) -> Workshop:
    """A run whose model asked for a risky tool, and which asks a person now."""
    risky = tool or Tool("send", Effect.IRREVERSIBLE)
    names = [risky.name, *(each.name for each in more)]
    shop = workshop(
        (asks(*names), Turn(text="Done.")), [risky, *more], permissions=allowed(risky.name, *names[1:]), **given
    )
    route = shop.advance()
    assert (route.next, shop.run.status, shop.run.waiting_for) == (Next.ASK, Status.WAITING, "approval")
    return shop


def question(shop: Workshop, number: int = -1) -> Event:
    return shop.told(EventType.APPROVAL_REQUESTED)[number]


def answer(
    shop: Workshop, decision: str, *, actor: str = "key_1", account: str = "acme", number: int = -1, **more: Any
) -> Event:
    asked = question(shop, number).data
    given: dict[str, Any] = {"digest": asked["digest"], **more}
    return resolve(
        RUN_ID,
        asked["approval_id"],
        Verdict(Decision(decision), **given),
        account_id=account,
        actor=actor,
        **ports(shop),
        agents=shop.needs().agents,
        toolboxes=Shared(shop.toolbox),
        policies=shop.policies,
    )


def ports(shop: Workshop) -> dict[str, Any]:
    return {"runs": shop.runs, "workflow": shop.workflow, "clock": shop.time, "chance": shop.chance}


def keep(shop: Workshop, token: str) -> None:
    await_answer(RUN_ID, shop.run.start, token, runs=shop.runs, workflow=shop.workflow)


def inbox(shop: Workshop) -> list[tuple[Run, Event]]:
    return list_approvals(account_id="acme", limit=20, after=None, runs=shop.runs)[0]


def test_a_risky_call_is_not_made_before_a_person_approved_it(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    assert shop.tools["send"].made == []
    answer(shop, "approve")
    assert shop.advance() == END
    assert shop.tools["send"].made == ["send"]
    assert [event.data["ok"] for event in shop.told(EventType.TOOL_FINISHED)] == [True]


def test_the_question_says_what_would_be_done_and_until_when(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    asked = question(shop)
    assert asked.data["name"] == "send"
    assert asked.data["args"] == {}
    assert asked.data["choices"] == ["approve", "deny", "edit"]
    assert asked.data["preview"]
    assert asked.data["rule"]
    assert shop.run.asks == (asked.data["approval_id"],)
    assert asked.data["expires_at"] == spelled(shop.run.wake_at)  # type: ignore[arg-type]


def test_nothing_is_held_while_a_person_thinks(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    assert shop.run.lease_until is None
    shop.time.advance(DAY - 60)
    assert shop.advance().next is Next.ASK
    answer(shop, "approve")
    assert shop.advance() == END
    assert shop.run.status is Status.DONE, "the time that people take is not the run's"


def test_a_denied_call_is_never_made_and_the_model_is_told_why(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, "deny", note="wrong address")
    assert shop.advance() == END
    assert shop.tools["send"].made == []
    (told,) = shop.told(EventType.TOOL_FINISHED)
    assert not told.data["ok"]
    assert "wrong address" in told.data["content"]


def test_siblings_are_made_while_a_person_thinks_and_never_again(workshop: OpenWorkshop) -> None:
    other = Tool("look")
    shop = asking(workshop, None, other)
    assert other.made == ["look"]
    answer(shop, "approve")
    shop.advance()
    assert other.made == ["look"]


def test_the_first_decision_stands_the_same_again_answers_the_same_and_another_is_refused(
    workshop: OpenWorkshop,
) -> None:
    shop = asking(workshop)
    first = answer(shop, "approve", actor="anna")
    assert answer(shop, "approve", actor="bert") == first
    with pytest.raises(Conflict) as conflict:
        answer(shop, "deny")
    assert conflict.value.code == "approval_decided"
    assert len(shop.told(EventType.APPROVAL_RESOLVED)) == 1


def test_an_approval_is_of_the_call_that_was_seen_and_of_no_other(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    with pytest.raises(Conflict) as conflict:
        answer(shop, "approve", digest="0" * 64)
    assert conflict.value.code == "digest_differs"
    assert shop.told(EventType.APPROVAL_RESOLVED) == []


@pytest.mark.parametrize(
    ("decision", "more", "field"),
    [
        ("happened", {}, "decision"),
        ("approve", {"args": {}}, "args"),
        ("edit", {}, "args"),
        ("deny", {"grant": True}, "grant"),
        ("deny", {"note": "x" * 1001}, "note"),
    ],
)
def test_what_is_no_answer_to_the_question_is_refused_by_its_field(
    workshop: OpenWorkshop, decision: str, more: Mapping[str, Any], field: str
) -> None:
    shop = asking(workshop)
    with pytest.raises(InvalidInput) as refused:
        answer(shop, decision, **more)
    assert refused.value.field == field
    assert shop.told(EventType.APPROVAL_RESOLVED) == []


def test_an_edited_call_is_made_in_the_place_of_the_one_that_was_asked_for(workshop: OpenWorkshop) -> None:
    seen: list[Any] = []
    tool = Tool("send", Effect.IRREVERSIBLE, hears=seen.append)
    shop = asking(workshop, tool)
    answer(shop, "edit", args={"to": "me"})
    assert shop.advance() == END
    assert [(call.call_id, dict(call.args)) for call in seen] == [(f"{RUN_ID}-1-0e", {"to": "me"})]
    assert shop.told(EventType.TOOL_STARTED)[0].data["args"] == {"to": "me"}


def test_an_edit_that_the_tool_refuses_is_refused_at_once(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    shop.toolbox.problem = lambda call: "to is missing"  # type: ignore[method-assign]
    with pytest.raises(InvalidInput) as refused:
        answer(shop, "edit", args={"nobody": 1})
    assert (refused.value.code, refused.value.detail) == ("invalid_args", "to is missing")
    assert shop.run.asks


def test_a_question_of_another_account_is_not_there(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    with pytest.raises(NotFound):
        answer(shop, "approve", account="evil")


def test_a_question_that_was_never_asked_is_not_there(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    verdict = Verdict(Decision.APPROVE, "d")
    given: dict[str, Any] = {
        "agents": shop.needs().agents,
        "toolboxes": Shared(shop.toolbox),
        "policies": shop.policies,
        **ports(shop),
    }
    with pytest.raises(NotFound):
        resolve(RUN_ID, "ap_99", verdict, account_id="acme", actor="k", **given)


def test_a_decision_after_the_expiry_is_refused_and_the_call_denied(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    shop.time.advance(DAY)
    with pytest.raises(Conflict) as conflict:
        answer(shop, "approve")
    assert conflict.value.code == "approval_expired"
    assert shop.advance() == END
    assert shop.tools["send"].made == []
    (resolved,) = shop.told(EventType.APPROVAL_RESOLVED)
    assert (resolved.data["decision"], resolved.data["by"]) == ("expired", "clock")
    assert shop.run.asks == ()


def test_a_cancel_closes_what_is_asked(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    shop.cancel()
    assert shop.run.asks == ()
    assert inbox(shop) == []
    with pytest.raises(Conflict) as conflict:
        answer(shop, "approve")
    assert conflict.value.code == "run_over"


def test_an_answer_wakes_the_execution_whose_token_stands(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    keep(shop, "token-1")
    answer(shop, "approve")
    assert shop.workflow.woken == ["token-1"]


def test_a_decision_that_comes_before_the_token_is_not_lost(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, "approve")
    keep(shop, "token-1")
    assert shop.workflow.woken == ["token-1"]
    assert shop.advance() == END


def test_a_decision_whose_sender_died_before_the_wake_up_is_finished_by_the_sweeper(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, "approve")
    shop.time.advance(61)
    assert sweep(**ports(shop), slots=shop.slots).restarted == 1
    assert shop.advance(start=2) == END


def test_a_decision_that_meets_a_cancel_in_the_same_moment_is_decided_anew(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    store = shop.runs
    shop.runs = beaten(store, "commit", lambda: _cancelled(shop, store))
    with pytest.raises(Conflict) as conflict:
        answer(shop, "approve")
    assert conflict.value.code == "run_over"
    shop.runs = store
    assert shop.run.status is Status.CANCELLED


def _cancelled(shop: Workshop, store: Any) -> None:
    outer, shop.runs = shop.runs, store
    shop.cancel()
    shop.runs = outer


def test_the_inbox_lists_what_is_open_over_all_runs(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    ((run, asked),) = inbox(shop)
    assert (run.run_id, asked) == (RUN_ID, question(shop))
    answer(shop, "approve")
    assert inbox(shop) == []


def test_an_answer_to_a_run_at_work_is_taken_in_and_the_call_made(workshop: OpenWorkshop) -> None:
    slow = Tool("slow", timeout=100)
    risky = Tool("send", Effect.IRREVERSIBLE)
    shop = workshop((asks("send", "slow"), Turn(text="Done.")), [risky, slow], permissions=allowed("send", "slow"))
    slow.works = shop.after(20, "slowly")
    shop.at(5, lambda: answer(shop, "approve"))
    assert shop.advance() == END
    assert risky.made == ["send"]
    assert EventType.RUN_WAITING not in shop.words


def test_a_person_says_whether_a_call_of_unknown_outcome_happened(workshop: OpenWorkshop) -> None:
    shop = lost(workshop)
    assert question(shop).data["choices"] == ["happened", "retry", "abort"]
    answer(shop, "happened")
    assert shop.advance() == END
    assert [event.data["ok"] for event in shop.told(EventType.TOOL_FINISHED)] == [True]
    assert shop.tools["send"].made == ["send"]


def test_a_call_that_did_not_happen_is_made_again_only_when_a_person_says_so(workshop: OpenWorkshop) -> None:
    shop = lost(workshop)
    shop.tools["send"].works = lambda: "sent"
    answer(shop, "retry")
    assert shop.advance() == END
    assert shop.tools["send"].made == ["send", "send"]


def lost(workshop: OpenWorkshop) -> Workshop:
    """A run whose irreversible call did not come back."""
    tool = Tool("send", Effect.IRREVERSIBLE, timeout=7)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool])
    tool.works = shop.after(100, "late")
    assert shop.advance().next is Next.ASK
    return shop


def outside(workshop: OpenWorkshop) -> Workshop:
    tool = Tool("review", Effect.READ, timeout=3 * 3600, answers=Answers.OUTSIDE)
    shop = workshop((asks("review"), Turn(text="Done.")), [tool])
    assert shop.advance().next is Next.ASK
    assert shop.run.waiting_for == "tool"
    return shop


def bring(shop: Workshop, ok: bool = True, content: str = "looks fine", call: str = f"{RUN_ID}-1-0") -> Event:
    return answer_call(RUN_ID, call, ToolResult(ok, content), account_id="acme", actor="key_1", **ports(shop))


def test_a_result_from_outside_ends_the_call_hours_later(workshop: OpenWorkshop) -> None:
    shop = outside(workshop)
    keep(shop, "token-1")
    shop.time.advance(2 * 3600)
    bring(shop)
    assert shop.workflow.woken == ["token-1"]
    assert shop.advance() == END
    (told,) = shop.told(EventType.TOOL_FINISHED)
    assert (told.data["content"], told.data["by"]) == ("looks fine", "key_1")


def test_the_first_result_from_outside_stands(workshop: OpenWorkshop) -> None:
    shop = outside(workshop)
    assert bring(shop) == bring(shop)
    with pytest.raises(Conflict) as conflict:
        bring(shop, content="looks bad")
    assert conflict.value.code == "call_settled"


def test_a_result_that_comes_too_late_is_refused_and_the_model_told(workshop: OpenWorkshop) -> None:
    shop = outside(workshop)
    shop.time.advance(3 * 3600)
    with pytest.raises(Conflict) as conflict:
        bring(shop)
    assert conflict.value.code == "call_expired"
    assert shop.advance() == END
    assert not shop.told(EventType.TOOL_FINISHED)[0].data["ok"]


def test_only_a_call_that_is_awaited_can_be_answered(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    with pytest.raises(Conflict) as conflict:
        bring(shop)
    assert conflict.value.code == "call_not_awaited"
    with pytest.raises(NotFound):
        bring(shop, call=f"{RUN_ID}-1-7")
    with pytest.raises(InvalidInput):
        bring(shop, content="x" * 70_000)


def test_a_call_that_may_not_be_made_is_refused_without_being_begun(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("nothing"), Turn(text="Well.")), [Tool()])
    assert shop.advance() == END
    assert shop.told(EventType.TOOL_STARTED) == []
    (told,) = shop.told(EventType.TOOL_FINISHED)
    assert told.data["refused"]
    assert told.data["content"].startswith("There is no tool 'nothing'.")


def test_a_tool_that_a_person_allowed_for_the_run_is_not_asked_about_again(workshop: OpenWorkshop) -> None:
    risky = Tool("send", Effect.IRREVERSIBLE)
    rules = allowed("send")
    shop = workshop((asks("send"), asks("send"), Turn(text="Done.")), [risky], permissions=rules)
    shop.advance()
    resolved = answer(shop, "approve", grant=True)
    assert resolved.data["grant"] == {"tool": "send"}, "it stands in the log for everybody to see"
    assert shop.advance() == END
    assert risky.made == ["send", "send"]
    assert len(shop.told(EventType.APPROVAL_REQUESTED)) == 1


def test_a_limit_counts_the_calls_that_were_let_through_and_asked_about(workshop: OpenWorkshop) -> None:
    risky = Tool("send", Effect.IRREVERSIBLE)
    rules = (Grant(Ruling.ALLOW, "send", calls=1),)
    shop = workshop((asks("send"), asks("send"), Turn(text="Done.")), [risky], permissions=rules)
    shop.advance()
    answer(shop, "approve")
    assert shop.advance() == END
    assert risky.made == ["send"]
    assert [event.data.get("refused", False) for event in shop.told(EventType.TOOL_FINISHED)] == [False, True]


def test_what_a_run_may_not_use_is_not_shown_to_its_model_and_refused_all_the_same(workshop: OpenWorkshop) -> None:
    risky, other = Tool("send", Effect.IRREVERSIBLE), Tool("look")
    shop = workshop((asks("send"), Turn(text="Done.")), [risky, other], permissions=unasked(["look"]))
    seen: list[tuple[str, ...]] = []
    call = shop.model.call

    def overheard(asked: ModelRequest) -> ModelCall:
        seen.append(tuple(spec.name for spec in asked.tools))
        return call(asked)

    shop.model.call = overheard  # type: ignore[method-assign, assignment]
    assert shop.advance() == END
    assert seen == [("look",), ("look",)]
    assert risky.made == []
    (told,) = shop.told(EventType.TOOL_FINISHED)
    assert (told.data["refused"], told.data["content"]) == (True, "This call is not allowed:\nno rule allows it")


@pytest.mark.parametrize("preapproved", [True, False])
def test_whoever_submits_a_run_can_only_narrow_what_it_may_do(workshop: OpenWorkshop, preapproved: bool) -> None:
    own = [{"effect": "allow", "tool": "send", "limit": {"calls": 5}, "preapproved": preapproved}]
    risky = Tool("send", Effect.IRREVERSIBLE)
    shop = workshop((asks("send"), Turn(text="Done.")), [risky], permissions=(), accepted={"permissions": own})
    assert shop.advance().next is Next.ASK
    assert risky.made == []


def test_an_approval_does_not_outlive_the_policy_that_let_it_be_asked_for(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    shop.policies.standing = Policy(1, (Grant(Ruling.DENY, "send"), Grant(Ruling.ALLOW, "*")))
    answer(shop, "approve")
    assert shop.advance() == END
    assert shop.tools["send"].made == []
    (told,) = shop.told(EventType.TOOL_FINISHED)
    assert (told.data["refused"], told.data["content"]) == (True, "This call is not allowed:\ndeny send")


def test_a_limit_holds_for_questions_that_were_asked_at_once(workshop: OpenWorkshop) -> None:
    risky = Tool("send", Effect.IRREVERSIBLE)
    rules = (Grant(Ruling.ALLOW, "send", calls=1),)
    shop = workshop((asks("send", "send", "send"), Turn(text="Done.")), [risky], permissions=rules)
    shop.advance()
    for number in range(3):
        answer(shop, "approve", number=number)
    assert shop.advance() == END
    assert risky.made == ["send"]


def test_the_same_result_from_outside_is_no_fault_once_the_run_has_gone_on(workshop: OpenWorkshop) -> None:
    shop = outside(workshop)
    first = bring(shop)
    assert shop.advance() == END
    assert bring(shop) == first
    with pytest.raises(Conflict) as conflict:
        bring(shop, content="looks bad")
    assert conflict.value.code == "call_settled"


def test_a_late_result_from_outside_is_late_once_the_run_has_gone_on(workshop: OpenWorkshop) -> None:
    shop = outside(workshop)
    shop.time.advance(3 * 3600)
    assert shop.advance() == END
    with pytest.raises(Conflict) as conflict:
        bring(shop)
    assert conflict.value.code == "call_expired"


def test_an_approved_call_of_a_tool_that_is_gone_is_refused_and_the_run_goes_on(workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, "approve")
    shop.toolbox = FunctionToolbox([])
    shop.agent = replace(shop.agent, tools=())
    assert shop.advance() == END
    assert shop.told(EventType.TOOL_FINISHED)[0].data["content"].startswith("There is no tool")
