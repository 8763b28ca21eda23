"""Connect to a server's socket that has a name and no file."""

import json
import socket

world = json.load(open("in/world.json"))
try:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + world["abstract"])
        one.sendall(world["mark"].encode())
    print("GOT a connection")
except OSError as fault:
    print("HELD", fault)
