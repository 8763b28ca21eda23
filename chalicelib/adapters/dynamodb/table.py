"""The table, called: the only module that knows botocore's requests and faults. Every call goes through the retry.

A condition that did not hold is `Refused`, with what stands there; in a transaction it is `Cancelled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import items
from chalicelib.adapters.dynamodb.conditions import Expression, setting

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from chalicelib.adapters.dynamodb.items import Attribute, Item


class Refused(Exception):  # noqa: N818 - named by what happened
    """The condition of a write did not hold. `found` is the item that stands there, None if there is none."""

    def __init__(self, found: Item | None) -> None:
        super().__init__("a condition did not hold")
        self.found = found


class Cancelled(Exception):  # noqa: N818 - named by what happened
    """Conditions of a transaction did not hold: how each of its writes was refused, None where that was not said."""

    def __init__(self, refused: Sequence[Refused | None]) -> None:
        super().__init__("a condition of a transaction did not hold")
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Put:
    """Without a condition, whatever stands there is replaced."""

    item: Item
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """None removes an attribute."""

    key: Mapping[str, str]
    attributes: Mapping[str, Attribute | None]
    condition: Expression

    @property
    def change(self) -> Expression:
        return setting(self.attributes)


@dataclass(frozen=True, slots=True)
class Alter:
    """An update that says itself what it does to what is there."""

    key: Mapping[str, str]
    change: Expression
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Writes nothing; what is there must be so."""

    key: Mapping[str, str]
    condition: Expression


@dataclass(frozen=True, slots=True)
class Found:
    """What one Query gave; `last` is the key to go on after, None at the end."""

    items: Sequence[Item]
    last: Item | None


class Table:
    def __init__(self, client: DynamoDBClient, name: str, retry: Retry) -> None:
        self._client = client
        self._name = name
        self._retry = retry

    def query(
        self,
        condition: Expression,
        *,
        limit: int | None = None,
        index: str | None = None,
        only: Expression | None = None,
        after: Item | None = None,
        strong: bool = False,
        backwards: bool = False,
    ) -> Found:
        """One Query. `limit` counts what is looked at, before `only` sorts out."""
        request: dict[str, Any] = {
            "TableName": self._name,
            "KeyConditionExpression": condition.text,
            **_placeholders(condition, *([only] if only else [])),
            "ConsistentRead": strong,
            "ScanIndexForward": not backwards,
        }
        wanted = {
            "Limit": limit,
            "IndexName": index,
            "FilterExpression": only and only.text,
            "ExclusiveStartKey": after,
        }
        request |= {name: value for name, value in wanted.items() if value is not None}
        answer = self._retry(lambda: self._client.query(**request))
        return Found(answer["Items"], answer.get("LastEvaluatedKey"))

    def query_all(self, condition: Expression, *, index: str | None = None, strong: bool = False) -> list[Item]:
        """As many Queries as it takes."""
        found = self.query(condition, index=index, strong=strong)
        everything = [*found.items]
        while found.last:
            found = self.query(condition, index=index, strong=strong, after=found.last)
            everything += found.items
        return everything

    def get(self, key: Mapping[str, str]) -> Item | None:
        """The item, read strongly."""
        request: dict[str, Any] = {"TableName": self._name, "Key": items.key(key), "ConsistentRead": True}
        return self._retry(lambda: self._client.get_item(**request)).get("Item")

    def put(self, put: Put) -> None:
        """Raises `Refused`."""
        request = self._put(put)
        try:
            self._retry(lambda: self._client.put_item(**request))
        except ClientError as fault:
            raise _refusal(fault) from fault

    def update(self, update: Update | Alter) -> Item:
        """The item as it then stands. Raises `Refused`."""
        request = self._update(update) | {"ReturnValues": "ALL_NEW"}
        try:
            return self._retry(lambda: self._client.update_item(**request))["Attributes"]
        except ClientError as fault:
            raise _refusal(fault) from fault

    def delete(self, key: Mapping[str, str], condition: Expression | None = None) -> None:
        """Delete the item, if it is there. Raises `Refused`."""
        request: dict[str, Any] = {"TableName": self._name, "Key": items.key(key), **_conditional(condition)}
        try:
            self._retry(lambda: self._client.delete_item(**request))
        except ClientError as fault:
            raise _refusal(fault) from fault

    def transact(self, *writes: Put | Update | Alter | Check) -> None:
        """All of the writes or none. Raises `Cancelled`."""
        requests: list[TransactWriteItemTypeDef] = [self._transacted(write) for write in writes]
        try:
            self._retry(lambda: self._client.transact_write_items(TransactItems=requests))
        except ClientError as fault:
            raise _cancellation(fault) from fault

    def _transacted(self, write: Put | Update | Alter | Check) -> TransactWriteItemTypeDef:
        if isinstance(write, Put):
            return {"Put": self._put(write)}
        if isinstance(write, Check):
            return {"ConditionCheck": self._check(write)}
        return {"Update": self._update(write)}

    def _check(self, check: Check) -> Any:
        return {"TableName": self._name, "Key": items.key(check.key), **_conditional(check.condition)}

    def _put(self, put: Put) -> Any:
        return {"TableName": self._name, "Item": put.item, **_conditional(put.condition)}

    def _update(self, update: Update | Alter) -> Any:
        return {
            "TableName": self._name,
            "Key": items.key(update.key),
            "UpdateExpression": update.change.text,
            **_conditional(update.condition, update.change),
        }


def _conditional(condition: Expression | None, *others: Expression) -> dict[str, Any]:
    if condition is None:
        return _placeholders(*others) if others else {}
    return {
        "ConditionExpression": condition.text,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **_placeholders(condition, *others),
    }


def _placeholders(*expressions: Expression) -> dict[str, Any]:
    names = {name: of for expression in expressions for name, of in expression.names.items()}
    values = {name: of for expression in expressions for name, of in expression.values.items()}
    return {"ExpressionAttributeNames": names} | ({"ExpressionAttributeValues": values} if values else {})


def _refusal(fault: ClientError) -> Exception:
    """What a failed condition means; any other fault is itself."""
    if fault.response["Error"]["Code"] != "ConditionalCheckFailedException":
        return fault
    response: Mapping[str, Any] = fault.response
    return Refused(response.get("Item"))


def _cancellation(fault: ClientError) -> Exception:
    """The same for a transaction. One that ends here for another reason than a condition is our own mistake."""
    response: Mapping[str, Any] = fault.response
    reasons = response.get("CancellationReasons", ())
    refused = [Refused(reason.get("Item")) if _failed(reason) else None for reason in reasons]
    return Cancelled(refused) if any(refused) else fault


def _failed(reason: Mapping[str, Any]) -> bool:
    return reason.get("Code") == "ConditionalCheckFailed"
