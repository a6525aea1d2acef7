"""Liveness and readiness probes. Public, without further information."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters


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
