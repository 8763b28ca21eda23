"""The table's stream: which writes wake a function, and how long a batch of them is tried.

A record is a reason to look at a log, never the data: its reader goes by what it finds there. So a record that was
given up costs nothing but time, and there is no destination for failures: nobody could do more with one than look.
At most two functions may read a stream.
"""

from __future__ import annotations

import json
from typing import Any

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.events import SPARABLE

SPECIFICATION = {"StreamViewType": "NEW_IMAGE"}
"""For the filters: they see the new item, and nobody else looks at it."""

BATCH = 100
RETRIES = 4
OLDEST = 60
"""Seconds that a record may be old; whoever waits for news has asked by itself by then."""


def event_written(image: dict[str, Any]) -> str:
    """The filter pattern of an event that came into a log, whose item matches `image`."""
    of_a_log = {keys.SK: {"S": [{"prefix": keys.EVENTS_SK}]}}
    return json.dumps({"eventName": ["INSERT"], "dynamodb": {"Keys": of_a_log, "NewImage": image}})


STATE_EVENTS = event_written({"type": {"S": [{"anything-but": sorted(SPARABLE)}]}})
WATCHED_DELTAS = event_written({items.WATCHED: {"BOOL": [True]}})


def consumer(*patterns: str, retries: int = RETRIES, oldest: int = OLDEST) -> dict[str, Any]:
    """The event of a function that is woken by the records which match any of the patterns; for SAM.

    One batch of a shard at a time: each run's records come in order. A batch that fails is halved and tried again.
    """
    return {
        "Type": "DynamoDB",
        "Properties": {
            "Stream": {"Fn::GetAtt": ["RunsTable", "StreamArn"]},
            "StartingPosition": "LATEST",
            "BatchSize": BATCH,
            "ParallelizationFactor": 1,
            "BisectBatchOnFunctionError": True,
            "MaximumRetryAttempts": retries,
            "MaximumRecordAgeInSeconds": oldest,
            "FilterCriteria": {"Filters": [{"Pattern": pattern} for pattern in patterns]},
        },
    }
