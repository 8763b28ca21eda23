"""Mail through SES, once: what it refuses was not sent, and what it does not answer may have been."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sesv2.models import sesv2_backends

from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.aws.ses_mailer import SesMailer
from chalicelib.core.errors import MailInDoubt, MailRefused
from chalicelib.core.mail import Mail
from tests.conftest import REGION

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

SENDER = "pawl@acme.example"
MAIL = Mail("run_1-1-0", ("jo@acme.example", "al@b.example"), "Grüße", "Hallo")


@pytest.fixture
def ses(aws: None) -> SESV2Client:
    return client("sesv2")


class Line:
    """Every request of a client ends here, and each way in which it can."""

    def __init__(self, ses: SESV2Client, outcome: Exception | int | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self.outcome = outcome
        ses.meta.events.register_first("before-send.sesv2.SendEmail", self._send)

    def _send(self, request: AWSPreparedRequest, **kwargs: object) -> Any:
        assert isinstance(request.body, bytes)
        self.sent.append(json.loads(request.body))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if self.outcome is None:
            return None
        body = b'{"__type": "MessageRejected", "message": "Email address is not verified."}'
        return AWSResponse(request.url, self.outcome, HTTPHeaders(), _Raw(body))


class _Raw:
    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, **kwargs: object) -> Iterator[bytes]:
        yield self.body


def test_a_mail_is_handed_over_whole_and_names_its_call(ses: SESV2Client) -> None:
    ses.create_email_identity(EmailIdentity="acme.example")
    line = Line(ses)
    SesMailer(lambda: ses, SENDER).send(MAIL)

    assert line.sent == [
        {
            "FromEmailAddress": SENDER,
            "Destination": {"ToAddresses": ["jo@acme.example", "al@b.example"]},
            "Content": {
                "Simple": {
                    "Subject": {"Data": "Grüße", "Charset": "UTF-8"},
                    "Body": {"Text": {"Data": "Hallo", "Charset": "UTF-8"}},
                    "Headers": [{"Name": "X-Pawl-Call", "Value": "run_1-1-0"}],
                }
            },
        }
    ]
    backend = sesv2_backends[DEFAULT_ACCOUNT_ID][REGION]
    assert backend.core_backend.sent_messages[-1].destinations["ToAddresses"] == [*MAIL.to]


@pytest.mark.parametrize(
    "fault",
    [400, 429, ConnectTimeoutError(endpoint_url="x"), EndpointConnectionError(endpoint_url="x")],
    ids=["refused", "too many", "not connected", "no endpoint"],
)
def test_what_was_refused_or_never_left_was_not_sent(ses: SESV2Client, fault: Exception | int) -> None:
    line = Line(ses, fault)
    with pytest.raises(MailRefused):
        SesMailer(lambda: ses, SENDER).send(MAIL)
    assert len(line.sent) == 1


@pytest.mark.parametrize("fault", [500, 503, ReadTimeoutError(endpoint_url="x")], ids=["500", "503", "no answer"])
def test_what_was_not_answered_may_have_been_sent_and_is_not_sent_again(
    ses: SESV2Client, fault: Exception | int
) -> None:
    line = Line(ses, fault)
    with pytest.raises(MailInDoubt):
        SesMailer(lambda: ses, SENDER).send(MAIL)
    assert len(line.sent) == 1
