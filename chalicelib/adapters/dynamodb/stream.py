"""The table's stream, as Lambda hands on its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.adapters.dynamodb import keys
from chalicelib.ports.stream import Written


class DynamoStream:
    """A `Stream`. Its mapping passes on new events of logs and nothing else (infra/stream.py)."""

    def written(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Written]:
        """What the records of one invocation tell of, in their order."""
        return [_written(record["dynamodb"]["Keys"]) for record in records]


def _written(key: Mapping[str, Any]) -> Written:
    return Written(keys.run_id_of(key[keys.PK]["S"]), keys.seq_of(key[keys.SK]["S"]))
