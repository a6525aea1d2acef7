"""Build the benchmark's Go programs in the cache folder."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from bench.cluster import cache_folder
from tests.controlplane.build import BuildError, Report

_FOLDER = Path(__file__).parent
#: The control plane's build flags, so that shared packages are compiled once.
_FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    "-mod=readonly",
    "-p=2",
    "-gcflags=all=-dwarf=false",
    "-ldflags=-s -w",
)
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}


def go_program(name: str, report: Report) -> Path:
    """Return the program whose source is in folder `name`. Raise `BuildError` if it can't be built."""
    source = _FOLDER / name
    program = cache_folder() / "bench" / f"{name}-{_digest(source)}" / name
    if not os.access(program, os.X_OK):
        report(f"building {name}\n")
        _build(source, program)
    return program


def _digest(source: Path) -> str:
    digest = hashlib.sha256("\n".join((*_FLAGS, str(_ENVIRONMENT))).encode())
    for path in sorted(source.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _build(source: Path, program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise BuildError(f"cannot build {program.name}: Go is not installed")
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f".{program.name}.{os.getpid()}")
    try:
        done = subprocess.run(  # noqa: S603  fixed arguments
            [go, "build", *_FLAGS, "-o", str(unfinished), "."],
            cwd=source,
            env={**os.environ, **_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise BuildError(f"cannot build {program.name}: {done.stderr.strip()}")
        unfinished.replace(program)
    finally:
        unfinished.unlink(missing_ok=True)
