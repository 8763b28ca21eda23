"""Take 320 MB that no address space shows: files that are nothing but memory."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
got, held = 0, []
try:
    for number in range(20):
        held.append(os.memfd_create(f"memory {number}"))
        got += os.write(held[-1], bytes(16 << 20)) >> 20
except OSError as fault:
    print(fault)
segment = libc.shmget(0, 1 << 20, 0o1600)
if segment != -1:
    libc.shmctl(segment, 0, None)
print("GOT" if got == 320 or segment != -1 else "HELD", got, segment)
