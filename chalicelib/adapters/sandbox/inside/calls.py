"""The numbers of system calls, and which of them sandboxed code may not make. Linux on x86_64 and on aarch64."""

from __future__ import annotations

ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What seccomp calls the machine."""

_NONE = -1

_NUMBERS: dict[str, tuple[int, int]] = {
    # processes
    "fork": (57, _NONE),
    "vfork": (58, _NONE),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "tkill": (200, 130),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # who one is
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "capset": (126, 91),
    "personality": (135, 92),
    "seccomp": (317, 277),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "mknod": (133, _NONE),
    "mknodat": (259, 33),
    # parts of the kernel with a history
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_init": (253, _NONE),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "modify_ldt": (154, _NONE),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    # memory that the limit on address space does not count
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, _NONE),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "iopl": (172, _NONE),
    "ioperm": (173, _NONE),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "uselib": (134, _NONE),
    "ustat": (136, _NONE),
    "sysfs": (139, _NONE),
    "_sysctl": (156, _NONE),
    # judged by what they are given
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    # sockets
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    # files
    "fallocate": (285, 47),
    "chmod": (90, _NONE),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, _NONE),
    "utimes": (235, _NONE),
    "utimensat": (280, 88),
    "futimesat": (261, _NONE),
    "chown": (92, _NONE),
    "fchown": (93, 55),
    "lchown": (94, _NONE),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # young, and harmless
    "close_range": (436, 436),
    "faccessat2": (439, 439),
    "epoll_pwait2": (441, 441),
    "futex_waitv": (449, 449),
}

_NAMES = list(_NUMBERS)


def _between(first: str, last: str) -> tuple[str, ...]:
    return tuple(_NAMES[_NAMES.index(first) : _NAMES.index(last) + 1])


NEVER = _between("fork", "_sysctl")
"""Refused with EPERM."""

ONLY_ONESELF = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
"""Their first argument is the process that is meant."""

CONNECTING = ("connect", "bind", "listen", "accept", "accept4", "sendmsg", "sendmmsg")
"""`sendmsg` too: a file that is on its way through a socket counts for nobody's disk."""

PRETENDED = _between("chmod", "futimesat")
"""Where the host's own files are in sight: they do nothing, and say that they did. Landlock does not judge them."""

OWNERSHIP = _between("chown", "fremovexattr")
"""Where the host's own files are in sight: refused."""

YOUNG = 424
"""From here on both machines number alike. What is not in `HARMLESS` of that is answered with ENOSYS: whatever the next
kernel brings is not there until somebody has looked at it."""

HARMLESS = _between("close_range", "futex_waitv")


def number(name: str, machine: str) -> int | None:
    """The number of the call on that machine; None if it has no such call."""
    found = _NUMBERS[name][list(ARCHES).index(machine)]
    return None if found == _NONE else found
