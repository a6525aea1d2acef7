"""Shared by `serve` and `demo`: startup checks and the web process."""

import fcntl
import gc
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from channels.routing import get_default_application
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from accounts.signin.presence import is_signed_in
from console.audit import background
from console.audit.chain import seal
from console.audit.export import configured_targets, deliver
from console.audit.retention import prune
from console.draining.runner import get_drains
from console.kube.credentials import NoCluster
from console.kube.host_runtime import get_runtime
from console.kube.runtime import Runtime
from console.proxying.application import has_opened_port
from console.terminals.terminal import get_terminals
from console.views.audit.events import has_event_token
from console.web import server
from console.web.tls import TlsPort

log = logging.getLogger(__name__)

#: Thread switch interval in seconds. The cache's thread processes watch events in bursts, which
#: would delay page requests with Python's default of 5 ms.
SWITCH_AFTER = 0.0005
#: Key of PostgreSQL's lock, an arbitrary number.
_MIGRATION_LOCK = 4711_2026
#: Seconds between two deletions of old audit records.
PRUNE_SECONDS = 3600.0


def prepare_database() -> None:
    """Create or migrate the database tables. Processes that start at the same time wait for each
    other.
    """
    try:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        with _migrating():
            call_command("migrate", interactive=False, verbosity=0)
    except (DatabaseError, OSError) as error:
        raise CommandError(f"The database is not available: {error}") from error


@contextmanager
def _migrating() -> Iterator[None]:
    """Hold the lock for migrations: in PostgreSQL, or for SQLite as a file lock."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_MIGRATION_LOCK])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_MIGRATION_LOCK])
        return
    with (settings.STATE_DIR / "migrate.lock").open("w") as lock:
        # The kernel releases the lock when the file is closed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_static_files() -> None:
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():
        raise CommandError("No static files found. Run `quarterdeck collectstatic` first")


def run_web(
    host: str, port: int, ready: Callable[[Runtime], None], tls: TlsPort | None = None
) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once, when the ports are open. `tls` is a
    second port for the gateway.
    """
    try:
        application = get_default_application()
    except NoCluster as error:
        raise CommandError(str(error)) from error
    runtime = get_runtime()
    # A garbage collection stops all requests, so objects from startup are excluded from it.
    gc.freeze()
    sys.setswitchinterval(SWITCH_AFTER)
    try:
        with audit_work():
            server.run(
                application,
                host,
                port,
                lambda: ready(runtime),
                lambda: _wind_down(runtime),
                _allows_large_body,
                tls,
            )
    finally:
        runtime.stop()


@contextmanager
def audit_work() -> Iterator[None]:
    """Seal, prune and export audit records while the block runs. Each export has its own thread, so
    that a slow receiver delays nothing else.
    """
    with ExitStack() as threads:
        pruning = background.at_most_every(PRUNE_SECONDS, prune)
        threads.enter_context(background.running((seal, pruning)))
        for target in configured_targets():
            threads.enter_context(background.running((partial(deliver, target),)))
        yield


async def _allows_large_body(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Return True if the request may have a large body: the user is signed in or has opened this
    port, or the client is kube-apiserver with audit events.
    """
    if has_event_token(headers):
        return True
    opened = await has_opened_port(headers)
    return await is_signed_in(headers) if opened is None else opened


async def _wind_down(runtime: Runtime) -> None:
    """Close user connections on the server's event loop, to which they belong."""
    await get_drains().interrupt()
    await get_terminals().close()
    await runtime.close_connections()
