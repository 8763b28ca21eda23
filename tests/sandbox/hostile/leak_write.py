"""Leave something for the next run."""

import json
import os

world = json.load(open("in/world.json"))
got = []
for folder in ("/tmp", "/var/tmp", "/dev/shm", ".", "out", os.path.expanduser("~"), "/run", "in"):
    try:
        with open(f"{folder}/leak-{world['leak']}", "w") as file:
            file.write("of the first run")
        got.append(folder)
    except OSError:
        pass
print("WROTE", got)
