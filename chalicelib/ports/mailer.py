"""The way out for mail."""

from __future__ import annotations

from typing import Protocol

from chalicelib.core.mail import Mail


class Mailer(Protocol):
    def send(self, mail: Mail) -> None:
        """Hand the mail over, once. Raises `MailRefused` or `MailInDoubt`."""
