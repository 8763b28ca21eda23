"""Have the kernel do what the filter would refuse: it looks at calls, and a ring makes none."""

import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
answer = libc.syscall(425, 8, 0)
name = errno.errorcode.get(ctypes.get_errno(), "")
print("HELD" if answer < 0 and name in ("EPERM", "ENOSYS") else "GOT", answer, name)
