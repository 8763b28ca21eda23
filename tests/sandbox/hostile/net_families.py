"""Sockets that no network namespace holds, or that reach under the protocols: raw, packet, netlink, vsock."""

import socket

KINDS = {
    "raw": (socket.AF_INET, socket.SOCK_RAW, 1),
    "packet": (17, socket.SOCK_RAW, 0),
    "netlink": (16, socket.SOCK_RAW, 0),
    "vsock": (40, socket.SOCK_STREAM, 0),
    "crypto": (38, socket.SOCK_SEQPACKET, 0),
}
got = []
for name, (family, kind, protocol) in KINDS.items():
    try:
        socket.socket(family, kind, protocol).close()
        got.append(name)
    except OSError:
        pass
print("GOT" if got else "HELD", got)
