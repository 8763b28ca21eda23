"""Read who lives on the host."""

import hashlib
import json

world = json.load(open("in/world.json"))
try:
    found = hashlib.sha256(open("/etc/passwd", "rb").read()).hexdigest()
    print("GOT the host's" if found == world["passwd"] else "HELD, another file")
except OSError as fault:
    print("HELD", fault)
