"""A mail, as a run sends one."""

from __future__ import annotations

import re
from dataclasses import dataclass

ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+")


@dataclass(frozen=True, slots=True)
class Mail:
    """Plain text. `mail_id` is that of the call that sends it, and stands in the mail."""

    mail_id: str
    to: tuple[str, ...]
    subject: str
    body: str
