"""The agents of accounts in DynamoDB: each version is an item, and the newest one a second, by which it is listed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Cancelled, Put, Refused, Table, Update
from chalicelib.core import recipe
from chalicelib.core.agent import Agent
from chalicelib.core.errors import VersionTaken
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Item


class DynamoAgentStore:
    """An `AgentStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))
        self._chance = chance

    def keep(self, account_id: str, agent: Agent) -> None:
        write_id = self._chance.write_id()
        body = _body(agent) | {"write_id": items.text(write_id)}
        version = items.key(keys.agent_version(account_id, agent.name, agent.version)) | body
        newest = items.key(keys.agent(account_id, agent.name)) | body
        try:
            self._table.transact(
                Put(version, conditions.NOTHING_STANDS_THERE),
                Put(newest, conditions.its_newest_version_is(agent.version - 1)),
            )
        except Cancelled as cancelled:
            # Of the two the version tells whose it is, for ever: the newest one may have been followed by another.
            found = cancelled.refused[0].found if cancelled.refused[0] else None
            if found is None or found["write_id"]["S"] != write_id:
                raise VersionTaken(f"{agent.name} has a version {agent.version} already") from cancelled

    def newest(self, account_id: str, name: str) -> tuple[Agent, bool] | None:
        found = self._table.get(keys.agent(account_id, name))
        return (_agent(found), _is_listed(found)) if found else None

    def version(self, account_id: str, name: str, version: int) -> Agent | None:
        found = self._table.get(keys.agent_version(account_id, name, version))
        return _agent(found) if found else None

    def listed(self, account_id: str) -> Sequence[Agent]:
        found = self._table.query_all(_of_account(account_id), strong=True)
        return tuple(_agent(item) for item in found if _is_listed(item))

    def list_again(self, account_id: str, agent: Agent) -> None:
        listed = Update(
            keys.agent(account_id, agent.name),
            {"unlisted_at": None},
            conditions.its_newest_version_is(agent.version),
        )
        try:
            self._table.update(listed)
        except Refused as refused:
            raise VersionTaken(f"{agent.name} has another version by now") from refused

    def unlist(self, account_id: str, name: str, at: datetime) -> bool:
        if self._table.get(keys.agent(account_id, name)) is None:
            return False
        with contextlib.suppress(Refused):
            unlisted = {"unlisted_at": items.moment(at)}
            self._table.update(Update(keys.agent(account_id, name), unlisted, conditions.IT_IS_LISTED))
        return True


def _body(agent: Agent) -> dict[str, items.Attribute]:
    return {
        "name": items.text(agent.name),
        "version": items.number(agent.version),
        "recipe": items.text(json.dumps(recipe.data(agent), ensure_ascii=False, separators=(",", ":"))),
    }


def _agent(item: Item) -> Agent:
    return recipe.read(item["name"]["S"], int(item["version"]["N"]), json.loads(item["recipe"]["S"]))


def _is_listed(item: Item) -> bool:
    return "unlisted_at" not in item


def _of_account(account_id: str) -> Expression:
    return Expression(
        f"#{keys.PK} = :account AND begins_with(#{keys.SK}, :agents)",
        {":account": items.text(keys.agents(account_id)), ":agents": items.text(keys.AGENTS_SK)},
    )
