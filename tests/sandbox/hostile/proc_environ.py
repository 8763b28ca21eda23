"""Look for secrets in the environment of every process in sight, the sandbox's own first one included."""

import os

got = []
try:
    pids = [name for name in os.listdir("/proc") if name.isdecimal()]
except OSError:
    pids = ["1", str(os.getppid())]
for pid in pids:
    for part in ("environ", "cmdline"):
        try:
            if b"CANARY" in open(f"/proc/{pid}/{part}", "rb").read():
                got.append(f"{pid}/{part}")
        except OSError:
            pass
print("GOT" if got else "HELD", got, len(pids))
