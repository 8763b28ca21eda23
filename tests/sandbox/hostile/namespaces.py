"""Become root in a world of one's own, which opens much of the kernel; mount something."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
got = []
if libc.unshare(0x10000000) == 0:
    got.append("user namespace")
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    got.append("mount")
if libc.chroot(b"/usr") == 0:
    got.append("chroot")
try:
    if libc.setns(os.open("/proc/1/ns/user", os.O_RDONLY), 0) == 0:
        got.append("another namespace")
except OSError as fault:
    print(fault)
print("GOT" if got else "HELD", got)
