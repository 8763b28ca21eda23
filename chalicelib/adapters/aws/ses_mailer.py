"""Mail through SES. It knows no idempotency key: a request is sent once, and one without an answer stays in doubt."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, EndpointConnectionError

from chalicelib.core.errors import MailInDoubt, MailRefused
from chalicelib.core.mail import Mail

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

CALL_HEADER = "X-Pawl-Call"
NOT_CONNECTED = (ConnectTimeoutError, EndpointConnectionError)


class SesMailer:
    """A `Mailer`. The client, made with the first mail, tries once; SES has verified the `sender`."""

    def __init__(self, client: Callable[[], SESV2Client], sender: str) -> None:
        self._client = cache(client)
        self._sender = sender

    def send(self, mail: Mail) -> None:
        try:
            self._client().send_email(
                FromEmailAddress=self._sender,
                Destination={"ToAddresses": [*mail.to]},
                Content={
                    "Simple": {
                        "Subject": {"Data": mail.subject, "Charset": "UTF-8"},
                        "Body": {"Text": {"Data": mail.body, "Charset": "UTF-8"}},
                        "Headers": [{"Name": CALL_HEADER, "Value": mail.mail_id}],
                    }
                },
            )
        except ClientError as fault:
            _raise(fault)
        except NOT_CONNECTED as fault:
            raise MailRefused("the mail service was not reached") from fault
        except BotoCoreError as fault:
            raise MailInDoubt(f"the mail service did not answer ({type(fault).__name__})") from fault


def _raise(fault: ClientError) -> None:
    code, status = fault.response["Error"]["Code"], fault.response["ResponseMetadata"]["HTTPStatusCode"]
    if status >= 500:
        raise MailInDoubt(f"the mail service failed ({code})") from fault
    raise MailRefused(f"the mail service refused it ({code}): {fault.response['Error']['Message']}") from fault
