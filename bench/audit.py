"""Searches of the audit trail with a million records, on SQLite and PostgreSQL (`bench/searching.py`).
No cluster is needed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.result import Result
from tests.accounts.oauth.postgres import PostgreSQL, missing

RECORDS = 1_000_000


def measure() -> list[Result]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        results += _measure_on("sqlite", f"sqlite:///{folder}/audit.sqlite3", folder)
        if not missing():
            with PostgreSQL() as server:
                results += _measure_on("postgresql", server.url, folder)
    return results


def _measure_on(name: str, database: str, folder: str) -> list[Result]:
    """Measure in a process of its own, because the database is one of Django's settings."""
    done = subprocess.run(  # noqa: S603  a module of the benchmark
        [sys.executable, "-m", "bench.searching", str(RECORDS)],
        env={**os.environ, "DATABASE_URL": database, "STATE_DIR": folder},
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(done.stdout)
    return [
        Result(f"audit_{what}_p95_ms_{name}", RECORDS, value, "ms") for what, value in found.items()
    ]
