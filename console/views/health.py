"""Liveness and readiness probes. Public, without further information."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from console.metrics.access import may_read, serves_only_this_machine
from console.metrics.families import ConsoleCollector
from console.ui.core.clusters import clusters

#: Does not reveal whether the address or the token was wrong.
REFUSAL = (
    "Metrics require a bearer token: set METRICS_TOKEN. If BASE_URL is a loopback address, they are "
    "also available from this machine.\n"
)


@require_safe
async def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request, local=serves_only_this_machine()):
        return HttpResponse(REFUSAL, status=403, content_type="text/plain; charset=utf-8")
    text = generate_latest(ConsoleCollector())
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


@require_safe
async def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
async def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 once all required resources of the host cluster have been listed.

    Later outages of kube-apiserver and outages of member clusters don't affect readiness.
    """
    try:
        runtime = clusters.host.runtime
    except RuntimeError:
        return JsonResponse({"status": "starting", "waiting_for": ["runtime"]}, status=503)
    missing = [gvr.qualified for gvr in runtime.required if not _synced(runtime, gvr)]
    if missing:
        return JsonResponse({"status": "starting", "waiting_for": missing}, status=503)
    return JsonResponse({"status": "ok", "waiting_for": []})


def _synced(runtime: Runtime, gvr: GVR) -> bool:
    try:
        return runtime.informer(gvr).freshness.synced
    except UnknownKind:
        return False
