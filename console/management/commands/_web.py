"""What `serve` and `demo` share: refusing to start wrongly, and running the web process."""

import gc
import logging
import sys
from collections.abc import Callable, Mapping, Sequence

from channels.routing import get_default_application
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from accounts.signin.presence import is_signed_in
from console import server
from console.draining.running import get_drains
from console.kube.credentials import NoCluster
from console.kube.current import get_runtime
from console.kube.runtime import Runtime
from console.proxying.application import has_open
from console.terminals.held import get_terminals

log = logging.getLogger(__name__)

#: Seconds that a thread may keep the interpreter while another wants it. The cache's thread takes in
#: changes in bursts, and a page that comes meanwhile should not wait for each of them.
SWITCH_AFTER = 0.0005


def prepare_database() -> None:
    """Creates or migrates the tables."""
    try:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", interactive=False, verbosity=0)
    except (DatabaseError, OSError) as error:
        raise CommandError(f"The database cannot be used: {error}") from error


def check_static_files() -> None:
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():
        raise CommandError("Run `python manage.py collectstatic` first: there are no static files")


def run_web(host: str, port: int, ready: Callable[[Runtime], None]) -> None:
    """Serves until SIGINT or SIGTERM. `ready` is called once, when the port is open."""
    try:
        application = get_default_application()
    except NoCluster as error:
        raise CommandError(str(error)) from error
    runtime = get_runtime()
    # Looking for garbage stops every page: it is never done among what is there from the start.
    gc.freeze()
    sys.setswitchinterval(SWITCH_AFTER)
    try:
        server.run(
            application,
            host,
            port,
            lambda: ready(runtime),
            lambda: _wind_down(runtime),
            _may_send_more,
        )
    finally:
        runtime.stop()


async def _may_send_more(headers: Mapping[bytes, Sequence[bytes]]) -> bool:
    """Whoever is signed in; at the host of a port whoever has opened that."""
    opened = await has_open(headers)
    return await is_signed_in(headers) if opened is None else opened


async def _wind_down(runtime: Runtime) -> None:
    """On the server's loop, to which the connections of people's own requests belong."""
    await get_drains().interrupt()
    await get_terminals().close()
    await runtime.close_connections()
