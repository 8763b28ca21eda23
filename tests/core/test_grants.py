"""Permissions are read as they were meant, or refused where they cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core import grants
from chalicelib.core.errors import InvalidInput
from chalicelib.core.permissions import Grant, Ruling, of_data, text, to_data
from chalicelib.core.tools import Matching
from tests.core.some_tools import EVERY, TICKET, a_tool


def parsed(*given: Any) -> tuple[Grant, ...]:
    return grants.parse(list(given), field="permissions", specs=EVERY)


def test_a_line_and_an_object_say_the_same() -> None:
    line = "allow http_get(host=*.acme.com|api.other.com, method=GET) max 50"
    full = {
        "effect": "allow",
        "tool": "http_get",
        "when": {"host": {"host_in": ["*.Acme.com.", "api.other.com"]}, "method": {"eq": "GET"}},
        "limit": {"calls": 50},
    }
    assert parsed(line) == parsed(full)
    assert text(parsed(full)[0]) == line


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("ask ticket(size<=2.5)", {"size": {"max": 2.5}}),
        ("ask ticket(size=1|2)", {"size": {"in": [1, 2]}}),
        ("ask ticket(queue=a*)", {"queue": {"prefix": "a"}}),
        ('ask ticket(queue="a, (b)*")', {"queue": {"eq": "a, (b)*"}}),
        ('ask ticket(queue="a b"*)', {"queue": {"prefix": "a b"}}),
        ("ask notes(path=/a/*)", {"path": {"path_under": "/a"}}),
        ("ask notes(path=/*)", {"path": {"path_under": "/"}}),
        ("ask notes(path=a/./b)", {"path": {"eq": "a/b"}}),
        ("ask ticket ( queue=a* , queue=ab|ac )", {"queue": {"prefix": "a", "in": ["ab", "ac"]}}),
        ("ask ticket()", {}),
        ("ask http_get(host=api.acme.com:8443)", {"host": {"host_in": ["api.acme.com:8443"]}}),
    ],
)
def test_a_line_is_read_by_the_kind_of_each_field(line: str, when: dict[str, Any]) -> None:
    assert parsed(line)[0].when == when


WRONG: list[tuple[Any, str]] = [
    ({"effect": "allow", "tool": "http_gte"}, "permissions[0].tool"),
    ({"effect": "allow", "tool": "ftp.*"}, "permissions[0].tool"),
    ({"effect": "allow", "tool": "http[_]get"}, "permissions[0].tool"),
    ({"effect": "allow", "tool": 7}, "permissions[0].tool"),
    ({"effect": "allow"}, "permissions[0].tool"),
    ({"effect": "permit", "tool": "clock"}, "permissions[0].effect"),
    ({"effect": None, "tool": "clock"}, "permissions[0].effect"),
    ({"effect": ["allow"], "tool": "clock"}, "permissions[0].effect"),
    ({"effect": "allow", "tool": "clock", "wen": {}}, "permissions[0].wen"),
    ({"effect": "allow", "tool": "clock", "when": {"host": {"host_in": ["a.com"]}}}, "permissions[0].when.host"),
    ({"effect": "allow", "tool": "*", "when": {"host": {"host_in": ["a.com"]}}}, "permissions[0].when.host"),
    ({"effect": "allow", "tool": "http_get", "when": {"host": {"like": "a"}}}, "permissions[0].when.host.like"),
    ({"effect": "allow", "tool": "http_get", "when": {"host": {"prefix": "a"}}}, "permissions[0].when.host.prefix"),
    ({"effect": "allow", "tool": "http_get", "when": {"host": {}}}, "permissions[0].when.host"),
    ({"effect": "allow", "tool": "http_get", "when": {"host": "a.com"}}, "permissions[0].when.host"),
    ({"effect": "allow", "tool": "http_get", "when": []}, "permissions[0].when"),
    ({"effect": "allow", "tool": "http_get", "when": {"host": {"host_in": []}}}, "permissions[0].when.host.host_in"),
    *(
        (
            {"effect": "allow", "tool": "http_get", "when": {"host": {"host_in": ["a.com", host]}}},
            "permissions[0].when.host.host_in[1]",
        )
        for host in (
            "*",
            "*.com",
            "com",
            "10.0.0.1",
            "0x7f.1",
            "a*.com",
            "*.*.com",
            "a.com/x",
            "a.com:99999",
            "a.com:443",
            "",
            5,
        )
    ),
    ({"effect": "allow", "tool": "ticket", "when": {"size": {"max": "5"}}}, "permissions[0].when.size.max"),
    ({"effect": "allow", "tool": "ticket", "when": {"size": {"max": True}}}, "permissions[0].when.size.max"),
    ({"effect": "allow", "tool": "ticket", "when": {"size": {"max": float("nan")}}}, "permissions[0].when.size.max"),
    ({"effect": "allow", "tool": "ticket", "when": {"size": {"eq": 2**53 + 2}}}, "permissions[0].when.size.eq"),
    ({"effect": "allow", "tool": "ticket", "when": {"queue": {"eq": ["a"]}}}, "permissions[0].when.queue.eq"),
    (
        {"effect": "allow", "tool": "ticket", "when": {"queue": {"in": ["a", "\ud800"]}}},
        "permissions[0].when.queue.in[1]",
    ),
    ('allow ticket(queue="\\ud800")', "permissions[0].when.queue.eq"),
    ('allow ticket(queue="a\\udfff"*)', "permissions[0].when.queue.prefix"),
    ({"effect": "allow", "tool": "ticket", "when": {"queue": {"eq": "a" * 1001}}}, "permissions[0].when.queue.eq"),
    (
        {"effect": "allow", "tool": "notes", "when": {"path": {"path_under": "../a"}}},
        "permissions[0].when.path.path_under",
    ),
    ({"effect": "allow", "tool": "clock", "limit": {"calls": 0}}, "permissions[0].limit.calls"),
    ({"effect": "allow", "tool": "clock", "limit": {"calls": True}}, "permissions[0].limit.calls"),
    ({"effect": "allow", "tool": "clock", "limit": {}}, "permissions[0].limit.calls"),
    ({"effect": "allow", "tool": "clock", "limit": {"usd": "0.50"}}, "permissions[0].limit.usd"),
    ({"effect": "allow", "tool": "clock", "limit": 5}, "permissions[0].limit"),
    ({"effect": "deny", "tool": "clock", "limit": {"calls": 1}}, "permissions[0].limit"),
    ({"effect": "ask", "tool": "clock", "preapproved": True}, "permissions[0].preapproved"),
    ({"effect": "allow", "tool": "clock", "preapproved": "yes"}, "permissions[0].preapproved"),
    ({"effect": "allow", "tool": "mail.send", "preapproved": True}, "permissions[0].limit"),
    ({"effect": "allow", "tool": "*", "preapproved": True}, "permissions[0].limit"),
    ("allow mail.* preapproved", "permissions[0].limit"),
    ("allow http_get(host=a.com", "permissions[0]"),
    ("allow http_get(host=a.com)max 5", "permissions[0]"),
    ("allow http_get(host=a.com, host=b.com)", "permissions[0]"),
    ("allow http_get(path=a)", "permissions[0]"),
    ("allow http_gte", "permissions[0]"),
    ("allow http_get(host<=a.com)", "permissions[0].when.host.max"),
    ("deny mail.send(to=nobody)", "permissions[0].when.to.eq"),
    ("allow ticket(size=a)", "permissions[0].when.size.eq"),
    (r'allow ticket(queue="\x")', "permissions[0]"),
    ("allow  " + " " * 20_000, "permissions[0]"),
    ("", "permissions[0]"),
    (7, "permissions[0]"),
    (None, "permissions[0]"),
]


@pytest.mark.parametrize(("rule", "where"), WRONG, ids=lambda each: str(each)[:60])
def test_what_cannot_be_meant_or_could_never_apply_is_refused_where_it_stands(rule: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parsed(rule)
    assert (refused.value.code, refused.value.field) == ("invalid_permission", where)
    assert refused.value.expected


@pytest.mark.parametrize("given", [{}, "allow clock", None, ["allow clock"] * 101])
def test_what_is_no_list_of_rules_is_refused_as_a_whole(given: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        grants.parse(given, field="policy", specs=EVERY)
    assert refused.value.field == "policy"


def test_rules_that_are_too_long_together_are_refused() -> None:
    rule = {"effect": "deny", "tool": "ticket", "when": {"queue": {"in": ["x" * 1_000] * 60}}}
    assert len(parsed(rule)) == 1
    with pytest.raises(InvalidInput, match="too long") as refused:
        parsed(rule, rule)
    assert refused.value.field == "permissions"


def test_a_rule_that_is_wrong_is_named_by_its_place() -> None:
    with pytest.raises(InvalidInput) as refused:
        parsed("allow clock", "allow clock", {"effect": "allow", "tool": "nothing"})
    assert refused.value.field == "permissions[2].tool"


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WHEN = st.one_of(
    st.just({}),
    st.builds(lambda it: {"queue": {"eq": it}}, TEXTS),
    st.builds(lambda it: {"queue": {"prefix": it}}, TEXTS),
    st.builds(lambda it: {"queue": {"in": it}}, st.lists(TEXTS, min_size=2, max_size=3)),
    st.builds(lambda it: {"size": {"max": it}}, st.integers(-(2**53), 2**53)),
    st.builds(lambda it: {"size": {"eq": it}}, st.floats(-1e9, 1e9)),
)
OBJECTS = st.builds(
    lambda when, calls: {"effect": "ask", "tool": "ticket", "when": when, "limit": {"calls": calls}},
    WHEN,
    st.integers(1, 100),
)


@given(OBJECTS)
def test_a_rule_survives_its_own_text_and_its_own_data(rule: dict[str, Any]) -> None:
    (grant,) = grants.parse([rule], field="p", specs=EVERY)
    assert len(text(grant).splitlines()) == 1
    assert grants.parse([text(grant)], field="p", specs=EVERY) == (grant,)
    assert of_data(json.loads(json.dumps(to_data([grant])))) == (grant,)


@pytest.mark.parametrize(
    "line",
    [
        "allow http_get(host=*.acme.com|b.com:8443) max 1 preapproved",
        "deny notes(path=/*)",
        "deny notes(path=/a/b/*, op=read)",
        "deny *",
    ],
)
def test_a_line_in_its_one_form_is_the_text_of_its_rule(line: str) -> None:
    assert text(*parsed(line)) == line


def test_rules_can_be_about_all_tools_that_share_a_field_of_one_kind() -> None:
    text_kind = a_tool("one", fields={"place": Matching.TEXT})
    for other in (a_tool("two", fields={"place": Matching.PATH}), TICKET):
        with pytest.raises(InvalidInput, match="cannot look at this field"):
            grants.parse(["allow *(place=a)"], field="p", specs=[text_kind, other])
    assert grants.parse(["allow *(place=a)"], field="p", specs=[text_kind])[0].effect is Ruling.ALLOW
