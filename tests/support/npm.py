"""Install npm packages for tests, pinned with integrity hashes by a lock file.

Packages are installed into the cache folder, in a folder named after the hash of the package and
lock file.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


class Missing(Exception):
    """The package is not installed and cannot be installed. The message is one line."""


def installed(source: Path, name: str) -> Path:
    """Return a folder with the files of `source` (a package with its lock file) and `node_modules`.

    Raise `Missing` if the installation fails.
    """
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Missing("node or npm is missing")
    files = sorted(path for path in source.iterdir() if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files))
    root = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    parent = Path(root).absolute() / name
    folder = parent / digest.hexdigest()[:12]
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _install(name, files, folder)
    return folder


def _install(name: str, files: list[Path], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        new = Path(unfinished) / "new"
        new.mkdir()
        for path in files:
            shutil.copy(path, new)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=new, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = done.stderr.strip().rpartition("\n")[2]
            raise Missing(f"npm ci of {name} failed: {last[:200]}")
        new.rename(folder)
