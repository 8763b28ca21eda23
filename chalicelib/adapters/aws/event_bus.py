"""Announcements on an EventBridge bus: the type is the detail-type, the detail is thin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.announcement import Announcement, detail
from chalicelib.core.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE = "pawl"
BATCH = 10
"""Events that EventBridge takes at once."""


class EventBridgeAnnouncer:
    """An `Announcer`."""

    def __init__(self, client: EventBridgeClient, bus: str) -> None:
        self._client = client
        self._bus = bus

    def announce(self, told: Sequence[Announcement]) -> None:
        for first in range(0, len(told), BATCH):
            self._put([self._entry(one) for one in told[first : first + BATCH]])

    def _put(self, entries: Sequence[PutEventsRequestEntryTypeDef]) -> None:
        try:
            answer = self._client.put_events(Entries=entries)
        except (ClientError, BotoCoreError) as fault:
            raise Unavailable(f"events were not announced: {fault}") from fault
        if answer["FailedEntryCount"]:
            failed = next(each for each in answer["Entries"] if "ErrorCode" in each)
            raise Unavailable(f"{answer['FailedEntryCount']} events were not announced: {failed['ErrorCode']}")

    def _entry(self, told: Announcement) -> PutEventsRequestEntryTypeDef:
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": told.type,
            "Time": told.at,
            "Resources": [f"/v1/runs/{told.run_id}"],
            "Detail": json.dumps({"id": told.announcement_id, **detail(told)}),
        }
