"""The account's policy holds for every run, whatever its agent and the run itself allow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chalicelib.adapters.models.scripted import Turn
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.core.agent import Agent
from chalicelib.core.events import EventType
from chalicelib.core.permissions import Grant, Ruling, text
from chalicelib.core.policy import Policy
from chalicelib.core.tools import Effect
from chalicelib.usecases.gate import Gate
from chalicelib.usecases.hold import Hold
from tests.a_call import DEADLINE, a_call
from tests.builders import a_run
from tests.core.a_log import a_log
from tests.core.some_tools import FETCH
from tests.usecases.workshop import Tool, Workshop, asks, unasked

OpenWorkshop = Callable[..., Workshop]


def policy(*rules: Grant) -> Policy:
    return Policy(1, rules)


def at_work(workshop: OpenWorkshop, *rules: Grant, **more: Any) -> tuple[Workshop, Tool]:
    tool = Tool("send", Effect.IRREVERSIBLE)
    shop = workshop((asks("send"), Turn(text="Done.")), [tool], permissions=unasked(["send"]), **more)
    shop.policies.standing = policy(*rules)
    return shop, tool


def test_without_a_policy_the_agents_rules_are_all_there_is(workshop: OpenWorkshop) -> None:
    shop, tool = at_work(workshop)
    shop.advance()
    assert tool.made == ["send"]


@pytest.mark.parametrize("rules", [(Grant(Ruling.DENY, "send"),), (Grant(Ruling.ALLOW, "other"),)])
def test_what_the_policy_does_not_let_pass_is_not_made_whatever_the_agent_allows(
    workshop: OpenWorkshop, rules: tuple[Grant, ...]
) -> None:
    shop, tool = at_work(workshop, *rules)
    shop.advance()

    assert tool.made == []
    [finished] = shop.told(EventType.TOOL_FINISHED)
    assert (finished.data["ok"], finished.data["refused"]) == (False, True)


def test_what_the_policy_asks_about_is_asked_though_the_agent_has_approved_it(workshop: OpenWorkshop) -> None:
    shop, tool = at_work(workshop, Grant(Ruling.ASK, "send"))
    shop.advance()

    assert tool.made == []
    [asked] = shop.told(EventType.APPROVAL_REQUESTED)
    assert asked.data["rule"].splitlines()[0] == "ask send"


def test_a_policy_counts_a_runs_calls_by_its_own_limit(workshop: OpenWorkshop) -> None:
    tool = Tool("send", Effect.IRREVERSIBLE)
    twice = (asks("send"), asks("send"), Turn(text="Done."))
    shop = workshop(twice, [tool], permissions=unasked(["send"]))
    shop.policies.standing = policy(Grant(Ruling.ALLOW, "*", calls=1, preapproved=True))
    shop.advance()

    assert tool.made == ["send"]
    assert "the limit is reached: allow * max 1 preapproved" in shop.told(EventType.TOOL_FINISHED)[1].data["content"]


def test_a_policy_is_the_one_that_stands_when_a_worker_takes_the_run(workshop: OpenWorkshop) -> None:
    shop, tool = at_work(workshop, Grant(Ruling.ALLOW, "*", calls=9, preapproved=True))
    shop.policies.standing = replace(policy(Grant(Ruling.DENY, "*")), version=2)
    shop.advance()
    assert tool.made == []


def test_the_last_call_of_a_limit_may_still_be_redirected_to_where_another_could_go() -> None:
    rule = Grant(Ruling.ALLOW, "http_get", {"host": {"host_in": ["a.com", "b.com"]}}, calls=1)
    gate = Gate(Agent("a", "", "", "scripted:a"), FunctionToolbox([(FETCH, lambda it: "")]), ((rule,),), ())
    call = a_call("http_get", {"host": "a.com"})
    begun = {"call_id": call.call_id, "name": "http_get", "args": {}, "effect": "read", "rule": text(rule)}
    hold = SimpleNamespace(run=a_run(), log=a_log().accepted().add(EventType.TOOL_STARTED, begun).events)

    permits = gate.invocation(call, DEADLINE, threading.Event(), cast(Hold, hold)).permits
    assert [permits({"host": host}) for host in ("a.com", "b.com", "c.com")] == [True, True, False]
