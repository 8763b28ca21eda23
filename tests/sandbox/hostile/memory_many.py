"""Take 400 MB in four processes, none of which takes much."""

import os
import time

made = 0
try:
    for _ in range(4):
        if os.fork() == 0:
            held = bytearray(100 << 20)
            time.sleep(1)
            os._exit(0)
        made += 1
except OSError as fault:
    print(fault)
ends = [os.wait()[1] for _ in range(made)]
print("GOT" if made == 4 and not any(ends) else "HELD", made)
