"""Installs and starts the npm package `oidc-provider`, pinned by its lock file."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import npm
from tests.support.ports import free_port

FOLDER = Path(__file__).parent / "oidc_provider"


def installed() -> Path:
    """Return the folder with the server and its packages. Raise `Missing` if they can't be
    installed.
    """
    return npm.installed(FOLDER, "oidc-provider")


@contextmanager
def oidc_provider(**environment: str) -> Iterator[str]:
    """Run the provider and yield its issuer. Raise `Missing` if it can't be installed."""
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
            # The line is printed when the server listens, and missing if it fails.
            issuer = process.stdout.readline().decode().strip()
            assert issuer, "oidc-provider did not start"
            yield issuer
        finally:
            process.terminate()
            process.wait(timeout=20)
            process.stdout.close()
