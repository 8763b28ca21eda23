"""Frames fit, and what is in them is what was told."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from chalicelib.core import socket_frames
from chalicelib.core.socket_frames import LARGEST
from tests.builders import RUN_ID
from tests.socket_client import Reader

TEXTS = some.one_of(some.text(max_size=40), some.integers(0, 40_000).map(lambda size: '"\\é'[size % 3] * size))


def _told(texts: list[str]) -> list[dict[str, Any]]:
    return [{"seq": seq, "type": "text.delta", "data": {"text": text}} for seq, text in enumerate(texts)]


@settings(max_examples=50, deadline=None)
@given(some.lists(TEXTS, max_size=6), some.booleans())
def test_every_event_comes_out_as_it_was_in_frames_that_fit(texts: list[str], done: bool) -> None:
    reader, told = Reader(), _told(texts)
    for frame in socket_frames.bundles(RUN_ID, told, done=done):
        assert len(frame.encode()) <= LARGEST
        reader.take(frame)

    assert reader.events == told
    assert (RUN_ID in reader.ended) is done


def test_what_fits_into_one_frame_is_one_frame() -> None:
    [frame] = socket_frames.bundles(RUN_ID, _told(["x" * 100] * 100), done=False)

    assert len(json.loads(frame)["events"]) == 100


def test_only_the_last_frame_says_that_it_is_the_last() -> None:
    frames = [json.loads(frame) for frame in socket_frames.bundles(RUN_ID, _told(["x" * 20_000] * 3), done=True)]

    assert [frame["done"] for frame in frames] == [False, False, True]


def test_an_end_without_news_is_told_too() -> None:
    [frame] = socket_frames.bundles(RUN_ID, [], done=True)

    assert json.loads(frame) == {"type": "events", "run_id": RUN_ID, "done": True, "events": []}
