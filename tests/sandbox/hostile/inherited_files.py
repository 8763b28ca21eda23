"""Read what the parent had open."""

import os

got = []
for number in range(3, 256):
    try:
        if b"CANARY" in os.pread(number, 100, 0):
            got.append(number)
    except OSError:
        pass
print("GOT" if got else "HELD", got)
