"""Hand out links to the host's secrets as if they were files, and a folder that is a link."""

import json
import os

world = json.load(open("in/world.json"))
secret = f"{world['home']}/.env"
os.makedirs("out", exist_ok=True)
for way, name in ((os.symlink, "out/link.txt"), (os.link, "out/second.txt")):
    try:
        way(secret, name)
    except OSError as fault:
        print(fault)
os.symlink(world["home"], "out/folder")
try:
    os.mkfifo("out/pipe")
except OSError as fault:
    print(fault)
print("MADE", os.listdir("out"))
