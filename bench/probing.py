"""Run processes that sync one informer and report the result as one line of JSON."""

import subprocess
from collections.abc import Sequence

import msgspec

#: Timeout that is longer than that of any probe.
_SECONDS = 700.0


class ProbeFailed(Exception):
    """Raised if a probe ends without a result. `str()` contains the end of its stderr."""


class Probe(msgspec.Struct, frozen=True):
    """`seconds`: from the start of the informer until synced, excluding process startup. Memory is
    in bytes.
    """

    objects: int
    seconds: float
    resting: int
    released: int
    peak: int


def run_probe(command: Sequence[str]) -> Probe:
    """Run a probe and return its result. Raise `ProbeFailed`."""
    done = subprocess.run(  # noqa: S603  our own probes
        command, capture_output=True, timeout=_SECONDS, check=False
    )
    try:
        return msgspec.json.decode(done.stdout, type=Probe)
    except msgspec.DecodeError as error:
        tail = done.stderr.decode(errors="replace")[-2000:]
        raise ProbeFailed(f"{command[0]} ended with {done.returncode}: {tail}") from error
