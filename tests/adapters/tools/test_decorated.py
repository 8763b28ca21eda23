"""A plain function becomes a tool: its hints are the schema, its docstring the words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

import pytest

from chalicelib.adapters.tools.decorated import tool
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Tool
from chalicelib.core.tools import Effect, Invocation, Mark, Matching, Risk, ToolResult
from tests.a_call import a_call, an_invocation


@tool(effect=Effect.READ, open_world=False, marks=frozenset(), fields={"city": Matching.TEXT}, timeout=5)
def forecast(
    city: Annotated[str, "Its name."],
    days: int = 1,
    units: Literal["C", "F"] = "C",
    *,
    exact: bool = False,
    above: float | None = None,
    places: list[int] | None = None,
    labels: Optional[dict[str, str]] = None,  # noqa: UP045 - as people write it too
) -> Any:
    """Tells the weather.

    For some days.

    Args:
        days: How many,
            at most ten.
        units (str): Of the temperature.
        above: Only days above it.
    """
    return {"city": city, "days": days, "exact": exact, "is": type(days).__name__, "places": places}


def result(made: Tool, args: dict[str, Any]) -> ToolResult:
    box = FunctionToolbox([made])
    call = a_call(made[0].name, args)
    assert box.problem(call) is None
    return box.call(an_invocation(made[0].name, args))


def test_the_schema_comes_from_the_hints_and_the_words_from_the_docstring() -> None:
    spec, _ = forecast

    assert (spec.name, spec.description) == ("forecast", "Tells the weather.\n\nFor some days.")
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name."},
            "days": {"type": "integer", "description": "How many, at most ten."},
            "units": {"enum": ["C", "F"], "description": "Of the temperature."},
            "exact": {"type": "boolean"},
            "above": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "Only days above it."},
            "places": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "labels": {"anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "null"}]},
        },
        "additionalProperties": False,
        "required": ["city"],
    }


def test_what_is_said_stands_and_what_is_not_is_assumed_at_its_worst() -> None:
    @tool()
    def unsaid() -> str:
        """Does something."""
        return ""

    spec, _ = unsaid
    assert (forecast[0].effect, forecast[0].timeout, forecast[0].risk) == (Effect.READ, 5, Risk.HARMLESS)
    assert (spec.effect, spec.open_world, spec.risk) == (Effect.IRREVERSIBLE, True, Risk.GRAVE)
    assert spec.marks == {Mark.PRIVATE, Mark.UNTRUSTED}


def test_the_function_is_called_by_its_own_names_and_types() -> None:
    told = result(forecast, {"city": "Kyiv", "days": 2.0, "exact": True, "places": [1]})

    assert told == ToolResult(True, '{"city": "Kyiv", "days": 2, "exact": true, "is": "int", "places": [1]}')


@pytest.mark.parametrize("args", [{}, {"city": 7}, {"city": "a", "units": "K"}, {"city": "a", "wind": True}])
def test_arguments_that_do_not_fit_the_hints_do_not_reach_the_function(args: dict[str, Any]) -> None:
    assert FunctionToolbox([forecast]).problem(a_call("forecast", args))


def test_a_function_may_ask_for_the_invocation_which_no_model_can_give() -> None:
    @tool(name="who")
    def whose(what: str, invocation: Invocation) -> str:
        """Tells whose call it is."""
        return f"{what} of {invocation.account_id}"

    assert "invocation" not in whose[0].parameters["properties"]
    assert result(whose, {"what": "call"}) == ToolResult(True, "call of acme")


@pytest.mark.parametrize(
    ("brought", "said"),
    [
        ("text", ToolResult(True, "text")),
        (None, ToolResult(True, "null")),
        ([1, "é"], ToolResult(True, '[1, "é"]')),
        (ToolResult(False, "no", unknown=True), ToolResult(False, "no", unknown=True)),
        (b"\xff\xfe", ToolResult(False, "The tool brought 2 bytes that are no text.")),
        (float("nan"), ToolResult(False, "The tool brought something that JSON cannot say.")),
        (object(), ToolResult(False, "The tool brought something that JSON cannot say.")),
    ],
)
def test_f13_what_a_function_brings_is_text_or_said_to_be_none(brought: Any, said: ToolResult) -> None:
    @tool()
    def bring() -> Any:
        """Brings something."""
        return brought

    assert result(bring, {}) == said


def no_docstring(a: str) -> None: ...


def no_hint(a) -> None:  # type: ignore[no-untyped-def]
    """Has no hint."""


def any_number(*a: str) -> None:
    """Takes many."""


def by_position(a: str, /) -> None:
    """Takes no name."""


def not_json(a: set[str]) -> None:
    """Takes a set."""


def keys_of_numbers(a: dict[int, str]) -> None:
    """Takes what JSON has not."""


@pytest.mark.parametrize("function", [no_docstring, no_hint, any_number, by_position, not_json, keys_of_numbers])
def test_a_function_that_no_model_could_call_is_refused_when_it_is_decorated(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        tool()(function)


def test_a_permission_field_is_a_parameter() -> None:
    with pytest.raises(TypeError, match="host is no parameter of f"):

        @tool(fields={"host": Matching.HOST})
        def f(url: str) -> None:
            """Fetches."""
