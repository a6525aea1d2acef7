"""Ports for servers that tests start."""

import os
import secrets
import socket

LOOPBACK = "127.0.0.1"
#: Below the range from which Linux takes the local ports of outgoing connections. Within it, a client
#: that keeps trying the port of a killed server can end up connected to itself, and then the server
#: cannot have its port back.
_PORTS = range(20_000, 32_768)
#: Each worker of a run has some of its own (`PYTEST_XDIST_WORKER` is gw0, gw1, ...), since nobody listens
#: yet on what another was given.
_SHARES = 8
_given_out: set[int] = set()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, and that nobody else in this run was given."""
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
