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
from tests.crash.killer import Killer, Moment
from tests.crash.stage import PLAYS, Play, Stage
from tests.fresh_table import fresh_table
from tests.usecases.workshop import RUN_ID

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

TRY_ALL = os.environ.get("CRASH_POINTS") == "all"
SEED = int(os.environ.get("CRASH_SEED", time.time_ns() % 100_000))


@contextmanager
def performed(play: Play, killer: Killer, dynamodb: DynamoDBClient, s3: S3Client) -> Iterator[Stage]:
    with fresh_table(dynamodb) as table:
        stage = Stage(play, dynamodb, table, s3, killer)
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
    assert stage.findings == []
    assert stage.calm_slots.slots("acme").named == []
    assert [event.write_id for event in stage.client.seen] == [event.write_id for event in log]
    assert stage.play.large or stage.client.seen == log, "but for what is too large to be sent"
    assert stage.client.text == text(log)
    check_nothing_was_repeated(stage)


def check_nothing_was_repeated(stage: Stage) -> None:
    assert stage.witness.repeated == []
    turned_away = Counter({(RUN_ID, 2): 3}) if stage.play.name == "a wait" else Counter[tuple[str, int]]()
    once = stage.witness.asked - turned_away
    assert sum(calls - 1 for calls in once.values() if calls > 1) <= 1
    assert all(times <= 2 for times in stage.witness.made.values()), "only what was in flight is made again"
    finished = Counter(event.data["call_id"] for event in stage.log if event.type is EventType.TOOL_FINISHED)
    assert all(times == 1 for times in finished.values())
    assert all(times == 1 for times in stage.witness.times(RUN_ID, "send").values())
    if stage.run_status is Status.DONE:
        begun = {event.data["call_id"] for event in stage.log if event.type is EventType.TOOL_STARTED}
        made = {call_id for of, call_id, _ in stage.witness.made if of == RUN_ID}
        assert set(finished) == begun == made, "with a person who tells the truth, all that was to be made was made"


SAMPLE = 4
"""Points a play when not all of them are tried."""


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: str(play.name))
def test_a_worker_killed_at_any_call_loses_nothing_and_repeats_nothing(
    play: Play, dynamodb: DynamoDBClient, s3: S3Client
) -> None:
    calls = undisturbed(play, dynamodb, s3)
    points = [*product(range(1, len(calls) + 1), Moment)]
    chosen = points if TRY_ALL else Random(SEED).sample(points, SAMPLE)
    for at, moment in chosen:
        with performed(play, Killer(at, moment), dynamodb, s3) as stage:
            try:
                assert stage.killer.struck
                check(stage)
            except AssertionError as broken:
                broken.add_note(f"{play.name}: call {at} ({stage.killer.calls[at - 1]}), {moment}; seed {SEED}")
                broken.add_note("\n".join(f"{e.seq} {e.type} a{e.attempt} {dict(e.data)}" for e in stage.log))
                raise
    print(f"{play.name}: {len(chosen)} of {len(points)} crash points, 0 faults (seed {SEED})")


def undisturbed(play: Play, dynamodb: DynamoDBClient, s3: S3Client) -> list[str]:
    """The calls of the play without a crash; it keeps the promises too."""
    with performed(play, Killer(), dynamodb, s3) as stage:
        check(stage)
        return stage.killer.calls
