"""An end that comes in time, whatever the other side does: reads have timeouts, which begin anew with every byte."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType


class Deadline:
    """After `seconds` the socket that it holds is shut: whoever reads from it comes back at once."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._held: socket.socket | None = None
        self._timer = threading.Timer(seconds, self.end)
        self._timer.daemon = True
        self.expired = False

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()

    def left(self) -> float:
        """The seconds until then, never quite none: a timeout of 0 would mean not to wait at all."""
        return max(self._until - time.monotonic(), 0.001)

    def hold(self, held: socket.socket) -> None:
        """From now on this is the socket to shut."""
        with self._lock:
            self._held = held
            if self.expired:
                self._shut()

    def end(self) -> None:
        """As if the time were over now. From any thread."""
        with self._lock:
            self.expired = True
            self._shut()

    def _shut(self) -> None:
        if self._held is not None:
            # The plain socket's method: the one of a TLS socket takes away the state that the reading thread is using.
            with suppress(OSError):
                socket.socket.shutdown(self._held, socket.SHUT_RDWR)
