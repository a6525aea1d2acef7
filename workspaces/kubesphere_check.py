"""Findings about KubeSphere in this cluster for administrators: running controllers, and webhooks
without a server that block writes.
"""

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
from workspaces.controllers.kubesphere_locks import NAME, NAMESPACE, KubeSphereDetector

_WEBHOOKS = (VALIDATING_WEBHOOK_CONFIGURATIONS, MUTATING_WEBHOOK_CONFIGURATIONS)
#: Timeout in seconds for loading the lists.
_SYNC = 60.0


async def kubesphere_findings(runtime: Runtime) -> list[str]:
    """Return one sentence per finding, with a recommended action. Raise `ApiError`."""
    found = []
    lock = await KubeSphereDetector(runtime.console, runtime.clock).find_renewed_lock()
    if lock is not None:
        found.append(
            f"KubeSphere's controllers are running in this cluster (they renew the lock {lock.resource}/"
            f"{NAME} in {NAMESPACE}) and manage "
            "the workspaces and their roles. To let the console manage them, scale the deployment "
            "ks-controller-manager to 0"
        )
    for gvr in (*_WEBHOOKS, ENDPOINT_SLICES):
        if not await runtime.wait_synced(gvr, timeout=_SYNC):
            # Without the list of endpoints, every webhook would appear to have no server, and the
            # advice would be to delete working webhooks.
            found.append(
                f"Cannot list {gvr.qualified}, so webhooks without a server were not checked"
            )
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
        f"calls {', '.join(targets)}, which has no ready endpoints, so "
        f"kube-apiserver rejects writes of {', '.join(resources) or 'the matching resources'}. "
    )
    if len(lost) == len(configuration.hooks):
        yield (
            f"{gvr.resource}/{configuration.name} {says}"
            f"If it is no longer needed: kubectl delete {name}"
        )
    else:
        yield (
            f"{', '.join(one.name for one in stopping)} of {gvr.resource}/{configuration.name} {says}"
            "Other webhooks in this configuration may work. If these are no longer needed, remove them: "
            f"kubectl edit {name}"
        )
