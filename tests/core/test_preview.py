"""An approver reads all of a call, and nothing in it that they cannot see."""

from __future__ import annotations

from chalicelib.core.preview import preview
from chalicelib.core.tools import ToolSpec

MAIL = ToolSpec("mail", "Sends.", {"properties": {"to": {}, "subject": {}, "body": {}, "copies": {}}})


def test_arguments_come_in_the_order_of_the_schema_one_a_line() -> None:
    args = {"body": "Hello\nBob", "extra": {"a": [1]}, "subject": "Hi", "to": ["a@b.example", "é@b.example"]}
    assert preview(MAIL, args) == (
        'mail\n  to: ["a@b.example", "é@b.example"]\n  subject: Hi\n  body: \n    Hello\n    Bob\n  extra: {"a": [1]}'
    )


def test_a_text_cannot_pretend_to_be_another_argument() -> None:
    lines = preview(MAIL, {"to": "a", "subject": "x\n  body: harmless"}).splitlines()
    assert [line for line in lines if line.startswith("  body")] == []
    assert lines[-1] == "      body: harmless"


def test_what_cannot_be_seen_is_spelled() -> None:
    told = preview(MAIL, {"subject": "a\u202eb\u200bc\x1b[2K\r\u2028d\U000e0041"})
    assert told == "mail\n  subject: a\\u202eb\\u200bc\\u001b[2K\\u000d\\u2028d\\U000e0041"


def test_nothing_is_left_out_of_a_long_text() -> None:
    assert "x" * 60_000 + "!" in preview(MAIL, {"body": "x" * 60_000 + "!"})
