"""Mail on the laptop: each one a file in a folder, which a mail program opens, and nothing leaves the machine."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from chalicelib.core.errors import MailRefused
from chalicelib.core.mail import Mail
from chalicelib.ports.clock import Clock


class Outbox:
    """A `Mailer`. The same mail twice is one file: it is named by its id."""

    def __init__(self, folder: Path, sender: str, clock: Clock) -> None:
        self._folder = folder
        self._sender = sender
        self._clock = clock

    def send(self, mail: Mail) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # A reader never sees half a mail.
            part = self._folder / f"{mail.mail_id}.part"
            part.write_bytes(self._written(mail))
            part.replace(part.with_suffix(".eml"))
        except OSError as fault:
            raise MailRefused(f"the outbox cannot be written ({fault.strerror})") from fault

    def _written(self, mail: Mail) -> bytes:
        message = EmailMessage(SMTP)
        message["From"] = self._sender
        message["To"] = ", ".join(mail.to)
        message["Subject"] = mail.subject
        message["Date"] = self._clock.now()
        message["Message-ID"] = f"<{mail.mail_id}@pawl.invalid>"
        message.set_content(mail.body)
        return message.as_bytes()
