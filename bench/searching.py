"""`python -m bench.searching RECORDS`: fill the database of `DATABASE_URL` with audit records, and
print the p95 of searches in milliseconds as JSON.

`search`: by user, by object, and by both, in a random time range; the slowest of the three. `page`:
all records of the last 30 days. `words`: a word in the last 30 days. Each includes the histogram and
the numbers of records per day, like the page.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import Q  # noqa: E402

from bench.result import percentile  # noqa: E402
from console.audit.search import AuditQuery, Search, TimeRange  # noqa: E402

USERS, OBJECTS, NAMESPACES, DAYS = 500, 20_000, 200, 180
#: Searches of each kind.
ROUNDS = 60
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_END = _BEGIN + timedelta(days=DAYS)
_COLUMNS = (
    'time, audit_id, actor, as_user, cluster, workspace, verb, "group", version, resource, '
    "namespace, name, subresource, source, user_agent, path, origin, finished, code, reason, message, "
    "uid, change_digest, stage"
)
#: Time of record `i` of `n`.
_TIMES = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', '2026-01-01', '+' || (i * {seconds}) || ' seconds')",
    "postgresql": "TIMESTAMPTZ '2026-01-01 00:00:00+00' + i * INTERVAL '{seconds} seconds'",
}


def fill(records: int) -> None:
    moment = _TIMES[connection.vendor].format(seconds=DAYS * 86400 / records)
    # Multipliers without a common factor spread the values evenly.
    values = (
        f"{moment}, 'id-' || i, 'user-' || (i * 7919 % {USERS}), 'user-' || (i * 7919 % {USERS}), "
        f"'host', 'workspace-' || (i * 104729 % 50), 'patch', 'apps', 'v1', 'deployments', "
        f"'project-' || (i * 104729 % {NAMESPACES}), 'web-' || (i * 15485863 % {OBJECTS}), 'edit', "
        "'192.0.2.7', 'Mozilla/5.0 (X11; Linux x86_64)', '/clusters/host/projects/x/deployments', "
        f"'page', {moment}, CASE WHEN i % 50 = 0 THEN 403 ELSE 200 END, '', '', "
        "'7b1c7c0e-0000-4000-8000-000000000000', '', 2"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO audit_auditrecord ({_COLUMNS}) "  # noqa: S608  no input
            "WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) "
            f"UNION ALL SELECT i + 1 FROM n WHERE i < {records}) "
            f"SELECT {values} FROM n"
        )
        cursor.execute("ANALYZE")


def searched(text: str, span: TimeRange) -> float:
    """Return the milliseconds of one search."""
    begun = time.perf_counter()
    query = AuditQuery(Q(), Search.parse(text), span)
    query.page()
    query.counted()
    return (time.perf_counter() - begun) * 1000


def p95(make: Callable[[], str], span: Callable[[], TimeRange]) -> float:
    searched(make(), span())
    return percentile([searched(make(), span()) for _round in range(ROUNDS)], 0.95)


def random_span() -> TimeRange:
    since = _BEGIN + timedelta(days=random.randrange(DAYS - 30))  # noqa: S311
    return TimeRange(since, since + timedelta(days=random.choice((3, 30))))  # noqa: S311


def last_month() -> TimeRange:
    return TimeRange(_END - timedelta(days=30), _END)


def by_user() -> str:
    return f"user:user-{random.randrange(USERS)}"  # noqa: S311


def by_object() -> str:
    return f"kind:deployment name:web-{random.randrange(OBJECTS)}"  # noqa: S311


def main(records: int) -> None:
    call_command("migrate", verbosity=0)
    fill(records)
    random.seed(1)
    searches = (by_user, by_object, lambda: f"{by_user()} {by_object()}")
    found = {
        "search": max(p95(one, random_span) for one in searches),
        "page": p95(lambda: "", last_month),
        "words": p95(lambda: f"web-{random.randrange(OBJECTS)}", last_month),  # noqa: S311
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
