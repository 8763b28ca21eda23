"""Write 480 MB into files that are removed while they are open, so that no folder shows them."""

import os

got, held = 0, []
try:
    for number in range(48):
        held.append(open(f"fill-{number}", "wb"))
        os.unlink(f"fill-{number}")
        got += held[-1].write(bytes(10 << 20)) >> 20
except OSError as fault:
    print(fault)
print("GOT" if got == 480 else "HELD", got)
