"""Mail: sent once, to whom was judged, and never reported as not sent when it may have been."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.adapters.tools.send_email import SPEC, look, send_email
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.core.errors import MailInDoubt, MailRefused
from chalicelib.core.mail import Mail
from chalicelib.core.tools import Risk, ToolResult
from tests.a_call import DEADLINE, RUN_ID, a_call, an_invocation
from tests.virtual_time import VirtualTime

ARGS: dict[str, Any] = {"to": ["Jo@Acme.example", "al@b.example"], "subject": "Hi", "body": "Hello\nthere"}
BEFORE = datetime(2025, 12, 31, tzinfo=UTC)


class Postbox:
    """A `Mailer` that keeps what it is handed, or raises what it is told to."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.mails: list[Mail] = []
        self.fault = fault

    def send(self, mail: Mail) -> None:
        self.mails.append(mail)
        if self.fault:
            raise self.fault


def box(postbox: Postbox, now: datetime = BEFORE) -> FunctionToolbox:
    return FunctionToolbox([send_email(postbox, VirtualTime(now))], {"send_email": look})


def test_a_mail_goes_to_its_recipients_under_the_id_of_its_call() -> None:
    postbox = Postbox()
    told = box(postbox).call(an_invocation("send_email", ARGS))

    assert told == ToolResult(True, "Sent to Jo@Acme.example, al@b.example.")
    assert postbox.mails == [Mail(f"{RUN_ID}-1-0", ("Jo@Acme.example", "al@b.example"), "Hi", "Hello\nthere")]


def test_permissions_see_every_recipient_and_domain_in_lower_case() -> None:
    assert look(ARGS) == {"to": ["jo@acme.example", "al@b.example"], "domain": ["acme.example", "b.example"]}


def test_an_approver_sees_to_whom_about_what_and_all_of_the_text() -> None:
    assert box(Postbox()).preview(a_call("send_email", ARGS)) == (
        'send_email\n  to: ["Jo@Acme.example", "al@b.example"]\n  subject: Hi\n  body: \n    Hello\n    there'
    )


def test_nobody_can_take_a_mail_back() -> None:
    assert SPEC.risk is Risk.GRAVE
    assert not SPEC.effect.repeatable


@pytest.mark.parametrize("late", [True, False])
def test_a_mail_whose_time_is_up_or_that_is_no_longer_wanted_is_not_sent(late: bool) -> None:
    postbox, stop = Postbox(), threading.Event()
    if not late:
        stop.set()
    told = box(postbox, DEADLINE if late else BEFORE).call(an_invocation("send_email", ARGS, stop=stop))

    assert postbox.mails == []
    assert told == ToolResult(False, "The mail was not sent: its time was up before it could begin.")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (MailRefused("no such domain"), ToolResult(False, "The mail was not sent: no such domain.")),
        (MailInDoubt("no answer"), ToolResult(False, "The mail may have been sent: no answer.", unknown=True)),
    ],
)
def test_f11_a_refusal_is_a_failure_and_a_silence_is_unknown(fault: Exception, told: ToolResult) -> None:
    assert box(Postbox(fault)).call(an_invocation("send_email", ARGS)) == told


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"to": []}, "to: "),
        ({"to": "jo@acme.example"}, "to: "),
        ({"to": ["jo@acme.example"] * 2}, "to: "),
        ({"to": [f"a{index}@acme.example" for index in range(11)]}, "to: "),
        ({"to": ["jo@acme.example\nBcc: al@b.example"]}, "to[0]: "),
        ({"to": ["jo@acme"]}, "to[0]: "),
        ({"to": ["Jo <jo@acme.example>"]}, "to[0]: "),
        ({"subject": "Hi\nBcc: al@b.example"}, "subject: it must be one line"),
        ({"subject": "Hi\x85Bcc: al@b.example"}, "subject: it must be one line"),
        ({"subject": ""}, "subject: "),
        ({"body": "x" * 20_001}, "body: "),
        ({"cc": ["al@b.example"]}, "'cc' was unexpected"),
    ],
)
def test_what_is_no_mail_or_hides_a_recipient_is_told(changed: dict[str, Any], said: str) -> None:
    postbox = Postbox()
    assert said in (box(postbox).problem(a_call("send_email", ARGS | changed)) or "")
