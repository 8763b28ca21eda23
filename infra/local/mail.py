"""Asynchronous invocations, in order for each function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from infra.local.functions import Function


class Mail:
    """A queue and a thread for every function that gets any."""

    def __init__(self, invoke: Callable[[Function, Any], Any]) -> None:
        self._invoke = invoke
        self._lock = threading.Lock()
        self._boxes: dict[str, SimpleQueue[Any]] = {}

    def send(self, function: Function, event: Any) -> None:
        """Hand an event over; returns at once."""
        with self._lock:
            if function.name not in self._boxes:
                self._boxes[function.name] = SimpleQueue()
                threading.Thread(target=self._deliver, args=(function,), daemon=True).start()
            self._boxes[function.name].put(event)

    def _deliver(self, function: Function) -> None:
        box = self._boxes[function.name]
        while True:
            self._invoke(function, box.get())
