"""Have 480 MB reserved, which takes no time."""

import os

got = 0
try:
    for number in range(48):
        with open(f"fill-{number}", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 10 << 20)
            got += 10
except OSError as fault:
    print(fault)
print("GOT" if got == 480 else "HELD", got)
