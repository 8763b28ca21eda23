"""Read credentials in the user's home, by path and by walking there."""

import json
import os

world = json.load(open("in/world.json"))
got = []
os.chdir("/")
for path in (f"{world['home']}/.aws/credentials", f"{world['home']}/.env", f"/proc/self/root{world['home']}/.env"):
    try:
        if "CANARY" in open(path).read():
            got.append(path)
    except OSError:
        pass
try:
    got += os.listdir(world["home"])
except OSError:
    pass
print("GOT" if got else "HELD", got)
