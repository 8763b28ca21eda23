"""When the log of a finished run may go."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.core import retention, snapshot
from chalicelib.core.run import Status
from tests.builders import NOON, a_run
from tests.core.a_log import RUN_ID, a_started_log

A_DAY = timedelta(hours=24)
LAMBDA_LIVES = timedelta(minutes=15)


def test_a_run_is_old_once_it_has_ended_so_long_ago() -> None:
    run = a_run(status=Status.DONE, ended_at=NOON)

    assert not retention.is_old(run, A_DAY, NOON + A_DAY - timedelta(microseconds=1))
    assert retention.is_old(run, A_DAY, NOON + A_DAY)


def test_a_run_that_goes_on_and_one_that_is_archived_are_never_old() -> None:
    archived = a_run(status=Status.DONE, ended_at=NOON, archived_at=NOON + A_DAY)

    assert not retention.is_old(a_run(), A_DAY, NOON + 365 * A_DAY)
    assert not retention.is_old(archived, A_DAY, NOON + 365 * A_DAY)


def test_only_a_whole_log_is_archived() -> None:
    log = a_started_log().step().said("Hi").done().events

    assert retention.may_archive(log)
    assert not retention.may_archive([])
    assert not retention.may_archive(log[:-1])
    assert not retention.may_archive(log[1:])
    assert not retention.may_archive([*log[:2], *log[3:]])


@pytest.mark.parametrize("archived", [0, 3])
def test_nothing_is_deleted_before_an_archive_with_the_end_in_it_stands(archived: int) -> None:
    log = a_started_log().step().said("Hi").done().events
    archive = snapshot.fold(RUN_ID, log[:archived]) if archived else None

    assert not retention.may_delete(a_run(status=Status.DONE, ended_at=NOON), archive)


def test_nothing_is_deleted_of_a_run_that_the_archive_says_ended_otherwise() -> None:
    archive = snapshot.fold(RUN_ID, a_started_log().done().events)

    assert retention.may_delete(a_run(status=Status.DONE), archive)
    assert not retention.may_delete(a_run(status=Status.FAILED), archive)
    assert not retention.may_delete(a_run(status=Status.STREAMING), archive)


def test_a_run_is_erased_once_whoever_had_read_it_is_dead() -> None:
    run = a_run(status=Status.DONE, ended_at=NOON, deleted_at=NOON)

    assert not retention.may_erase(run, NOON + LAMBDA_LIVES)
    assert not retention.may_erase(run, NOON + retention.ERASED_AFTER - timedelta(seconds=1))
    assert retention.may_erase(run, NOON + retention.ERASED_AFTER)
    assert retention.ERASED_AFTER > LAMBDA_LIVES


def test_a_run_that_goes_on_or_was_not_deleted_is_never_erased() -> None:
    for fields in ({"deleted_at": NOON}, {"status": Status.DONE, "ended_at": NOON}):
        assert not retention.may_erase(a_run(**fields), NOON + timedelta(days=365))


def test_a_deleted_run_is_not_archived() -> None:
    run = a_run(status=Status.DONE, ended_at=NOON, deleted_at=NOON)

    assert not retention.is_old(run, A_DAY, NOON + 2 * A_DAY)
