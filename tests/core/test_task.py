"""The limits of what may be asked for."""

from __future__ import annotations

import pytest

from chalicelib.core import task
from chalicelib.core.agent import Agent
from chalicelib.core.errors import InvalidInput
from chalicelib.core.run import Budget
from chalicelib.core.task import MAX_BUDGET, MAX_TAG_NAME, MAX_TAG_VALUE, MAX_TAGS, MAX_TEXT_BYTES, Task

AGENT = Agent(name="demo", description="", prompt="", model="scripted:market", budget=Budget(steps=50, seconds=3600))


def test_a_task_at_every_limit_is_a_task() -> None:
    tags = {f"{number:0{MAX_TAG_NAME}d}": "v" * MAX_TAG_VALUE for number in range(MAX_TAGS)}

    largest = Task("demo", "é" * (MAX_TEXT_BYTES // 2), tags, MAX_BUDGET.steps, MAX_BUDGET.seconds)
    smallest = Task("demo", "x", {"k": ""}, 1, 1)

    assert (len(largest.text.encode()), len(largest.metadata)) == (MAX_TEXT_BYTES, MAX_TAGS)
    assert (smallest.text, smallest.metadata) == ("x", {"k": ""})


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_a_task_without_words_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Task("demo", text)

    assert (refusal.value.code, refusal.value.field) == ("text_empty", "text")


def test_text_is_measured_in_bytes_and_the_limit_is_told() -> None:
    with pytest.raises(InvalidInput) as refusal:
        Task("demo", "é" * (MAX_TEXT_BYTES // 2) + "x")

    assert (refusal.value.code, refusal.value.field) == ("text_too_long", "text")
    assert refusal.value.expected == "at most 16384 bytes of UTF-8"


@pytest.mark.parametrize(
    ("tags", "field"),
    [
        ({str(number): "" for number in range(MAX_TAGS + 1)}, "metadata"),
        ({"": "v"}, "metadata"),
        ({"k" * (MAX_TAG_NAME + 1): "v"}, "metadata"),
        ({"team": "v" * (MAX_TAG_VALUE + 1)}, "metadata.team"),
        ({"team": 7}, "metadata.team"),
        ({"team": None}, "metadata.team"),
    ],
)
def test_tags_beyond_their_bounds_are_refused_by_name(tags: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Task("demo", "go", tags)

    assert (refusal.value.code, refusal.value.field) == ("invalid_metadata", field)


@pytest.mark.parametrize(
    ("steps", "seconds", "field"),
    [
        (0, None, "budget.steps"),
        (-1, None, "budget.steps"),
        (MAX_BUDGET.steps + 1, None, "budget.steps"),
        (None, 0, "budget.seconds"),
        (None, MAX_BUDGET.seconds + 1, "budget.seconds"),
    ],
)
def test_a_budget_out_of_bounds_is_refused_by_name(steps: int | None, seconds: int | None, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Task("demo", "go", {}, steps, seconds)

    assert (refusal.value.code, refusal.value.field) == ("invalid_budget", field)


def test_what_the_budget_does_not_say_is_the_agents_default() -> None:
    assert task.budget(Task("demo", "go"), AGENT) == AGENT.budget
    assert task.budget(Task("demo", "go", steps=3), AGENT) == Budget(steps=3, seconds=3600)


def test_the_same_task_has_the_same_digest_however_its_tags_are_ordered() -> None:
    one = Task("demo", "go", {"a": "1", "b": "2"})

    assert task.digest(one) == task.digest(Task("demo", "go", {"b": "2", "a": "1"}))


@pytest.mark.parametrize(
    "other",
    [
        Task("chat", "go", {"a": "1"}, 3, 4),
        Task("demo", "go!", {"a": "1"}, 3, 4),
        Task("demo", "go", {"a": "2"}, 3, 4),
        Task("demo", "go", {"a": "1"}, 4, 4),
        Task("demo", "go", {"a": "1"}, 3),
    ],
)
def test_another_task_has_another_digest(other: Task) -> None:
    assert task.digest(other) != task.digest(Task("demo", "go", {"a": "1"}, 3, 4))


def test_a_reason_has_at_most_500_characters_and_may_be_missing() -> None:
    task.check_reason(None)
    task.check_reason("x" * 500)
    with pytest.raises(InvalidInput) as refusal:
        task.check_reason("x" * 501)

    assert (refusal.value.code, refusal.value.field) == ("text_too_long", "reason")
