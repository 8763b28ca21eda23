"""A process group that is watched: what it says is collected and capped, and it is killed when it has to end."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from chalicelib.core.code import Limit
from chalicelib.core.tools import Stop

GLANCE = 0.02
"""How long an order to stop, or a full disk, may go unseen, in seconds."""

AFTER_KILL = 5.0
"""How long the kernel may take to end what was killed, in seconds."""

_PIECE = 1 << 16

Watch = Callable[[bytes], Limit | None]
"""Is shown the report so far; answers the limit that is hit, if one is."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a group has said, and how it ended: by itself (`limit` None), or why not. `cut`: it said more."""

    out: bytes
    err: bytes
    report: bytes
    cut: bool
    limit: Limit | None


class Group:
    """A process, with all that it starts. `command` is told the number of its one more file descriptor, for a report.

    Has to be watched by the thread that makes it: the kernel ends the group with that thread. `user` is the uid and gid
    that it runs as, None for one's own. Raises OSError if it can't be started.
    """

    def __init__(self, command: Callable[[int], list[str]], env: Mapping[str, str], user: int | None) -> None:
        report, told = os.pipe()
        as_user = {} if user is None else {"user": user, "group": user, "extra_groups": ()}
        try:
            self._process = subprocess.Popen(
                command(told),
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(told,),
                start_new_session=True,
                cwd="/",
                umask=0o077,
                **as_user,  # type: ignore[call-overload]
            )
        except OSError:
            os.close(report)
            raise
        finally:
            os.close(told)
        self._report = os.fdopen(report, "rb", buffering=0)

    def watch(self, *, output: int, report: int, seconds: float, stop: Stop, watch: Watch) -> Ended:
        """Until all of it has ended; after `seconds`, or when a limit is hit, it is killed.

        `output` and `report` are the bytes that are kept.
        """
        said = _Said(self._process.stdout, self._process.stderr, self._report, output=output, report=report)
        limit, until = None, time.monotonic() + seconds
        try:
            while said.more(GLANCE):
                limit = _due(until, stop) or watch(bytes(said.report))
                if limit is not None:
                    break
        finally:
            self._kill()
            said.rest(AFTER_KILL)
            self._process.wait()
        return Ended(bytes(said.out), bytes(said.err), bytes(said.report), said.cut, limit)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _due(until: float, stop: Stop) -> Limit | None:
    if stop.is_set():
        return Limit.STOPPED
    return Limit.WALL if time.monotonic() >= until else None


class _Said:
    """The three pipes of a group, read as they fill. Beyond the caps they are drained, so that nobody has to wait."""

    def __init__(
        self, out: IO[bytes] | None, err: IO[bytes] | None, told: IO[bytes], *, output: int, report: int
    ) -> None:
        self.out, self.err, self.report = bytearray(), bytearray(), bytearray()
        self.cut = False
        self._output, self._most_report = output, report
        self._selector = selectors.DefaultSelector()
        for pipe, sink in ((out, self.out), (err, self.err), (told, self.report)):
            assert pipe is not None
            self._selector.register(pipe, selectors.EVENT_READ, sink)

    def more(self, seconds: float) -> bool:
        """Read what is there, waiting so long for it; whether anything can still come."""
        for key, _ in self._selector.select(seconds):
            piece = os.read(key.fd, _PIECE)
            self._take(key.data, piece)
            if not piece:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
        return bool(self._selector.get_map())

    def rest(self, seconds: float) -> None:
        """Read on to the end, which is when the last process has closed its pipes; OSError if they stay open."""
        until = time.monotonic() + seconds
        while self.more(GLANCE):
            if time.monotonic() > until:
                raise OSError("a process group outlived its SIGKILL")
        self._selector.close()

    def _take(self, sink: bytearray, piece: bytes) -> None:
        kept = self._most_report if sink is self.report else self._output - len(self.out) - len(self.err) + len(sink)
        room = max(kept - len(sink), 0)
        sink += piece[:room]
        self.cut = self.cut or (len(piece) > room and sink is not self.report)
