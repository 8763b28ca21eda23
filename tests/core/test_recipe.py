"""What an account may write of an agent, and what becomes of it."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from chalicelib.core import declared_data, recipe
from chalicelib.core.agent import DEFAULT_BUDGET, Agent, Expiry
from chalicelib.core.declared import LambdaTool, McpServer, OutsideTool
from chalicelib.core.errors import InvalidInput
from chalicelib.core.recipe import Offer
from chalicelib.core.tools import Answers, Effect, Risk
from tests.core.recipes import LEAST, PAY, SIGN, WHOLE, WIKI, everything

HERE = Offer({"scripted": frozenset({"market", "honey"})})


def test_the_least_gets_what_is_not_said_from_the_defaults() -> None:
    recipe.check(LEAST, HERE)

    agent = recipe.read("clerk", 3, LEAST)

    assert agent == Agent("clerk", "Files things.", "Be careful.", "scripted:market", version=3)
    assert agent.budget == DEFAULT_BUDGET


def test_everything_that_is_said_is_taken() -> None:
    recipe.check(WHOLE, HERE)
    pay, sign, wiki = everything().declared

    assert isinstance(pay, LambdaTool)
    assert isinstance(sign, OutsideTool)
    assert isinstance(wiki, McpServer)
    assert (pay.spec.effect, pay.spec.risk, pay.role) == (Effect.KEYED, Risk.GRAVE, PAY["role"])
    assert (sign.spec.answers, sign.spec.timeout) == (Answers.OUTSIDE, declared_data.OUTSIDE_TIMEOUT)
    assert wiki.tools["search"].at_least is Risk.OUTSIDE
    assert everything().on_expiry is Expiry.FAIL
    assert everything().budget.steps == 7


@pytest.mark.parametrize("agent", [everything(), recipe.read("clerk", 3, LEAST)], ids=["everything", "the least"])
def test_an_agent_goes_through_json_unchanged(agent: Agent) -> None:
    kept = json.loads(json.dumps(recipe.data(agent)))

    assert recipe.read(agent.name, agent.version, kept) == agent


def test_what_is_shown_of_an_agent_can_be_put_again() -> None:
    shown = json.loads(json.dumps(recipe.data(everything())))

    recipe.check(shown, HERE)

    assert recipe.digest(recipe.read("again", 9, shown)) == recipe.digest(everything())


def test_an_agent_has_nothing_that_its_json_leaves_out() -> None:
    assert {field.name for field in fields(Agent)} == {"name", "version", *recipe.data(everything())}


def test_the_same_content_has_the_same_digest_whatever_was_left_to_a_default() -> None:
    said = {**LEAST, "tools": [], "budget": {"steps": DEFAULT_BUDGET.steps}, "on_expiry": "deny", "declared": None}

    assert recipe.digest(recipe.read("a", 1, said)) == recipe.digest(recipe.read("b", 2, LEAST))
    assert recipe.digest(recipe.read("a", 1, {**LEAST, "prompt": "Be."})) != recipe.digest(recipe.read("a", 1, LEAST))


def lambdas(**changed: Any) -> dict[str, Any]:
    return {**LEAST, "declared": [{**PAY, **changed}]}


def servers(**changed: Any) -> dict[str, Any]:
    return {**LEAST, "declared": [SIGN, {**WIKI, **changed}]}


MISTAKES: list[tuple[Any, str, str | None]] = [
    ([], "wrong_type", None),
    ({**LEAST, "colour": "red"}, "unknown_field", "colour"),
    ({**LEAST, "version": 3}, "unknown_field", "version"),
    ({name: LEAST[name] for name in ("description", "model")}, "missing_field", "prompt"),
    ({**LEAST, "prompt": None}, "wrong_type", "prompt"),
    ({**LEAST, "prompt": " "}, "text_empty", "prompt"),
    ({**LEAST, "prompt": "ü" * (16 * 1024) + "."}, "text_too_long", "prompt"),
    ({**LEAST, "description": "x" * 1025}, "text_too_long", "description"),
    ({**LEAST, "model": "market"}, "unknown_model", "model"),
    ({**LEAST, "model": "scripted:"}, "unknown_model", "model"),
    ({**LEAST, "model": "scripted:nope"}, "unknown_model", "model"),
    ({**LEAST, "model": "openai:small"}, "unknown_model", "model"),
    ({**LEAST, "model": "scripted:a\n"}, "unknown_model", "model"),
    ({**LEAST, "tools": "current_time"}, "wrong_type", "tools"),
    ({**LEAST, "tools": ["current_time", 7]}, "wrong_type", "tools[1]"),
    ({**LEAST, "tools": ["../x"]}, "wrong_form", "tools[0]"),
    ({**LEAST, "tools": ["a", "b", "a"]}, "named_twice", "tools[2]"),
    ({**LEAST, "tools": [f"tool{number}" for number in range(65)]}, "too_many", "tools"),
    ({**LEAST, "budget": {"steps": 0}}, "invalid_budget", "budget.steps"),
    ({**LEAST, "budget": {"seconds": 86_401}}, "invalid_budget", "budget.seconds"),
    ({**LEAST, "budget": {"crowns": 1}}, "unknown_field", "budget.crowns"),
    ({**LEAST, "budget": {"steps": True}}, "wrong_type", "budget.steps"),
    ({**LEAST, "permissions": "allow *"}, "wrong_type", "permissions"),
    ({**LEAST, "answer_within": 59}, "out_of_range", "answer_within"),
    ({**LEAST, "answer_within": 60.5}, "wrong_type", "answer_within"),
    ({**LEAST, "on_expiry": "wait"}, "unknown_word", "on_expiry"),
    ({**LEAST, "declared": [7]}, "wrong_type", "declared[0]"),
    ({**LEAST, "declared": [{"name": "x"}]}, "missing_field", "declared[0].kind"),
    ({**LEAST, "declared": [{**SIGN, "kind": "python"}]}, "unknown_word", "declared[0].kind"),
    ({**LEAST, "declared": [{**SIGN, "kind": ["mcp"]}]}, "unknown_word", "declared[0].kind"),
    ({**LEAST, "declared": [PAY, SIGN, {**SIGN, "name": "pay"}]}, "named_twice", "declared[2]"),
    ({**LEAST, "declared": [{**SIGN, "name": f"t{n}"} for n in range(33)]}, "too_many", "declared"),
    ({**LEAST, "declared": [{**SIGN, "function": "pay"}]}, "unknown_field", "declared[0].function"),
    ({**LEAST, "declared": [{**SIGN, "answers": "time"}]}, "unknown_field", "declared[0].answers"),
    ({**LEAST, "declared": [{**SIGN, "timeout": 604_801}]}, "out_of_range", "declared[0].timeout"),
    (lambdas(name="pay.me"), "wrong_form", "declared[0].name"),
    (lambdas(name="wiki__search"), "wrong_form", "declared[0].name"),
    (servers(name="our_wiki"), "wrong_form", "declared[1].name"),
    (servers(name="w" * 25), "wrong_form", "declared[1].name"),
    (lambdas(name="p" * 65), "wrong_form", "declared[0].name"),
    (lambdas(description=""), "text_empty", "declared[0].description"),
    (lambdas(function="arn:aws:s3:::bucket"), "wrong_form", "declared[0].function"),
    (lambdas(function="f" * 65), "wrong_form", "declared[0].function"),
    (lambdas(function="pay\n"), "wrong_form", "declared[0].function"),
    (lambdas(role="payments"), "wrong_form", "declared[0].role"),
    (lambdas(parameters={"type": "string"}), "invalid_schema", "declared[0].parameters.type"),
    (lambdas(effect="harmless"), "unknown_word", "declared[0].effect"),
    (lambdas(timeout=601), "out_of_range", "declared[0].timeout"),
    (lambdas(timeout=0), "out_of_range", "declared[0].timeout"),
    (lambdas(timeout="20"), "wrong_type", "declared[0].timeout"),
    (lambdas(costs=1), "wrong_type", "declared[0].costs"),
    (lambdas(at_least=3), "wrong_type", "declared[0].at_least"),
    (lambdas(at_least="GRAVE"), "unknown_word", "declared[0].at_least"),
    (lambdas(marks=["secret"]), "unknown_word", "declared[0].marks[0]"),
    (lambdas(marks=["private", "private"]), "named_twice", "declared[0].marks[1]"),
    (lambdas(shown_bytes=1), "out_of_range", "declared[0].shown_bytes"),
    (lambdas(secrets=["../bank"]), "wrong_form", "declared[0].secrets[0]"),
    (lambdas(secrets=[f"s{n}" for n in range(9)]), "too_many", "declared[0].secrets"),
    (lambdas(fields={"from": "text"}), "unknown_word", "declared[0].fields"),
    *(
        (
            lambdas(fields={name: "text"}, parameters={"type": "object", "properties": {name: {}}}),
            "wrong_form",
            "declared[0].fields",
        )
        for name in ("a\nb", "a=1, b", "", "1st", "ä", "a" * 101, "a\n")
    ),
    (lambdas(fields={"to": "regex"}), "unknown_word", "declared[0].fields.to"),
    (servers(url="http://wiki.example/mcp"), "url_not_https", "declared[1].url"),
    (servers(url="http://127.0.0.1:9000/mcp"), "url_not_https", "declared[1].url"),
    (servers(url="file:///etc/passwd"), "invalid_url", "declared[1].url"),
    (servers(url="https://user:word@wiki.example/"), "invalid_url", "declared[1].url"),
    (servers(url="https://wiki.example/#x"), "invalid_url", "declared[1].url"),
    (servers(url="https://wiki.example:port/"), "invalid_url", "declared[1].url"),
    (servers(url="https://[wiki/"), "invalid_url", "declared[1].url"),
    (servers(url="https:///mcp"), "invalid_url", "declared[1].url"),
    (servers(url="https://wiki.example/a b"), "invalid_url", "declared[1].url"),
    (servers(url="https://wiki.example/" + "x" * 2048), "invalid_url", "declared[1].url"),
    (servers(secret="a secret"), "wrong_form", "declared[1].secret"),
    (servers(tools={"a tool": {}}), "wrong_form", "declared[1].tools"),
    (servers(tools={"search": {"costs": True}}), "unknown_field", "declared[1].tools.search.costs"),
    (servers(tools={"search": 7}), "wrong_type", "declared[1].tools.search"),
    (servers(tools={"search": {"effect": "gone"}}), "unknown_word", "declared[1].tools.search.effect"),
    (servers(tools={f"t{n}": {} for n in range(65)}), "too_many", "declared[1].tools"),
]


@pytest.mark.parametrize(("asked", "code", "field"), MISTAKES, ids=[f"{code} {at}" for _, code, at in MISTAKES])
def test_what_cannot_be_meant_is_refused_with_its_path(asked: Any, code: str, field: str | None) -> None:
    with pytest.raises(InvalidInput) as refused:
        recipe.check(asked, HERE)

    assert (refused.value.code, refused.value.field) == (code, field)
    assert refused.value.expected


def test_a_model_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    offer = Offer({**HERE.providers, "openai": None})
    recipe.check({**LEAST, "model": "openai:whatever/it:has"}, offer)

    with pytest.raises(InvalidInput) as refused:
        recipe.check({**LEAST, "model": "scripted:nope"}, offer)

    assert refused.value.expected == "one of: openai:NAME, scripted:honey, scripted:market"


def test_a_recipe_is_bounded_as_a_whole() -> None:
    large = {**SIGN["parameters"], "description": "x" * 15_000}
    declared = [{**SIGN, "name": f"sign{number}", "parameters": large} for number in range(9)]

    with pytest.raises(InvalidInput) as refused:
        recipe.check({**LEAST, "declared": declared}, HERE)
    recipe.check({**LEAST, "declared": declared[:8]}, HERE)

    assert (refused.value.code, refused.value.field) == ("agent_too_large", None)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/mcp", "http://localhost/mcp", "http://[::1]:9000/mcp"])
def test_on_a_laptop_a_server_may_be_its_own_machine_unencrypted_and_no_other(url: str) -> None:
    laptop = Offer(HERE.providers, loopback=True)

    recipe.check(servers(url=url), laptop)

    with pytest.raises(InvalidInput, match="encrypted"):
        recipe.check(servers(url="http://wiki.example/mcp"), laptop)


@pytest.mark.parametrize("function", ["pay", "pay:live", "pay:$LATEST", PAY["function"], PAY["function"][:-5]])
def test_a_function_goes_by_name_or_arn_with_or_without_a_qualifier(function: str) -> None:
    recipe.check(lambdas(function=function), HERE)


@pytest.mark.parametrize("name", ["", "Clerk", "-a", "a" * 65, "a b", "a/b", "a#b", "7up", "naïve", "a\n"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        recipe.check_name(name)

    assert (refused.value.code, refused.value.field) == ("invalid_agent_name", "name")
