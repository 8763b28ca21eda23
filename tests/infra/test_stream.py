"""Which writes wake the functions that read the table's stream."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from moto.events.models import EventPattern

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.events import SPARABLE, Event, EventType
from chalicelib.core.run import Run
from infra import stream
from infra.build import Built
from tests.builders import NOON, RUN_ID, a_run, an_event

WATCHED = a_run(watched_until=NOON + timedelta(seconds=15))
STATE = sorted(set(EventType) - SPARABLE - {EventType.SNAPSHOT})


def _written(run: Run, event: Event) -> dict[str, Any]:
    item = items.event_item(run, event, items.data_text(event.data))
    return _record("INSERT", item)


def _record(name: str, item: items.Item) -> dict[str, Any]:
    return {
        "eventName": name,
        "dynamodb": {"Keys": {each: item[each] for each in (keys.PK, keys.SK)}, "NewImage": item},
    }


def _wakes(record: dict[str, Any], patterns: Sequence[str] = (stream.STATE_EVENTS, stream.WATCHED_DELTAS)) -> bool:
    return any(EventPattern.load(pattern).matches_event(record) for pattern in patterns)  # type: ignore[arg-type]


@pytest.mark.parametrize("type", STATE)
def test_a_state_event_wakes_whether_anybody_watches_or_not(type: EventType) -> None:
    assert _wakes(_written(a_run(), an_event(1, type)))


@pytest.mark.parametrize("type", sorted(SPARABLE))
def test_what_a_client_may_be_spared_wakes_only_when_somebody_watches(type: EventType) -> None:
    assert _wakes(_written(WATCHED, an_event(1, type)))
    assert not _wakes(_written(a_run(), an_event(1, type)))
    assert not _wakes(_written(a_run(watched_until=NOON), an_event(1, type)))


def test_nothing_but_a_new_event_wakes() -> None:
    event = items.event_item(WATCHED, an_event(1, EventType.RUN_DONE), "{}")
    for name, item in (("MODIFY", event), ("REMOVE", event), ("INSERT", items.run_item(WATCHED))):
        assert not _wakes(_record(name, item))
    archive = {**event, **items.key(keys.archive(RUN_ID))}
    assert not _wakes(_record("INSERT", archive))


def test_the_mapping_of_deliver_is_in_the_package_with_its_filter_and_bounds(built: Built) -> None:
    [mapping] = [
        each["Properties"]
        for each in built.transformed["Resources"].values()
        if each["Type"] == "AWS::Lambda::EventSourceMapping"
        and each["Properties"]["FunctionName"] == {"Ref": "Deliver"}
    ]
    patterns = [each["Pattern"] for each in mapping["FilterCriteria"]["Filters"]]
    assert patterns == [stream.STATE_EVENTS, stream.WATCHED_DELTAS]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["RunsTable", "StreamArn"]}
    assert mapping["ParallelizationFactor"] == 1
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRetryAttempts"] == stream.RETRIES
    assert mapping["MaximumRecordAgeInSeconds"] == stream.OLDEST


def test_at_most_two_functions_read_the_stream(built: Built) -> None:
    mappings = [
        each
        for each in built.transformed["Resources"].values()
        if each["Type"] == "AWS::Lambda::EventSourceMapping"
        and "StreamArn" in str(each["Properties"]["EventSourceArn"])
    ]
    assert 1 <= len(mappings) <= 2
