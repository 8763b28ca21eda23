"""Find what the run before has left."""

import json
import os

world = json.load(open("in/world.json"))
got = []
for folder in ("/tmp", "/var/tmp", "/dev/shm", ".", "out", os.path.expanduser("~"), "/run", "in"):
    if os.path.exists(f"{folder}/leak-{world['leak']}"):
        got.append(folder)
print("GOT" if got else "HELD", got)
