"""Look into other processes, and be looked into."""

import ctypes
import json
import os
import platform

world = json.load(open("in/world.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
got = []
if libc.ptrace(0, 0, 0, 0) == 0:
    got.append("traced")
read = {"x86_64": 310, "aarch64": 270}[platform.machine()]
for pid in (world["victim"], os.getppid(), 1):
    ctypes.set_errno(0)
    if libc.syscall(read, pid, None, 0, None, 0, 0) >= 0:
        got.append(f"memory of {pid}")
    try:
        open(f"/proc/{pid}/mem", "rb").close()
        got.append(f"memory file of {pid}")
    except OSError:
        pass
print("GOT" if got else "HELD", got)
