"""What an administrator should know of KubeSphere in this cluster: whether it works, and what it has left
that stops writes."""

from collections.abc import Iterator
from typing import Any

from console.kube.gvr import (
    ENDPOINT_SLICES,
    GVR,
    MUTATING_WEBHOOK_CONFIGURATIONS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
)
from console.kube.projections.webhooks import WebhookConfiguration
from console.kube.runtime import Runtime
from console.kube.store import Entry
from workspaces.controllers.kubesphere import NAME, NAMESPACE, KubeSphere

_WEBHOOKS = (VALIDATING_WEBHOOK_CONFIGURATIONS, MUTATING_WEBHOOK_CONFIGURATIONS)
#: Seconds for the lists.
_SYNC = 60.0


async def leftovers(runtime: Runtime) -> list[str]:
    """One sentence for each, with what to do. Raises `ApiError`."""
    found = []
    if await KubeSphere(runtime.console, runtime.clock).renews():
        found.append(
            f"KubeSphere's controllers work here (lease {NAMESPACE}/{NAME}): workspaces and their roles "
            "are left to them. To take over, scale the deployment ks-controller-manager to 0"
        )
    for gvr in (*_WEBHOOKS, ENDPOINT_SLICES):
        await runtime.wait_synced(gvr, timeout=_SYNC)
    served = {
        f"{key.namespace}/{entry.projection.service}"
        for key, entry in runtime.informer(ENDPOINT_SLICES).store.snapshot().entries.items()
        if entry.projection.ready
    }
    for gvr in _WEBHOOKS:
        for entry in runtime.informer(gvr).store.snapshot().entries.values():
            found += _unserved(gvr, entry, served)
    return found


def _unserved(gvr: GVR, entry: Entry[Any], served: set[str]) -> Iterator[str]:
    hook: WebhookConfiguration = entry.projection
    missing = [one for one in hook.targets if "/" in one and one not in served]
    if missing and hook.failing_closed:
        yield (
            f"{gvr.resource}/{hook.name} asks {', '.join(missing)}, where nobody answers, so that "
            f"kube-apiserver refuses writes of {', '.join(hook.resources) or 'what it is about'}. "
            f"If nothing needs it any more: kubectl delete {gvr.resource} {hook.name}"
        )
