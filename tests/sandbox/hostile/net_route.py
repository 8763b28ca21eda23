"""Is there a way to anywhere? Connecting a datagram socket asks the routing table and sends nothing."""

import socket

got = []
for address in ("127.0.0.1", "192.0.2.1", "169.254.169.254"):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((address, 80))
            got.append(address)
    except OSError:
        pass
print("GOT" if got else "HELD", got)
