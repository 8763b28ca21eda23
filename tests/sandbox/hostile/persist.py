"""Have every later Python of this user run one's code."""

import json
import sys

world = json.load(open("in/world.json"))
got = []
for folder in (f"{world['home']}/.local/lib/python/site-packages", *filter(None, sys.path)):
    try:
        with open(f"{folder}/wrote-{world['mark']}.py", "w") as file:
            file.write("x = 1\n")
        got.append(folder)
    except OSError:
        pass
print("GOT" if got else "HELD", got)
