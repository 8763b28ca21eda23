"""Values by number: states are made of small integers, and equal values have equal numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from operator import attrgetter
from queue import Empty, SimpleQueue
from types import FunctionType, MethodType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_PLAIN = (str, int, float, bool, type(None), datetime, timedelta, Enum, bytes)

Seen = dict[int, Hashable]
How = Callable[[Any, Seen], Hashable]


class Outside:
    """Marks an object whose inside is not part of what is frozen."""


class Freezer:
    """Makes hashable likenesses: equal for values that behave alike, and small, so that they are compared fast.

    `readers` say what counts of the values of a class, where it is not all of them.
    """

    def __init__(self, readers: Mapping[type, Callable[[Any], Any]]) -> None:
        self._readers = readers
        self._how: dict[type, How] = {}
        self._kept: dict[int, Hashable] = {}
        self._short: dict[Hashable, Hashable] = {}

    def freeze(self, value: Any) -> Hashable:
        return self._freeze(value, {})

    def keep(self, value: object, likeness: Hashable) -> None:
        """Remember an immutable value that lives as long as the freezer."""
        self._kept[id(value)] = likeness

    def _freeze(self, value: Any, seen: Seen) -> Hashable:
        how = self._how.get(value.__class__)
        if how is None:
            how = self._how[value.__class__] = self._learn(value.__class__)
        return how(value, seen)

    def _learn(self, cls: type) -> How:
        if cls in self._readers:
            return self._whole(cls.__name__, self._readers[cls])
        if is_dataclass(cls):
            return self._whole(cls.__name__, _reader(tuple(field.name for field in fields(cls))))
        for kinds, how in self._ways():
            if issubclass(cls, kinds):
                return how
        return self._whole(cls.__name__, vars)

    def _ways(self) -> tuple[tuple[tuple[type, ...], How], ...]:
        return (
            (_PLAIN, lambda value, seen: value),
            ((Outside,), lambda value, seen: type(value).__name__),
            ((type, FunctionType, MethodType), lambda value, seen: value.__qualname__),
            ((BaseException,), lambda value, seen: (type(value).__name__, self._each(value.args, seen))),
            ((Mapping,), lambda value, seen: tuple((key, self._freeze(each, seen)) for key, each in value.items())),
            ((list,), self._list),
            ((tuple,), self._each),
            ((set, frozenset), lambda value, seen: frozenset(self._each(value, seen))),
            ((threading.Event,), lambda value, seen: value.is_set()),
            ((type(threading.Lock()),), lambda value, seen: value.locked()),
            ((SimpleQueue,), lambda value, seen: self._each(contents(value), seen)),
        )

    def _each(self, values: Any, seen: Seen) -> tuple[Hashable, ...]:
        return tuple([self._freeze(each, seen) for each in values])

    def _list(self, values: list[Any], seen: Seen) -> Hashable:
        found = seen.get(id(values))
        if found is None:
            found = seen[id(values)] = self._each(values, seen)
        return found

    def _whole(self, name: str, read: Callable[[Any], Any]) -> How:
        def how(value: Any, seen: Seen) -> Hashable:
            found = self._kept.get(id(value)) or seen.get(id(value))
            if found is None:
                likeness = (name, self._freeze(read(value), seen))
                found = seen[id(value)] = self._short.setdefault(likeness, (name, len(self._short)))
            return found

        return how


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) < 2:
        return lambda value: tuple(getattr(value, name) for name in names)
    return attrgetter(*names)


def contents(inbox: SimpleQueue[T]) -> list[T]:
    """What is in the inbox, which stays as it is."""
    found: list[T] = []
    while True:
        try:
            found.append(inbox.get_nowait())
        except Empty:
            break
    for each in found:
        inbox.put(each)
    return found


class Book(Generic[T]):
    """Gives each value its number, and the value of a number."""

    def __init__(self, freezer: Freezer) -> None:
        self._freezer = freezer
        self._numbers: dict[Hashable, int] = {}
        self._values: list[T] = []

    def number(self, value: T) -> int:
        key = self._freezer.freeze(value)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._values)
            self._values.append(value)
            self._freezer.keep(value, key)
        return found

    def __getitem__(self, number: int) -> T:
        return self._values[number]

    def __len__(self) -> int:
        return len(self._values)
