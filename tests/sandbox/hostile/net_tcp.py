"""Connect to a server on the host's loopback."""

import json
import socket

world = json.load(open("in/world.json"))
try:
    with socket.create_connection(("127.0.0.1", world["tcp"]), timeout=2) as one:
        one.sendall(world["mark"].encode())
    print("GOT a connection")
except OSError as fault:
    print("HELD", fault)
