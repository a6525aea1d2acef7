"""Shared by `serve` and `demo`: startup checks and the web process."""

import gc
import logging
import sys
from collections.abc import Callable, Mapping, Sequence

from channels.routing import get_default_application
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from accounts.signin.presence import is_signed_in
from console.draining.runner import get_drains
from console.kube.credentials import NoCluster
from console.kube.host_runtime import get_runtime
from console.kube.runtime import Runtime
from console.proxying.application import has_opened_port
from console.terminals.terminal import get_terminals
from console.web import server

log = logging.getLogger(__name__)

#: Thread switch interval in seconds. The cache's thread processes watch events in bursts, which
#: would delay page requests with Python's default of 5 ms.
SWITCH_AFTER = 0.0005


def prepare_database() -> None:
    """Create or migrate the database tables."""
    try:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", interactive=False, verbosity=0)
    except (DatabaseError, OSError) as error:
        raise CommandError(f"The database is not available: {error}") from error


def check_static_files() -> None:
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():
        raise CommandError("No static files found. Run `python manage.py collectstatic` first")


def run_web(host: str, port: int, ready: Callable[[Runtime], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once, when the port is open."""
    try:
        application = get_default_application()
    except NoCluster as error:
        raise CommandError(str(error)) from error
    runtime = get_runtime()
    # A garbage collection stops all requests, so objects from startup are excluded from it.
    gc.freeze()
    sys.setswitchinterval(SWITCH_AFTER)
    try:
        server.run(
            application,
            host,
            port,
            lambda: ready(runtime),
            lambda: _wind_down(runtime),
            _allows_large_body,
        )
    finally:
        runtime.stop()


async def _allows_large_body(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Return True if the request may have a large body: the user is signed in, or has opened this
    port.
    """
    opened = await has_opened_port(headers)
    return await is_signed_in(headers) if opened is None else opened


async def _wind_down(runtime: Runtime) -> None:
    """Close user connections on the server's event loop, to which they belong."""
    await get_drains().interrupt()
    await get_terminals().close()
    await runtime.close_connections()
