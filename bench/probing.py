"""Processes that sync one informer and tell in one line of JSON what it took."""

import subprocess
from collections.abc import Sequence

import msgspec

#: More than any probe gives itself.
_SECONDS = 700.0


class ProbeFailed(Exception):
    """A probe ended without a result; `str()` holds the end of what it said."""


class Probe(msgspec.Struct, frozen=True):
    """Seconds from its start until synced, excluding the start of the process; bytes of memory."""

    objects: int
    seconds: float
    resting: int
    released: int
    peak: int


def run_probe(command: Sequence[str]) -> Probe:
    """Runs a probe to its end. Raises `ProbeFailed`."""
    done = subprocess.run(  # noqa: S603  our own probes
        command, capture_output=True, timeout=_SECONDS, check=False
    )
    try:
        return msgspec.json.decode(done.stdout, type=Probe)
    except msgspec.DecodeError as error:
        tail = done.stderr.decode(errors="replace")[-2000:]
        raise ProbeFailed(f"{command[0]} ended with {done.returncode}: {tail}") from error
