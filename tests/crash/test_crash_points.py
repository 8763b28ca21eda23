"""A worker that dies at any of its calls to AWS loses nothing and repeats nothing.

For each play the calls of an undisturbed run are counted. Then the run is played once for each call and each moment in
it, and every time the promises must hold: the run ends as it should, its log is whole, a client that followed
throughout saw every event once, and no model call or tool call that had completed was made again.

`make crash` tries every point; `make test` a sample of them, by a seed that a failure prints (CRASH_SEED repeats it).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from chalicelib.core.events import EventType
from chalicelib.core.run import Status
from chalicelib.core.transcript import text
from chalicelib.core.transitions import status_told
from chalicelib.ports.payload_store import PayloadStore
from tests.crash.killer import Killer, Moment
from tests.crash.stage import PLAYS, Play, Stage
from tests.fresh_table import fresh_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRY_ALL = os.environ.get("CRASH_POINTS") == "all"
SEED = int(os.environ.get("CRASH_SEED", time.time_ns() % 100_000))


@contextmanager
def performed(play: Play, killer: Killer, dynamodb: DynamoDBClient, payloads: PayloadStore) -> Iterator[Stage]:
    with fresh_table(dynamodb) as table:
        stage = Stage(play, dynamodb, table, payloads, killer)
        stage.perform()
        yield stage


def check(stage: Stage) -> None:
    """Every promise of a run that has ended."""
    log = stage.log
    assert [event.seq for event in log] == [*range(len(log))]
    assert [event.ends for event in log] == [False] * (len(log) - 1) + [True]
    assert status_told(log) is stage.run_status
    assert stage.run_status in stage.play.ends
    attempts = [event.attempt for event in log if event.attempt]
    assert attempts == sorted(attempts)
    assert stage.findings == ()
    assert stage.calm_slots.slots("acme").named == []
    assert stage.client.seen == log
    assert stage.client.text == text(log)
    check_nothing_was_repeated(stage)


def check_nothing_was_repeated(stage: Stage) -> None:
    assert stage.model.repeated == []
    once = Counter(stage.model.calls) - Counter({2: 3}) if stage.play.name == "a wait" else Counter(stage.model.calls)
    assert sum(calls - 1 for calls in once.values() if calls > 1) <= 1
    finished = Counter(event.data["call_id"] for event in stage.log if event.type is EventType.TOOL_FINISHED)
    assert all(times == 1 for times in finished.values())
    assert len(stage.send.made) <= 1
    if stage.run_status is Status.DONE:
        assert set(finished) == {event.data["call_id"] for event in stage.log if event.type is EventType.TOOL_STARTED}
        assert len(stage.send.made) == 1, "with a person who tells the truth, what can't be taken back happens once"


SAMPLE = 4
"""Points a play when not all of them are tried."""


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: str(play.name))
def test_a_worker_killed_at_any_call_loses_nothing_and_repeats_nothing(
    play: Play, dynamodb: DynamoDBClient, payloads: PayloadStore
) -> None:
    calls = undisturbed(play, dynamodb, payloads)
    points = [*product(range(1, len(calls) + 1), Moment)]
    chosen = points if TRY_ALL else Random(SEED).sample(points, SAMPLE)
    for at, moment in chosen:
        with performed(play, Killer(at, moment), dynamodb, payloads) as stage:
            try:
                assert stage.killer.struck
                check(stage)
            except AssertionError as broken:
                broken.add_note(f"{play.name}: call {at} ({stage.killer.calls[at - 1]}), {moment}; seed {SEED}")
                broken.add_note("\n".join(f"{e.seq} {e.type} a{e.attempt} {dict(e.data)}" for e in stage.log))
                raise
    print(f"{play.name}: {len(chosen)} of {len(points)} crash points, 0 faults (seed {SEED})")


def undisturbed(play: Play, dynamodb: DynamoDBClient, payloads: PayloadStore) -> list[str]:
    """The calls of the play without a crash; it keeps the promises too."""
    with performed(play, Killer(), dynamodb, payloads) as stage:
        check(stage)
        return stage.killer.calls
