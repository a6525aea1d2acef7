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
        if not await runtime.wait_synced(gvr, timeout=_SYNC):
            # Without a list of who answers nobody does, and advice would be to delete what works.
            found.append(f"No list of {gvr.qualified}: which webhooks nobody serves is not known")
            return found
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
    configuration: WebhookConfiguration = entry.projection
    lost = [one for one in configuration.hooks if "/" in one.target and one.target not in served]
    stopping = [one for one in lost if one.fails_closed]
    if not stopping:
        return
    name = f"{gvr.resource} {configuration.name}"
    targets = dict.fromkeys(one.target for one in stopping)
    resources = dict.fromkeys(resource for one in stopping for resource in one.resources)
    says = (
        f"asks {', '.join(targets)}, where nobody answers, so that "
        f"kube-apiserver refuses writes of {', '.join(resources) or 'what it is about'}. "
    )
    if len(lost) == len(configuration.hooks):
        yield (
            f"{gvr.resource}/{configuration.name} {says}"
            f"If nothing needs it any more: kubectl delete {name}"
        )
    else:
        yield (
            f"{', '.join(one.name for one in stopping)} of {gvr.resource}/{configuration.name} {says}"
            "Others in it may be answered. If nothing needs these any more, take them out alone: "
            f"kubectl edit {name}"
        )
