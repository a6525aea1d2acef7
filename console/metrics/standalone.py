"""`/metrics`, `/livez` and `/readyz` for processes that serve no pages."""

from collections.abc import Callable, Mapping

from aiohttp import web
from django.http import HttpRequest
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from console.metrics.access import may_read
from console.metrics.families import ConsoleCollector


class MetricsServer:
    """HTTP server, bound to one event loop. `leading`: True if this replica holds the lease."""

    def __init__(self, leading: Callable[[], bool]) -> None:
        self._leading = leading
        self._registry = CollectorRegistry()
        self._registry.register(ConsoleCollector())
        text = "1 if this replica holds the leader lease."
        leads = Gauge("quarterdeck_controllers_leading", text, registry=self._registry)
        leads.set_function(leading)
        application = web.Application()
        application.add_routes(
            [
                web.get("/metrics", self._metrics),
                web.get("/livez", self._health),
                web.get("/readyz", self._health),
            ]
        )
        self._runner = web.AppRunner(application, access_log=None)

    async def start(self, host: str, port: int) -> OSError | None:
        """Start listening. Return the error if the port isn't available, because the process can
        run without it.
        """
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as error:
            return error
        return None

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _metrics(self, request: web.Request) -> web.Response:
        if not may_read(_known(request), local=True):
            return web.Response(
                status=403, text="Metrics require METRICS_TOKEN or a request from this machine.\n"
            )
        text = generate_latest(self._registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "leading": self._leading()})


def _known(request: web.Request) -> HttpRequest:
    """Return a Django request with the fields that the access check needs."""
    found = HttpRequest()
    found.META = {"REMOTE_ADDR": request.remote or "", **_headers(request.headers)}
    return found


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    wanted = ("Authorization", "Host", "X-Forwarded-For")
    return {
        f"HTTP_{name.upper().replace('-', '_')}": given[name] for name in wanted if name in given
    }
