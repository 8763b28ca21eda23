"""Type into the terminal of whoever started this. Its answer of "no terminal" is the kernel's, and so too far."""

import errno
import fcntl

got = []
for number in range(3):
    try:
        fcntl.ioctl(number, 0x5412, b"x")
        got.append("typed")
    except OSError as fault:
        if fault.errno != errno.EPERM:
            got.append(errno.errorcode[fault.errno or 0])
print("GOT" if got else "HELD", got)
