"""Ask for parts of the kernel with a history of holes. Any answer but "no such call" and "not you" is too much."""

import ctypes
import errno
import platform

MACHINE = {"x86_64": 0, "aarch64": 1}[platform.machine()]
CALLS = {
    "keyctl": ((250, 219), (0, -2, 0, 0, 0)),
    "add_key": ((248, 217), (b"user", b"x", b"y", 1, -2)),
    "userfaultfd": ((323, 282), (0,)),
    "open_by_handle_at": ((304, 265), (-1, 0, 0)),
    "move_pages": ((279, 239), (0, 0, 0, 0, 0, 0)),
    "inotify": ((294, 26), (0,)),
    "memfd_secret": ((447, 447), (0,)),
    "fsopen": ((430, 430), (0, 0)),
    "perf_event_open": ((298, 241), (0, 0, -1, -1, 0)),
    "a call of tomorrow": ((462, 462), (0, 0, 1)),
}
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
got = []
for name, (numbers, arguments) in CALLS.items():
    ctypes.set_errno(0)
    answer = libc.syscall(numbers[MACHINE], *arguments)
    if answer >= 0 or ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        got.append(name)
print("GOT" if got else "HELD", got)
