"""Server-Sent Events taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import pytest

from chalicelib.adapters.net import sse


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_each_of_the_three_ways(end: bytes) -> None:
    wire = end.join([b"data: one", b"", b"data: two", b"", b""])

    assert list(sse.data([wire])) == ["one", "two"]


def test_a_piece_may_end_in_the_middle_of_anything() -> None:
    wire = 'data: {"é": "🙂"}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()

    assert list(sse.data(wire[at : at + 1] for at in range(len(wire)))) == ['{"é": "🙂"}', "[DONE]"]


def test_the_data_of_several_lines_is_one() -> None:
    assert list(sse.data([b"data: {\ndata:  1}\n\n"])) == ["{\n 1}"]


def test_comments_other_fields_and_empty_events_are_passed_over() -> None:
    assert list(sse.data([b": ping\n\nevent: x\nid: 7\nretry: 10\n\n", b"data:close\n\n"])) == ["close"]


def test_an_event_that_breaks_off_is_none() -> None:
    assert list(sse.data([b"data: whole\n\ndata: half", b"\n"])) == ["whole"]


def test_an_event_is_told_as_soon_as_it_is_whole() -> None:
    read: list[str] = []

    def pieces() -> Iterator[bytes]:
        yield b"data: first\n\n"
        read.append("second piece")
        yield b"data: second\n\n"

    events = sse.data(pieces())

    assert next(events) == "first"
    assert read == []


def test_a_frame_says_from_where_to_go_on_and_when_also_without_data() -> None:
    wire = b"id: 7\nretry: 250\ndata:\n\nid: 8\n\nretry: soon\nid: a\0b\ndata: x\n\n: ping\n\n"

    assert list(sse.frames([wire])) == [
        sse.Frame("", "7", 250),
        sse.Frame(None, "8", None),
        sse.Frame("x", None, None),
    ]


def test_a_long_line_in_small_pieces_takes_no_longer_for_its_length() -> None:
    """Each piece looked at together with all before it would be tens of gigabytes here."""
    pieces = [b"data: ", *repeat(b"x" * 20, 100_000), b"\n\n"]

    assert [len(text) for text in sse.data(pieces)] == [2_000_000]
