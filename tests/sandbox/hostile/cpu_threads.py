"""Never end, working in the C library where no interpreter looks."""

import hashlib
import threading


def work() -> None:
    while True:
        hashlib.sha256(bytes(1 << 20))


print("begun", flush=True)
for _ in range(4):
    threading.Thread(target=work).start()
