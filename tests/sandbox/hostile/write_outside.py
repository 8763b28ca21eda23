"""Leave files in the user's folders, by name and through a link."""

import json
import os

world = json.load(open("in/world.json"))
got = []
for folder in (world["home"], f"{world['home']}/.aws", "/var/tmp", "/etc", "/usr/local/lib"):
    try:
        with open(f"{folder}/wrote-{world['mark']}", "w") as file:
            file.write("x")
        got.append(folder)
    except OSError:
        pass
try:
    os.symlink(world["home"], "home")
    with open(f"home/linked-{world['mark']}", "w") as file:
        file.write("x")
    got.append("through a link")
except OSError:
    pass
print("GOT" if got else "HELD", got)
