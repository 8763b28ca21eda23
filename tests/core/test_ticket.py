"""A ticket counts as it was signed, until it expires, and not otherwise."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from chalicelib.core import ticket
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Forbidden, Unauthenticated
from chalicelib.core.ticket import Ticket
from tests.builders import NOON, RUN_ID, run_id

SECRET = b"a secret of thirty-two characters"
TICKET = Ticket("acme", "key_1", frozenset({Scope.READ, Scope.RUN}), RUN_ID, NOON + ticket.COUNTS_FOR)
SENT = ticket.sign(TICKET, SECRET)
UNTIL = NOON + ticket.COUNTS_FOR


@pytest.mark.parametrize("run", [RUN_ID, None])
def test_a_ticket_says_what_it_was_made_for(run: str | None) -> None:
    made = Ticket("acme", "key_1", frozenset({Scope.READ}), run, UNTIL)

    assert ticket.verify(ticket.sign(made, SECRET), SECRET, NOON) == made


def test_a_ticket_counts_for_five_minutes_to_the_moment() -> None:
    assert ticket.verify(SENT, SECRET, UNTIL - timedelta(microseconds=1)) == TICKET
    with pytest.raises(Unauthenticated) as refusal:
        ticket.verify(SENT, SECRET, UNTIL)
    assert refusal.value.code == "ticket_expired"
    assert timedelta(minutes=5) == ticket.COUNTS_FOR


@pytest.mark.parametrize("place", range(len(SENT)))
def test_no_byte_of_a_ticket_can_be_changed(place: int) -> None:
    for other in {"A", "B", "_", ".", "é"} - {SENT[place]}:
        with pytest.raises(Unauthenticated) as refusal:
            ticket.verify(SENT[:place] + other + SENT[place + 1 :], SECRET, NOON)
        assert refusal.value.code == "ticket_invalid"


@pytest.mark.parametrize("text", ["", ".", "pawlt1", "pawlt1..", SENT[:-1], SENT + "A", f"{SENT}=", SENT * 2, "é.é"])
def test_what_is_no_ticket_is_refused(text: str) -> None:
    with pytest.raises(Unauthenticated):
        ticket.verify(text, SECRET, NOON)


def test_a_ticket_of_another_secret_is_none() -> None:
    with pytest.raises(Unauthenticated):
        ticket.verify(SENT, SECRET[:-1] + b"X", NOON)


def test_a_url_has_nothing_to_escape_in_a_ticket() -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]+", SENT)


def test_a_ticket_for_one_run_is_for_no_other() -> None:
    ticket.permit(RUN_ID, RUN_ID)
    ticket.permit(None, RUN_ID)
    with pytest.raises(Forbidden):
        ticket.permit(RUN_ID, run_id(2))
