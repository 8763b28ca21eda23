"""Write 48 MB into shared memory."""

import json

world = json.load(open("in/world.json"))
got = 0
for folder in ("/dev/shm", "/dev", "/run", "/"):
    try:
        with open(f"{folder}/fill-{world['mark']}", "wb") as file:
            for _ in range(48):
                got += file.write(bytes(1 << 20)) >> 20
                file.flush()
    except OSError as fault:
        print(fault)
print("GOT" if got >= 48 else "HELD", got)
