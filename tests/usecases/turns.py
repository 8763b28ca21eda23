"""Threads that take turns: one runs at a time, and at each of its steps chance decides who goes on. By seed, always the
same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from typing import Any


class Turns:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._moved = threading.Condition()
        self._waiting: list[int] = []
        self._alive = 0
        self._on: int | None = None
        self._faults: list[BaseException] = []
        self._numbers = threading.local()

    def run(self, *actors: Callable[[], None]) -> None:
        """Let all of them work until each is done. What one of them raises is raised here."""
        self._alive = len(actors)
        threads = [threading.Thread(target=self._work, args=each, daemon=True) for each in enumerate(actors)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._faults:
            raise self._faults[0]

    def step(self) -> None:
        """Let somebody else go on, or oneself. Outside of `run` nothing happens."""
        number: int | None = getattr(self._numbers, "own", None)
        if number is not None:
            self._wait(number)

    def stepping(self, target: Any) -> Any:
        """The same object, each call of which is a step."""
        return _Stepping(target, self)

    def _work(self, number: int, actor: Callable[[], None]) -> None:
        self._numbers.own = number
        try:
            self._wait(number)
            actor()
        except BaseException as fault:
            self._faults.append(fault)
        with self._moved:
            self._alive -= 1
            self._on = None
            self._choose()

    def _wait(self, number: int) -> None:
        with self._moved:
            self._waiting.append(number)
            self._on = None
            self._choose()
            self._moved.wait_for(lambda: self._on == number)

    def _choose(self) -> None:
        """Once everybody waits, somebody goes on."""
        if self._waiting and len(self._waiting) == self._alive:
            self._waiting.sort()
            self._on = self._random.choice(self._waiting)
            self._waiting.remove(self._on)
            self._moved.notify_all()


class _Stepping:
    def __init__(self, target: Any, turns: Turns) -> None:
        self._target, self._turns = target, turns

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return found

        def stepped(*args: Any, **kwargs: Any) -> Any:
            self._turns.step()
            return found(*args, **kwargs)

        return stepped
