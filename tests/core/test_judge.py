"""What becomes of a call: rules, layers, risks, limits, and what has met in the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core import calls, grants
from chalicelib.core.events import EventType
from chalicelib.core.facts import Facts, facts
from chalicelib.core.judge import judge, permits, visible
from chalicelib.core.permissions import Grant, Judgement, Layer, Ruling
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Mark, Risk, ToolResult, ToolSpec
from tests.core.a_log import LogInWords, a_log
from tests.core.some_tools import CLOCK, EVERY, FETCH, MAIL, NOTES, TICKET, a_tool

ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY
STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}
NOTHING = Facts()
LEAKY = Facts(marks=frozenset(Mark))


def layer(*lines: str) -> tuple[Grant, ...]:
    return grants.parse(list(lines), field="permissions", specs=EVERY)


def judged(spec: ToolSpec, *layers: Layer, seen: Facts = NOTHING, **fields: Any) -> Judgement:
    return judge(spec.name, fields, spec, layers, seen)


def ruling(spec: ToolSpec, *layers: Layer, seen: Facts = NOTHING, **fields: Any) -> Ruling:
    return judged(spec, *layers, seen=seen, **fields).ruling


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["allow http_get"], ALLOW),
        (["ask http_get"], ASK),
        (["deny http_get"], DENY),
        (["allow http_get", "ask http_get"], ASK),
        (["ask http_get", "allow http_get"], ASK),
        (["allow http_get", "deny http_get"], DENY),
        (["deny http_get", "allow http_get"], DENY),
        (["ask http_get", "deny *"], DENY),
        (["allow http_get(host=api.acme.com)", "deny http_get(host=*.acme.com)"], DENY),
        (["allow http_get(host=other.com)"], DENY),
        (["allow clock"], DENY),
        (["allow *"], ALLOW),
        (["allow http_*(method=GET)"], ALLOW),
        (["allow http_get(host=api.acme.com, method=POST)"], DENY),
    ],
)
def test_a_denial_comes_before_a_question_and_that_before_a_permission_however_specific(
    lines: list[str], expected: Ruling
) -> None:
    assert ruling(FETCH, layer(*lines), host="api.acme.com", method="GET") is expected


@pytest.mark.parametrize(
    ("account", "agent", "run", "expected"),
    [
        ("allow", "allow", "allow", ALLOW),
        ("allow", "ask", "allow", ASK),
        ("deny", "allow", "allow", DENY),
        ("allow", "allow", "deny", DENY),
        ("ask", "deny", "ask", DENY),
    ],
)
def test_every_layer_must_let_a_call_pass(account: str, agent: str, run: str, expected: Ruling) -> None:
    layers = [layer(f"{effect} http_get") for effect in (account, agent, run)]
    assert ruling(FETCH, *layers, host="a.com") is expected


def test_a_layer_without_rules_has_no_say_and_one_with_rules_for_others_denies() -> None:
    assert ruling(FETCH, (), layer("allow http_get"), (), host="a.com") is ALLOW
    assert judged(FETCH, layer("allow clock"), layer("allow http_get"), host="a.com") == Judgement(
        DENY, "no rule allows it"
    )


@pytest.mark.parametrize(
    ("spec", "unruled", "allowed", "preapproved"),
    [
        (CLOCK, ALLOW, ALLOW, ALLOW),
        (NOTES, ALLOW, ALLOW, ALLOW),
        (FETCH, ASK, ALLOW, ALLOW),
        (TICKET, ASK, ASK, ALLOW),
        (MAIL, ASK, ASK, ALLOW),
    ],
    ids=lambda each: each.name if isinstance(each, ToolSpec) else None,
)
def test_what_a_layer_allows_is_asked_about_as_its_risk_wants(
    spec: ToolSpec, unruled: Ruling, allowed: Ruling, preapproved: Ruling
) -> None:
    assert ruling(spec, (), ()) is unruled
    assert ruling(spec, layer(f"allow {spec.name}")) is allowed
    assert ruling(spec, layer(f"allow {spec.name} max 3 preapproved")) is preapproved


def test_what_is_grave_is_never_preapproved_without_a_limit_even_if_the_rule_is_older_than_the_risk() -> None:
    rule = Grant(ALLOW, "mail.send", preapproved=True)
    assert ruling(MAIL, (rule,)) is ASK
    raised = a_tool("ticket", effect=TICKET.effect, at_least=Risk.GRAVE)
    assert ruling(raised, layer("allow ticket preapproved")) is ASK


def test_who_preapproves_does_so_for_the_own_layer_only() -> None:
    assert ruling(MAIL, layer("allow *"), layer("allow mail.send max 3 preapproved")) is ASK
    both = layer("allow mail.* max 9 preapproved"), layer("allow mail.send max 3 preapproved")
    assert ruling(MAIL, *both) is ALLOW


def test_a_judgement_names_the_rules_that_applied_and_why_a_person_is_asked() -> None:
    told = judged(MAIL, layer("allow *"), (), layer("allow mail.send(domain=acme.com) max 2"), domain="acme.com")
    assert told.rule.splitlines() == [
        "allow *",
        "asked about: nobody can take it back",
        "allow mail.send(domain=acme.com) max 2",
    ]


def test_a_call_that_one_layer_asks_about_counts_in_the_layers_that_allow_it() -> None:
    asking, allowing = layer("ask http_get"), layer("allow http_get max 1")
    log = begun(a_log().accepted(), "call-0", judged(FETCH, asking, allowing).rule)
    assert ruling(FETCH, asking, allowing, seen=facts(log.events)) is DENY


def begun(log: LogInWords, call_id: str, rule: str, marks: tuple[Mark, ...] = (), name: str = "http_get") -> LogInWords:
    data = {"call_id": call_id, "name": name, "args": {}, "effect": "read", "rule": rule, "marks": list(marks)}
    return log.add(EventType.TOOL_STARTED, data)


def finished(log: LogInWords, call_id: str) -> LogInWords:
    return log.add(EventType.TOOL_FINISHED, {"call_id": call_id, "name": "x", "ok": True, "content": ""})


def test_f15_of_twenty_calls_of_a_step_as_many_are_made_as_the_rule_allows() -> None:
    rules, log, made = layer("allow http_get(host=*.acme.com) max 7"), a_log().accepted().started(), 0
    for index in range(20):
        told = judged(FETCH, (), rules, seen=facts(log.events), host="api.acme.com")
        if told.ruling is ALLOW:
            made += 1
            begun(log, f"call-{index}", told.rule)
    assert made == 7
    assert judged(FETCH, rules, seen=facts(log.events), host="api.acme.com") == Judgement(
        DENY, "the limit is reached: allow http_get(host=*.acme.com) max 7"
    )


def test_f15_each_layer_counts_by_its_own_rule() -> None:
    account, run = layer("allow * max 2"), layer("allow http_get max 5", "allow clock")
    log = a_log().accepted().started()
    for index, spec in enumerate([CLOCK, FETCH]):
        begun(log, f"call-{index}", judged(spec, account, run, seen=facts(log.events)).rule, name=spec.name)
    assert ruling(FETCH, account, run, seen=facts(log.events)) is DENY
    assert ruling(FETCH, run, seen=facts(log.events)) is ALLOW


def test_a_call_that_is_begun_again_after_a_crash_counts_once() -> None:
    log = begun(begun(a_log().accepted(), "call-0", "allow http_get max 2"), "call-0", "allow http_get max 2")
    assert ruling(FETCH, layer("allow http_get max 2"), seen=facts(log.events)) is ALLOW


def test_a_call_that_is_begun_again_unjudged_still_counts_and_still_brings_its_marks() -> None:
    log = begun(a_log().accepted(), "call-0", "allow http_get max 1", (Mark.PRIVATE,))
    begun(log, "call-0", "")
    assert ruling(FETCH, layer("allow http_get max 1"), seen=facts(log.events)) is DENY
    assert facts(finished(log, "call-0").events).marks == {Mark.PRIVATE}


def test_a_question_with_a_limit_is_asked_so_often_and_then_denied_even_beside_a_permission() -> None:
    rules = layer("ask http_get max 1", "allow http_get")
    asked = judged(FETCH, rules)
    assert asked.ruling is ASK
    log = begun(a_log().accepted(), "call-0", asked.rule)
    assert ruling(FETCH, rules, seen=facts(log.events)) is DENY


def test_a_rule_that_is_used_up_leaves_a_call_to_the_others() -> None:
    rules, used = (
        layer("allow mail.send max 1 preapproved", "allow mail.send"),
        Facts(made={"allow mail.send max 1 preapproved": 1}),
    )
    assert ruling(MAIL, rules) is ALLOW
    assert ruling(MAIL, rules, seen=used) is ASK


@pytest.mark.parametrize(
    "host",
    ["api.acme.com", "API.ACME.COM", "api.acme.com.", "\uff41pi.acme.com", "api\u3002acme.com", "api.acme.com:443"],
)
def test_f16_a_host_is_the_same_in_every_spelling(host: str) -> None:
    assert ruling(FETCH, layer("allow http_get(host=Api.Acme.com)"), host=host) is ALLOW
    assert ruling(FETCH, layer("allow http_get", "deny http_get(host=*.ACME.com)"), host=host) is DENY


@pytest.mark.parametrize(
    "host",
    [
        "acme.com",
        "evilacme.com",
        "api.acme.com.evil.com",
        "api.acme.com:8443",
        "api.acme.com@evil.com",
        "127.0.0.1",
        "[::1]",
        "",
        "api..acme.com",
        "api.acme.com/",
        "api.acme.com\x00.evil.com",
        7,
        None,
    ],
)
def test_f16_what_only_looks_like_a_granted_host_is_denied(host: Any) -> None:
    assert ruling(FETCH, layer("allow http_get(host=*.acme.com)"), host=host) is DENY


def test_f16_a_value_without_a_spelling_is_denied_even_where_everything_is_allowed() -> None:
    odd: list[tuple[ToolSpec, dict[str, Any]]] = [
        (FETCH, {"host": "a b"}),
        (NOTES, {"path": "docs/../../etc"}),
        (TICKET, {"size": float("nan")}),
        (TICKET, {"size": 2**53 + 1}),
        (TICKET, {"size": True}),
        (TICKET, {"nobody": "knows"}),
    ]
    for spec, fields in odd:
        assert judge(spec.name, fields, spec, [layer("allow *")], NOTHING).ruling is DENY, fields


def test_f16_text_is_composed_before_it_is_compared_and_case_counts() -> None:
    rules = layer("allow ticket(queue=café) preapproved")
    assert ruling(TICKET, rules, queue="cafe\u0301") is ALLOW
    assert ruling(TICKET, rules, queue="Café") is DENY


@pytest.mark.parametrize(
    ("line", "fields", "expected"),
    [
        ("allow ticket(size<=10) preapproved", {"size": 10}, ALLOW),
        ("allow ticket(size<=10) preapproved", {"size": 10.5}, DENY),
        ("allow ticket(size=1|2) preapproved", {"size": 2}, ALLOW),
        ("allow ticket(size=1|2) preapproved", {"size": 3}, DENY),
        ("allow ticket(queue=ops-*) preapproved", {"queue": "ops-1"}, ALLOW),
        ("allow ticket(queue=ops-*) preapproved", {"queue": "dev-ops-1"}, DENY),
        ("allow ticket(queue=ops) preapproved", {}, DENY),
    ],
)
def test_a_condition_is_met_or_the_rule_does_not_apply(line: str, fields: Mapping[str, Any], expected: Ruling) -> None:
    assert ruling(TICKET, layer(line), **fields) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("docs", ALLOW), ("docs/a", ALLOW), ("./docs//a", ALLOW), ("docs2", DENY), ("/docs/a", DENY), ("docs/../x", DENY)],
)
def test_a_path_is_under_a_folder_or_is_it(path: str, expected: Ruling) -> None:
    assert ruling(NOTES, layer("allow notes(path=docs/*)"), path=path) is expected


def test_of_several_values_all_must_be_allowed_and_one_suffices_to_deny() -> None:
    both = ["acme.com", "evil.com"]
    assert ruling(MAIL, layer("allow mail.send(domain=acme.com) max 1 preapproved"), domain=both) is DENY
    rules = layer("allow mail.send max 1 preapproved", "deny mail.send(domain=evil.com)")
    assert ruling(MAIL, rules, domain=both) is DENY
    assert ruling(MAIL, rules, domain=["acme.com"]) is ALLOW
    assert ruling(MAIL, layer("allow mail.send(domain=acme.com) max 1 preapproved"), domain=[]) is DENY


def test_f18_once_untrusted_and_private_data_have_met_a_get_goes_unasked_only_to_a_host_named_exactly() -> None:
    wide, exact = layer("allow http_get(host=*.acme.com)"), layer("allow http_get(host=api.acme.com)")
    assert ruling(FETCH, wide, host="api.acme.com") is ALLOW
    assert ruling(FETCH, wide, seen=LEAKY, host="api.acme.com") is ASK
    assert ruling(FETCH, exact, seen=LEAKY, host="api.acme.com") is ALLOW
    assert ruling(FETCH, layer("allow http_get"), seen=LEAKY, host="api.acme.com") is ASK
    assert ruling(FETCH, exact, layer("allow *"), seen=LEAKY, host="api.acme.com") is ASK


def test_f18_nothing_is_written_outside_unasked_then_whatever_was_preapproved_or_granted() -> None:
    rules = layer("allow mail.send(domain=acme.com) max 1 preapproved", "allow ticket preapproved", "allow notes")
    granted = Facts(marks=LEAKY.marks, granted=frozenset({"mail.send", "http_get"}))
    assert ruling(MAIL, rules, seen=LEAKY, domain="acme.com") is ASK
    assert ruling(TICKET, rules, seen=LEAKY) is ASK
    assert ruling(MAIL, rules, seen=granted, domain="acme.com") is ASK
    assert ruling(FETCH, (), seen=granted, host="a.com") is ASK
    assert ruling(NOTES, rules, seen=LEAKY) is ALLOW


@pytest.mark.parametrize("marks", [set(), {Mark.PRIVATE}, {Mark.UNTRUSTED}])
def test_one_kind_of_data_alone_changes_nothing(marks: set[Mark]) -> None:
    assert ruling(FETCH, layer("allow http_get"), seen=Facts(marks=frozenset(marks)), host="a.com") is ALLOW


def test_marks_come_into_a_run_with_results_not_with_the_calls() -> None:
    log = begun(a_log().accepted(), "call-0", "", (Mark.PRIVATE,))
    begun(log, "call-1", "", (Mark.UNTRUSTED,))
    finished(log, "call-0")
    assert facts(log.events).marks == {Mark.PRIVATE}
    assert facts(finished(log, "call-1").events).leaks


def test_a_result_may_bring_more_than_its_tool_always_does() -> None:
    log = begun(a_log().accepted(), "call-0", "", (Mark.PRIVATE,))
    result = ToolResult(True, "a stranger's words, kept", marks=frozenset({Mark.UNTRUSTED}))
    log.add(EventType.TOOL_FINISHED, calls.finished(ToolCall("call-0", "notes", {}), result))

    assert facts(log.events).leaks


def test_a_tool_that_a_person_allowed_for_the_run_is_not_asked_about_again_for_its_risk() -> None:
    log = a_log().accepted().add(EventType.APPROVAL_RESOLVED, {"decision": "approve", "grant": {"tool": "mail.send"}})
    seen = facts(log.events)
    assert ruling(MAIL, (), seen=seen) is ALLOW
    assert ruling(MAIL, layer("allow *"), seen=seen) is ALLOW
    assert ruling(TICKET, (), seen=seen) is ASK
    assert ruling(MAIL, layer("deny mail.send"), seen=seen) is DENY
    assert ruling(MAIL, layer("ask mail.send"), seen=seen) is ASK
    assert ruling(MAIL, layer("allow clock"), seen=seen) is DENY


def test_a_resolution_without_a_grant_grants_nothing() -> None:
    log = a_log().accepted().add(EventType.APPROVAL_RESOLVED, {"decision": "approve"})
    assert facts(log.events).granted == frozenset()


def test_a_redirect_is_followed_only_to_what_is_allowed_unasked() -> None:
    rules = [layer("allow http_get(host=a.com|b.com) max 1", "ask http_get(host=c.com)")]
    follow = permits({"host": "a.com"}, FETCH, rules, NOTHING)
    assert [follow({"host": host}) for host in ("a.com", "b.com", "c.com", "d.com")] == [True, True, False, False]


def test_what_a_person_approved_may_go_on_where_it_began() -> None:
    follow = permits({"host": "c.com", "method": "GET"}, FETCH, [layer("ask http_get")], NOTHING)
    assert follow({"host": "c.com"})
    assert not follow({"host": "d.com"})


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([], True),
        ([()], True),
        ([layer("allow http_get(host=a.com)")], True),
        ([layer("ask http_get")], True),
        ([layer("allow *"), layer("allow clock")], False),
        ([layer("allow *", "deny http_get")], False),
        ([layer("allow *", "deny http_get(host=a.com)")], True),
        ([layer("deny http_get(host=a.com)")], False),
    ],
)
def test_a_model_is_shown_a_tool_if_some_call_of_it_could_be_made(layers: list[Layer], expected: bool) -> None:
    assert visible(FETCH, layers) is expected


HOSTS = ("api.acme.com", "acme.com", "evil.com")
PATTERNS = ("*.acme.com", *HOSTS)
RULES = st.builds(
    Grant,
    st.sampled_from(Ruling),
    st.sampled_from(["http_get", "mail.send", "*", "mail.*", "clock"]),
    st.one_of(
        st.just({}), st.builds(lambda it: {"host": {"host_in": it}}, st.lists(st.sampled_from(PATTERNS), min_size=1))
    ),
    st.one_of(st.none(), st.integers(1, 3)),
    st.booleans(),
)
LAYERS = st.lists(RULES, min_size=1, max_size=4)
FACTS = st.builds(Facts, marks=st.frozensets(st.sampled_from(Mark)), granted=st.frozensets(st.just("http_get")))
CALLS = st.sampled_from([(FETCH, {"host": host}) for host in HOSTS] + [(MAIL, {}), (CLOCK, {})])
Call = tuple[ToolSpec, Mapping[str, Any]]


def strictness(call: Call, layers: list[list[Grant]], seen: Facts) -> int:
    spec, fields = call
    return STRICTNESS[judge(spec.name, fields, spec, layers, seen).ruling]


@given(CALLS, LAYERS, RULES, st.integers(0, 4), FACTS)
def test_another_denial_never_allows_more(call: Call, rules: list[Grant], more: Grant, place: int, seen: Facts) -> None:
    stricter = [*rules[:place], Grant(DENY, more.tool, more.when), *rules[place:]]
    assert strictness(call, [stricter], seen) >= strictness(call, [rules], seen)


@given(CALLS, st.lists(LAYERS, min_size=1, max_size=3), FACTS)
def test_layers_together_are_exactly_as_strict_as_the_strictest_of_them(
    call: Call, layers: list[list[Grant]], seen: Facts
) -> None:
    assert strictness(call, layers, seen) == max(strictness(call, [each], seen) for each in layers)


@given(CALLS, st.lists(LAYERS, max_size=3), FACTS)
def test_what_could_be_made_is_shown(call: Call, layers: list[list[Grant]], seen: Facts) -> None:
    if strictness(call, layers, seen) < STRICTNESS[DENY]:
        assert visible(call[0], layers)


def test_every_rule_that_asks_counts_the_call() -> None:
    rules = layer("ask *", "ask mail.send max 1")
    first = judge(MAIL.name, {}, MAIL, [rules], Facts())
    assert first.rule == "ask *\nask mail.send max 1"
    log = finished(begun(a_log().accepted(), "call-0", first.rule), "call-0")
    assert judge(MAIL.name, {}, MAIL, [rules], facts(log.events)).ruling is DENY


def test_a_run_s_own_rules_lift_neither_the_question_about_a_host_nor_the_one_about_a_leak() -> None:
    own = layer("allow http_get(host=a.com)")
    fields = {"host": "a.com", "method": "GET"}
    assert judge(FETCH.name, fields, FETCH, [], Facts(), own).ruling is ASK
    assert judge(FETCH.name, fields, FETCH, [layer("allow *")], Facts(), own).ruling is ALLOW
    leaking = Facts(marks=frozenset(Mark))
    assert judge(FETCH.name, fields, FETCH, [layer("allow *")], leaking, own).ruling is ASK
    assert judge(FETCH.name, {"host": "b.com"}, FETCH, [layer("allow *")], Facts(), own).ruling is DENY


@pytest.mark.parametrize("rule", ["to=Boss@Example.COM", "to=x@y.example|BOSS@example.com", "to=Boss*"])
@pytest.mark.parametrize("to", ["boss@example.com", "Boss@Example.com", ["jo@acme.com", "BOSS@EXAMPLE.COM"]])
def test_an_address_is_the_same_however_it_is_written(rule: str, to: Any) -> None:
    rules = layer(f"deny mail.send({rule})", "allow mail.send max 9 preapproved")
    assert ruling(MAIL, rules, to=to) is DENY
    assert ruling(MAIL, rules, to="jo@acme.com") is ALLOW


def test_what_is_no_address_is_denied_where_one_is_judged() -> None:
    assert ruling(MAIL, layer("allow mail.send max 9 preapproved"), to="boss@example\u3002com") is DENY
