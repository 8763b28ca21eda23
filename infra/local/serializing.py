"""moto's answers, written faster: an attribute of an item is looked up once, not by every spelling that it might have.

Of the time that tests of the store take, moto spent a quarter on writing its answers, most of it on guessing names that
are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.core.serialize import ResponseSerializer

from infra.local.overrides import override

KINDS = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"})
"""What an attribute's value is called by, on the wire: it has exactly one of them."""


@contextmanager
def in_force() -> Iterator[None]:
    """moto obeys for as long as the block lasts."""
    original = vars(ResponseSerializer)["get_value"]
    with override(ResponseSerializer, "get_value", _faster(original)):
        yield


def _faster(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_value(serializer: ResponseSerializer, value: Any, key: str, shape: Any) -> Any:
        if type(value) is dict and len(value) == 1 and key in KINDS and KINDS.issuperset(value):
            return value.get(key)
        return original(serializer, value, key, shape)

    return get_value
