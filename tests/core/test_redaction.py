"""Secrets do not come back, however they are spelled."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core.redaction import SHORTEST, Redactor

SECRET = 'p/ss w"rd+äöü&=?'
REDACT = Redactor({"token": SECRET})
RAW = SECRET.encode()


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.b64encode(RAW).decode().rstrip("="),
    ],
)
def test_f17_a_secret_is_taken_out_in_every_usual_spelling(spelled: str) -> None:
    told = REDACT(f"before {spelled} after {spelled}")
    assert told.count("[secret token]") == 2
    assert spelled not in told


def test_f17_a_secret_in_a_query_is_taken_out() -> None:
    assert REDACT("https://a.b/?" + urlencode({"key": SECRET, "x": "1"})) == "https://a.b/?key=[secret token]&x=1"


@given(st.text("abc:", max_size=7), st.text("xyz", max_size=7), st.text("KLMNOP0123", min_size=SHORTEST, max_size=40))
def test_f17_a_secret_inside_of_other_base64_is_taken_out_whatever_stands_around_it(
    before: str, after: str, secret: str
) -> None:
    encoded = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
    told = Redactor({"s": secret})(f"Authorization: Basic {encoded}")
    assert "[secret s]" in told


def test_of_two_secrets_of_which_one_holds_the_other_neither_is_left_in_part() -> None:
    redact = Redactor({"short": "abcdefgh", "long": "abcdefgh-ijkl"})
    assert redact("abcdefgh-ijkl abcdefgh") == "[secret long] [secret short]"


def test_without_secrets_a_text_stays_as_it_is() -> None:
    assert Redactor({})("[secret nothing] a.b") == "[secret nothing] a.b"
