"""Leader election locks as KubeSphere's controllers write them."""

import json
from typing import Any

from console.kube.gvr import CONFIG_MAPS, GVR, LEASES
from tests.rbac.objects import Manifest
from workspaces.controllers.kubesphere_locks import NAME, NAMESPACE


def lock_object(lock: GVR, **fields: Any) -> Manifest:
    """Return the lock object with these fields of a Lease's spec."""
    metadata: Manifest = {"name": NAME, "namespace": NAMESPACE}
    if lock == LEASES:
        kind, content = "Lease", {"spec": fields}
    else:
        kind, content = "ConfigMap" if lock == CONFIG_MAPS else "Endpoints", {}
        annotation = json.dumps({**fields, "leaderTransitions": 0})
        metadata["annotations"] = {"control-plane.alpha.kubernetes.io/leader": annotation}
    return {"apiVersion": lock.group_version, "kind": kind, "metadata": metadata, **content}
