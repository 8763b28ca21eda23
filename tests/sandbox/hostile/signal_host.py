"""Reach a process of the host by its number: a signal, or its priority."""

import ctypes
import fcntl
import json
import os
import signal
from collections.abc import Callable

world = json.load(open("in/world.json"))
read, _ = os.pipe()
WAYS: dict[str, Callable[[], object]] = {
    "kill": lambda: os.kill(world["victim"], 0),
    "owner": lambda: fcntl.fcntl(read, fcntl.F_SETOWN, world["victim"]),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, world["victim"], 10),
    "handle": lambda: signal.pidfd_send_signal(os.pidfd_open(world["victim"]), 0),
}
got = []
for name, way in WAYS.items():
    try:
        way()
        got.append(name)
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.prlimit(world["victim"], 7, None, None) == 0:
    got.append("limits")
print("GOT" if got else "HELD", got)
