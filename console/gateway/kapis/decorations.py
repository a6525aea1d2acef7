"""Additions to stored objects in responses: types and KubeSphere's annotations."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from accounts.users.kubesphere import without_secrets
from console.gateway.kapis.call import Call
from console.kube.apply import Manifest
from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, NODES, PERSISTENT_VOLUME_CLAIMS, PODS, STORAGE_CLASSES, USERS, Key
from console.kube.indexes import indexes_of
from console.kube.quantity import parse_amounts
from console.kube.reservations import reservations_of
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, mask_values
from console.ui.core.permissions import visible

IN_USE, ALLOW_SNAPSHOT = "kubesphere.io/in-use", "kubesphere.io/allow-snapshot"
#: The same of a storage class, set by KubeSphere's controller.
_CLASS_ALLOWS = "storageclass.kubesphere.io/allow-snapshot"
_CLAIM = "PersistentVolumeClaim/"

Annotations = Mapping[str, str]


def decorated(call: Call, kind: ResourceKind, item: Manifest) -> Manifest:
    """Return an object for a response. Secret values of cached kinds are removed, because the shared
    cache is not read with the user's permissions.
    """
    found = {"kind": kind.api_kind, "apiVersion": kind.gvr.group_version, **item}
    if kind.gvr == USERS:
        return without_secrets(found)
    if not kind.private:
        found = mask_values(found, kind.masked)
    add = _ADDED.get(kind.gvr)
    return annotated(found, add(call, found)) if add is not None else found


def annotated(item: Manifest, added: Annotations) -> Manifest:
    """Return a copy with additional annotations."""
    meta = item.get("metadata") or {}
    annotations = {**(meta.get("annotations") or {}), **added}
    return {**item, "metadata": {**meta, "annotations": annotations}}


def _of_node(call: Call, node: Manifest) -> Annotations:
    """Return the sums of the node's pods that the user may see, and their fraction of the node."""
    pods = call.cluster.runtime.informers().get(PODS)
    kind = call.cluster.kinds.of(PODS)
    if pods is None or kind is None:
        return {}
    allowed = visible(kind, call.access)
    name = str(mapping(node, "metadata").get("name", ""))
    sums = reservations_of(pods.store).of_node(name, allowed.namespaces, allowed.names).reserved
    total = parse_amounts(mapping(node, "status", "allocatable"))
    cpu, memory = int(total.get("cpu", 0) * 1000), int(total.get("memory", 0))
    amounts = (
        ("cpu-requests", f"{sums.cpu}m", sums.cpu, cpu),
        ("cpu-limits", f"{sums.cpu_limit}m", sums.cpu_limit, cpu),
        ("memory-requests", str(sums.memory), sums.memory, memory),
        ("memory-limits", str(sums.memory_limit), sums.memory_limit, memory),
    )
    found: dict[str, str] = {}
    for key, text, amount, most in amounts:
        found[f"node.kubesphere.io/{key}"] = text
        if most:
            found[f"node.kubesphere.io/{key}-fraction"] = f"{100 * amount / most:.2f}%"
    return found


def _of_claim(call: Call, claim: Manifest) -> Annotations:
    """Return whether a pod that the user may see uses the claim, and whether its storage class allows
    snapshots.
    """
    found: dict[str, str] = {}
    meta = mapping(claim, "metadata")
    namespace, name = str(meta.get("namespace", "")), str(meta.get("name", ""))
    pods = call.cluster.runtime.informers().get(PODS)
    if pods is not None and call.access.can("list", PODS, namespace=namespace):
        users = indexes_of(pods.store).by(_claims_of).get(f"{namespace}/{name}")
        found[IN_USE] = str(bool(users)).lower()
    chosen = str(mapping(claim, "spec").get("storageClassName", ""))
    if chosen and call.access.can("get", STORAGE_CLASSES, name=chosen):
        try:
            entry = call.cluster.runtime.informer(STORAGE_CLASSES).store.get(Key("", chosen))
        except UnknownKind:
            return found
        notes = mapping(entry.original(), "metadata", "annotations") if entry is not None else {}
        found[ALLOW_SNAPSHOT] = str(notes.get(_CLASS_ALLOWS, "false"))
    return found


def _claims_of(entry: Entry[Any]) -> Iterable[str]:
    namespace = entry.key.namespace
    return tuple(
        f"{namespace}/{used.removeprefix(_CLAIM)}"
        for used in entry.projection.uses
        if used.startswith(_CLAIM)
    )


_ADDED: Mapping[GVR, Callable[[Call, Manifest], Annotations]] = {
    NODES: _of_node,
    PERSISTENT_VOLUME_CLAIMS: _of_claim,
}
