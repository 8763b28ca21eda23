"""The laptop's mail: a file that a mail program reads."""

from __future__ import annotations

from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from chalicelib.adapters.outbox import Outbox
from chalicelib.core.errors import MailRefused
from chalicelib.core.mail import Mail
from tests.virtual_time import VirtualTime

MAIL = Mail("run_1-1-0", ("jo@acme.example", "al@b.example"), "Grüße", "Hallo Jo,\n\nüber alles.\n")


def outbox(folder: Path) -> Outbox:
    return Outbox(folder, "pawl@laptop.invalid", VirtualTime(datetime(2026, 7, 14, 9, tzinfo=UTC)))


def test_a_mail_is_one_file_that_says_all_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "outbox"
    for _ in range(2):
        outbox(folder).send(MAIL)

    assert [path.name for path in folder.iterdir()] == ["run_1-1-0.eml"]
    read = message_from_bytes((folder / "run_1-1-0.eml").read_bytes(), policy=default)
    assert (read["From"], read["To"]) == ("pawl@laptop.invalid", "jo@acme.example, al@b.example")
    assert (read["Subject"], read["Date"]) == ("Grüße", "Tue, 14 Jul 2026 09:00:00 +0000")
    body = read.get_body()
    assert body is not None
    assert body.get_content().splitlines() == ["Hallo Jo,", "", "über alles."]


def test_a_folder_that_cannot_be_written_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MailRefused, match="outbox cannot be written"):
        outbox(tmp_path / "file").send(MAIL)
