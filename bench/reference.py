"""Builds the client-go informer once, into the folder where the control plane's programs are too."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from bench.cluster import cache_folder
from tests.controlplane.build import BuildError, Report

SOURCE = Path(__file__).with_name("clientgo")
#: As the control plane is built, so that what both need is compiled once.
_FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    "-mod=readonly",
    "-p=2",
    "-gcflags=all=-dwarf=false",
    "-ldflags=-s -w",
)
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}


def client_go(report: Report) -> Path:
    """The program. Raises `BuildError` if it can be neither found nor built."""
    program = cache_folder() / "bench" / f"clientgo-{_digest()}" / "clientgo"
    if not os.access(program, os.X_OK):
        report("building the client-go informer\n")
        _build(program)
    return program


def _digest() -> str:
    digest = hashlib.sha256("\n".join((*_FLAGS, str(_ENVIRONMENT))).encode())
    for path in sorted(SOURCE.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _build(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise BuildError("cannot build the client-go informer: there is no Go on this machine")
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f".{program.name}.{os.getpid()}")
    try:
        done = subprocess.run(  # noqa: S603  fixed arguments
            [go, "build", *_FLAGS, "-o", str(unfinished), "."],
            cwd=SOURCE,
            env={**os.environ, **_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise BuildError(f"cannot build the client-go informer: {done.stderr.strip()}")
        unfinished.replace(program)
    finally:
        unfinished.unlink(missing_ok=True)
