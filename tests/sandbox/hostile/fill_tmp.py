"""Write 48 MB into the host's folder for temporary files."""

import json

world = json.load(open("in/world.json"))
got = 0
try:
    with open(f"/tmp/fill-{world['mark']}", "wb") as file:
        for _ in range(48):
            got += file.write(bytes(1 << 20)) >> 20
            file.flush()
except OSError as fault:
    print(fault)
print("GOT" if got == 48 else "HELD", got)
