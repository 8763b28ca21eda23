"""Write 48 MB into shared memory, and into whatever else is memory, in files that are small enough each."""

import json

world = json.load(open("in/world.json"))
got = []
for folder in ("/dev/shm", "/dev", "/run", "/"):
    written = 0
    try:
        for number in range(6):
            with open(f"{folder}/fill-{number}-{world['mark']}", "wb") as file:
                written += file.write(bytes(8 << 20)) >> 20
    except OSError as fault:
        print(fault)
    if written == 48:
        got.append(folder)
print("GOT" if got else "HELD", got)
