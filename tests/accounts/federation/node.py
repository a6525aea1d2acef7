"""Installs and starts the OpenID provider of npm's `oidc-provider`, pinned by its lock file.

What is installed is kept in the cache folder, whose name holds the lock's hash.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.controlplane.layout import free_port

FOLDER = Path(__file__).parent / "oidc_provider"
_FILES = ("package.json", "package-lock.json", "server.mjs")


class Missing(Exception):
    """It can be neither found nor installed; the message is one line."""


def installed() -> Path:
    """The folder with the server and its packages. Raises `Missing`."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Missing("node or npm is missing")
    digest = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in _FILES))
    root = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    parent = Path(root).absolute() / "oidc-provider"
    folder = parent / digest.hexdigest()[:12]
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _install(parent, folder)
    return folder


def _install(parent: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as unfinished:
        new = Path(unfinished) / "new"
        new.mkdir()
        for name in _FILES:
            shutil.copy(FOLDER / name, new)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=new, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = done.stderr.strip().rpartition("\n")[2]
            raise Missing(f"npm ci of oidc-provider failed: {last[:200]}")
        new.rename(folder)


@contextmanager
def oidc_provider(**environment: str) -> Iterator[str]:
    """The issuer, as long as the block runs. Raises `Missing`."""
    folder, port = installed(), free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            ["node", "server.mjs"],
            cwd=folder,
            env={**os.environ, **environment, "PORT": str(port)},
            stdout=subprocess.PIPE,
            stderr=log,
        )
        assert process.stdout is not None
        try:
            # The line comes when it listens; nothing comes if it cannot.
            issuer = process.stdout.readline().decode().strip()
            assert issuer, "oidc-provider did not start"
            yield issuer
        finally:
            process.terminate()
            process.wait(timeout=20)
            process.stdout.close()
