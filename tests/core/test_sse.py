"""Frames as they stand on the wire. Each rule here was learned from a client that broke without it."""

from __future__ import annotations

import json
from typing import NamedTuple

import httpx
import pytest
from httpx_sse import EventSource

from chalicelib.core import sse

TOLD = {
    "seq": 4,
    "type": "text.delta",
    "at": "2026-01-01T12:00:00.000Z",
    "data": {"step": 1, "attempt": 1, "text": "Good\nday"},
}
FRAME = (
    "event: text.delta\n"
    'data: {"seq":4,"type":"text.delta","at":"2026-01-01T12:00:00.000Z",'
    '"data":{"step":1,"attempt":1,"text":"Good\\nday"}}\n'
    "id: 4\n"
    "\n"
)


class Seen(NamedTuple):
    event: str
    data: str
    id: str
    retry: int | None


def parsed(stream: str) -> list[Seen]:
    """What a client makes of a stream."""
    response = httpx.Response(200, headers={"Content-Type": sse.MEDIA_TYPE}, content=stream.encode())
    return [Seen(each.event, each.data, each.id, each.retry) for each in EventSource(response).iter_sse()]


def test_a_frame_is_its_type_one_line_of_json_its_seq_as_id_and_an_empty_line() -> None:
    assert sse.frame(TOLD) == FRAME


def test_the_id_comes_last_so_that_a_frame_cut_off_in_its_data_moves_no_cursor() -> None:
    names = [line.partition(":")[0] for line in sse.with_retry(sse.frame(TOLD), 250).splitlines()]

    assert names == ["retry", "event", "data", "id", ""]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e", "\x00"])
def test_what_some_client_takes_for_a_line_end_never_stands_in_the_data(end: str) -> None:
    frame = sse.frame({**TOLD, "data": {"text": f"one{end}two"}})

    assert len(frame.splitlines()) == 4
    assert "\r" not in frame
    assert json.loads(parsed(frame)[0].data)["data"]["text"] == f"one{end}two"


def test_every_cut_of_a_stream_gives_whole_events_or_none() -> None:
    stream = "".join(sse.frame({**TOLD, "seq": seq}) for seq in range(3))

    for cut in range(len(stream)):
        events = parsed(stream[:cut])
        assert [event.id for event in events] == [str(seq) for seq in range(cut // (len(stream) // 3))]
        assert all(json.loads(event.data)["seq"] == int(event.id) for event in events)


def test_retry_stands_inside_the_first_frame_for_alone_it_would_be_an_empty_event() -> None:
    [event] = parsed(sse.with_retry(FRAME, 250))

    assert sse.with_retry(FRAME, 250) == f"retry: 250\n{FRAME}"
    assert (event.retry, event.event, event.id) == (250, "text.delta", "4")


def test_a_heartbeat_is_a_comment_that_no_client_sees() -> None:
    assert sse.HEARTBEAT == ": heartbeat\n"
    assert parsed(sse.HEARTBEAT + FRAME + sse.HEARTBEAT) == parsed(FRAME)
    assert parsed(FRAME + sse.HEARTBEAT + FRAME) == parsed(FRAME + FRAME)


def test_trouble_says_when_to_come_back_has_data_and_leaves_the_cursor() -> None:
    assert sse.trouble() == (
        'retry: 5000\n: unavailable, try again\nevent: trouble\ndata: {"code":"unavailable","retry_ms":5000}\n\n'
    )
    after = parsed(FRAME + sse.trouble())
    assert [(event.event, event.id) for event in after] == [("text.delta", "4"), ("trouble", "4")]
    assert json.loads(after[1].data)["code"] == "unavailable"


def test_no_proxy_may_keep_compress_or_hold_back_a_stream() -> None:
    assert sse.HEADERS == {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-cache, no-transform",
        "X-Accel-Buffering": "no",
    }
