"""Ports for servers that tests start."""

import os
import secrets
import socket

LOOPBACK = "127.0.0.1"
#: Below the range of ephemeral ports on Linux. Within it, a client that keeps retrying the port of
#: a killed server can connect to itself, and the server cannot bind the port again.
_PORTS = range(20_000, 32_768)
#: Each worker of a run uses its own share (`PYTEST_XDIST_WORKER` is gw0, gw1, ...), because a port
#: given to another worker may not be bound yet.
_SHARES = 8
_given_out: set[int] = set()


def free_port() -> int:
    """Return an unused port of 127.0.0.1 that this run has not handed out before."""
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _SHARES
    for _ in range(100):
        port = secrets.choice(_PORTS[share::_SHARES])
        if port in _given_out:
            continue
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
        _given_out.add(port)
        return port
    raise RuntimeError("there is no free port")
