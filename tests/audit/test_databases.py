"""Several processes write and seal one audit trail, on SQLite and PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.accounts.oauth.postgres import PostgreSQL, missing
from tests.controlplane.plugin import report_skipped

pytestmark = pytest.mark.programs

PROCESSES, RECORDS = 3, 20
#: Writes and seals records, some with a change, while other processes do the same.
WRITER = f"""
import os, django
django.setup()
from console.audit.chain import seal
from console.audit.trail import AuditAction, AuditEntry, complete, insert
from console.kube.gvr import PODS
for number in range({RECORDS}):
    audit_id = f"{{os.getpid()}}-{{number}}"
    row = insert(AuditAction("alice", "alice", "delete", PODS, name=audit_id), audit_id)
    entry = AuditEntry(audit_id)
    entry.set_change("uid", {{"number": number}}, None)
    complete(row, entry)
    seal()
while seal():
    pass
"""
#: Counts records at both ends of bars and days.
COUNTER = """
import django
django.setup()
from datetime import UTC, datetime, timedelta
from django.db.models import Q
from console.audit.search import AuditQuery, Search, TimeRange
from console.audit.trail import AuditAction, AuditEntry, complete, insert
from console.kube.gvr import PODS
noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
for number, (hours, code) in enumerate([(0, 200), (11.9999999, 403), (12, 0), (12.5, 200)]):
    time = noon + timedelta(hours=hours)
    row = insert(AuditAction("alice", "alice", "get", PODS), str(number), time)
    complete(row, AuditEntry(str(number), code), time)
span = TimeRange(noon, noon + timedelta(hours=24))
found = AuditQuery(Q(), Search.parse("-via:controller"), span).counted()
bars = [(str(one.range.since)[:16], one.total, one.failed) for one in found.bars if one.total]
print(bars, [(str(day)[:10], number) for day, number in found.days.items()])
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Environment of processes with an empty database."""
    base = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "SECRET_KEY": "0123456789abcdef" * 3,
        "STATE_DIR": str(tmp_path),
    }
    if request.param == "sqlite":
        yield {**base, "DATABASE_URL": f"sqlite:///{tmp_path}/audit.sqlite3"}
        return
    if why := missing():
        report_skipped("the audit trail on PostgreSQL", why)
        pytest.skip(why)
    with PostgreSQL() as server:
        yield {**base, "DATABASE_URL": server.url}


def manage(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_several_processes_write_one_chain(database: dict[str, str]) -> None:
    migrated = manage(database, "migrate", "--verbosity=0")
    assert migrated.returncode == 0, migrated.stderr
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER], env=database) for _ in range(PROCESSES)
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0] * PROCESSES
    verified = manage(database, "audit", "verify")
    assert f"{PROCESSES * RECORDS} links" in verified.stdout, verified.stderr
    deletion = (
        "import django; django.setup(); from django.db import connection; "
        "connection.cursor().execute('UPDATE audit_auditrecord SET actor = %s WHERE id = 7', ['x'])"
    )
    subprocess.run([sys.executable, "-c", deletion], env=database, check=True)
    verified = manage(database, "audit", "verify")
    assert verified.returncode == 1
    assert "was changed" in verified.stderr


def test_processes_that_start_together_migrate_once(database: dict[str, str]) -> None:
    code = (
        "import django; django.setup(); "
        "from console.management.commands._web import prepare_database; prepare_database()"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], env=database) for _ in range(3)]
    assert [one.wait(timeout=60) for one in started] == [0, 0, 0]


def test_records_are_counted_by_bar_and_day(database: dict[str, str]) -> None:
    assert manage(database, "migrate", "--verbosity=0").returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", COUNTER], env=database, capture_output=True, text=True, check=False
    )
    bars = [
        *(("2026-11-21 12:00", 1, 0), ("2026-11-21 23:30", 1, 1)),
        *(("2026-11-22 00:00", 1, 0), ("2026-11-22 00:30", 1, 0)),
    ]
    days = [("2026-11-21", 2), ("2026-11-22", 2)]
    assert done.stdout == f"{bars} {days}\n", done.stderr
