"""Notes: what one run of an account writes, the next one reads, and nobody else."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import keys
from chalicelib.adapters.dynamodb.note_store import DynamoNoteStore
from chalicelib.adapters.tools.notes import SPEC, look, notes
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.core.note import MAX_LISTED, MAX_TEXT, Note
from chalicelib.core.tools import Mark, Risk, ToolResult
from tests.a_call import a_call, an_invocation
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Desk:
    """The tool on a real table, and whoever calls it."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self.client, self.table = client, table
        self.time = VirtualTime()
        self.store = DynamoNoteStore(client, table, clock=self.time, chance=CountedChance())
        self.box = FunctionToolbox([notes(self.store, self.time)], {"notes": look})

    def __call__(self, *marks: Mark, **args: Any) -> ToolResult:
        """Call it, in a run that results have brought those marks into."""
        assert self.box.problem(a_call("notes", args)) is None
        return self.box.call(an_invocation("notes", args, marks=frozenset(marks)))


@pytest.fixture
def desk(dynamodb: DynamoDBClient, table: str) -> Desk:
    return Desk(dynamodb, table)


def test_what_was_written_is_read_until_it_is_deleted(desk: Desk) -> None:
    assert desk(action="write", name="Zoë", text="first\nlines").ok
    assert desk(action="write", name="Zoe\u0308", text="second").ok

    assert desk(action="read", name="Zoë") == ToolResult(True, "second")
    assert desk(action="list") == ToolResult(True, "Zoë")
    assert desk(action="delete", name="Zoë").ok
    assert desk(action="read", name="Zoë") == ToolResult(False, "There is no note 'Zoë'.")
    assert desk(action="list") == ToolResult(True, "There are no notes.")


def test_deleting_and_writing_again_are_as_if_once(desk: Desk) -> None:
    for _ in range(2):
        assert desk(action="write", name="a", text="").ok
    assert desk(action="read", name="a") == ToolResult(True, "")
    for _ in range(2):
        assert desk(action="delete", name="a").ok


UNTRUSTED = frozenset({Mark.UNTRUSTED})


def test_what_was_written_after_strangers_had_spoken_is_read_as_theirs(desk: Desk) -> None:
    desk(Mark.PRIVATE, action="write", name="ours", text="x")
    assert desk(action="list").marks == frozenset()
    desk(Mark.PRIVATE, Mark.UNTRUSTED, action="write", name="theirs", text="x")

    assert desk(action="read", name="ours") == ToolResult(True, "x")
    assert desk(action="read", name="theirs") == ToolResult(True, "x", marks=UNTRUSTED)
    assert desk(action="list") == ToolResult(True, "ours\ntheirs", marks=UNTRUSTED)
    desk(action="write", name="theirs", text="ours again")
    assert desk(action="read", name="theirs").marks == frozenset()


def test_a_note_of_which_nobody_knows_what_its_writer_had_read_is_taken_for_a_strangers(desk: Desk) -> None:
    desk(action="write", name="old", text="x")
    key = {name: {"S": value} for name, value in keys.note("acme", "old").items()}
    desk.client.update_item(TableName=desk.table, Key=key, UpdateExpression="REMOVE untrusted")

    assert desk(action="read", name="old").marks == UNTRUSTED


def test_notes_belong_to_their_account(desk: Desk) -> None:
    desk.store.write("evil", Note("theirs", "x", desk.time.now(), untrusted=False))
    assert desk(action="list") == ToolResult(True, "There are no notes.")
    assert not desk(action="read", name="theirs").ok


def test_a_write_that_comes_late_does_not_replace_a_newer_one(desk: Desk) -> None:
    late = Note("a", "old", desk.time.now() - timedelta(seconds=1), untrusted=False)
    desk(action="write", name="a", text="new")
    desk.store.write("acme", late)
    assert desk(action="read", name="a").content == "new"


def test_a_list_has_an_end_and_says_so(desk: Desk) -> None:
    for index in range(MAX_LISTED + 1):
        desk.store.write("acme", Note(f"n{index:03}", "x" * MAX_TEXT, desk.time.now(), untrusted=False))

    lines = desk(action="list").content.splitlines()
    assert lines[0] == "n000"
    assert lines[-2:] == [f"n{MAX_LISTED - 1:03}", "(There are more.)"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "'action' is a required property"),
        ({"action": "burn"}, "is not one of"),
        ({"action": "write", "name": "a"}, "The action write takes name and text beside itself."),
        ({"action": "read"}, "The action read takes name beside itself."),
        ({"action": "read", "name": "a", "text": "b"}, "The action read takes name beside itself."),
        ({"action": "list", "name": "a"}, "The action list takes nothing beside itself."),
        ({"action": "read", "name": ""}, "name: "),
        ({"action": "read", "name": "x" * 65}, "is too long"),
        ({"action": "read", "name": "a\nb"}, "name: it must be one line"),
        ({"action": "write", "name": "a", "text": "x" * 10_001}, "is too long"),
    ],
)
def test_what_cannot_be_meant_is_told(desk: Desk, args: dict[str, Any], said: str) -> None:
    assert said in (desk.box.problem(a_call("notes", args)) or "")


def test_notes_are_private_and_stay_in_the_account() -> None:
    assert SPEC.marks == {Mark.PRIVATE}
    assert (SPEC.open_world, SPEC.risk) == (False, Risk.OUTSIDE)


def test_permissions_look_at_the_action_and_the_name() -> None:
    assert look({"action": "read", "name": "Zoe\u0308"}) == {"action": "read", "name": "Zoë"}
    assert look({"action": "list"}) == {"action": "list"}
