"""`resources.kubesphere.io/v1alpha2`: the older lists, and summaries for the pages of KubeSphere's
console. The summaries also exist in v1alpha3.
"""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from console.gateway.kapis.call import Call, ObjectList
from console.gateway.kapis.filters import job_status, workload_status
from console.gateway.kapis.objects import (
    LOAD_SECONDS,
    check_namespace,
    find_kind,
    list_objects,
    not_found,
    original,
)
from console.gateway.kapis.query import OLD_LIST_PARAMETERS, read_old_list
from console.gateway.kapis.routes import ARRAY, LIST, route
from console.kube.apply import Manifest
from console.kube.gvr import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    GVR,
    INGRESSES,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    RESOURCE_QUOTAS,
    SERVICES,
    STATEFUL_SETS,
    Key,
)
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import SYSTEM_NAMESPACES
from console.kube.quantity import parse_amounts
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Denied, readable, visible
from workspaces.quota_allocation import quantity_text

GROUP, NEWER = "resources.kubesphere.io/v1alpha2", "resources.kubesphere.io/v1alpha3"
_REVISION = "deployment.kubernetes.io/revision"


@route(
    *("GET", GROUP, "/{resources}"),
    summary="List the objects of a type, in all namespaces that you have access to",
    returns=LIST,
    query=OLD_LIST_PARAMETERS,
)
async def list_everywhere(call: Call, resources: str) -> ObjectList:
    found = await list_objects(call, find_kind(call, resources), read_old_list(call))
    return replace(found, total_key="total_count")


@route(
    *("GET", GROUP, "/namespaces/{namespace}/{resources}"),
    summary="List the objects of a type in a namespace",
    returns=LIST,
    query=OLD_LIST_PARAMETERS,
)
async def list_in_namespace(call: Call, namespace: str, resources: str) -> ObjectList:
    kind = find_kind(call, resources)
    check_namespace(kind, namespace)
    found = await list_objects(call, kind, read_old_list(call), (namespace,))
    return replace(found, total_key="total_count")


async def _entries(call: Call, gvr: GVR, namespace: str) -> Iterable[Entry[Any]]:
    """Return the objects of a type that the user may list, in a namespace unless it is ""."""
    runtime, kind = call.cluster.runtime, find_kind(call, gvr.resource)
    await runtime.wait_synced(gvr, timeout=LOAD_SECONDS)
    allowed, store = visible(kind, call.access), runtime.informer(gvr).store
    entries = (
        indexes_of(store).by_namespace.get(namespace)
        if namespace
        else store.snapshot().entries.values()
    )
    return (one for one in entries if allowed.includes(one.key))


# Workloads that don't run

_WORKLOADS = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)


def _is_abnormal(gvr: GVR, item: Manifest) -> bool:
    if gvr in _WORKLOADS:
        return workload_status(item) == "updating"
    if gvr == JOBS:
        return job_status(item) == "failed"
    return mapping(item, "status").get("phase") != "Bound"


async def _abnormal(call: Call, namespace: str = "") -> Manifest:
    found = {
        gvr.resource: sum(
            _is_abnormal(gvr, original(one)) for one in await _entries(call, gvr, namespace)
        )
        for gvr in (*_WORKLOADS, JOBS, PERSISTENT_VOLUME_CLAIMS)
    }
    return {"namespace": namespace, "data": found}


@route("GET", GROUP, "/abnormalworkloads", summary="Count workloads with problems")
async def abnormal(call: Call) -> Manifest:
    return await _abnormal(call)


@route(
    *("GET", GROUP, "/namespaces/{namespace}/abnormalworkloads"),
    summary="Count workloads with problems in a namespace",
)
async def abnormal_in_namespace(call: Call, namespace: str) -> Manifest:
    kind = find_kind(call, DEPLOYMENTS.resource)
    check_namespace(kind, namespace)
    readable(kind, call.access, (namespace,))
    return await _abnormal(call, namespace)


# Quotas

#: Types that KubeSphere counts even without a quota.
_COUNTED = (
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    PERSISTENT_VOLUME_CLAIMS,
    SERVICES,
    INGRESSES,
    PODS,
)


async def _quotas(call: Call, namespace: str = "") -> Manifest:
    """Return limits, usage and the rest. With several quotas, the lowest limit counts."""
    hard: dict[str, Decimal] = {}
    used: dict[str, str] = {}
    for entry in await _entries(call, RESOURCE_QUOTAS, namespace) if namespace else ():
        status = mapping(original(entry), "status")
        for name, amount in parse_amounts(status.get("hard")).items():
            if name not in hard or amount < hard[name]:
                hard[name] = amount
                used[name] = str(mapping(status, "used").get(name, "0"))
    for gvr in _COUNTED:
        suffix = f".{gvr.group}" if gvr.group else ""
        count = sum(1 for _one in await _entries(call, gvr, namespace))
        used.setdefault(f"count/{gvr.resource}{suffix}", str(count))
    spent = parse_amounts(used)
    left = {
        name: quantity_text(name, max(Decimal(0), amount - spent.get(name, Decimal(0))))
        for name, amount in hard.items()
    }
    data = {
        "hard": {name: quantity_text(name, amount) for name, amount in hard.items()},
        "used": used,
    }
    return {"namespace": namespace, "data": {**data, **({"left": left} if left else {})}}


@route("GET", GROUP, "/quotas", summary="Count the objects that you may see")
async def quotas(call: Call) -> Manifest:
    return await _quotas(call)


@route(
    "GET", GROUP, "/namespaces/{namespace}/quotas", summary="Show limits and usage of a namespace"
)
async def quotas_in_namespace(call: Call, namespace: str) -> Manifest:
    kind = find_kind(call, RESOURCE_QUOTAS.resource)
    check_namespace(kind, namespace)
    readable(kind, call.access, (namespace,))
    return await _quotas(call, namespace)


# Revisions


@route(
    *("GET", GROUP, "/namespaces/{namespace}/{resource}/{name}/revisions/{revision}"),
    summary="Get a revision of a workload: its ReplicaSet or ControllerRevision",
)
async def get_revision(
    call: Call, namespace: str, resource: str, name: str, revision: str
) -> Manifest:
    workloads = {gvr.resource: gvr for gvr in _WORKLOADS}
    gvr = workloads.get(resource)
    if gvr is None:
        raise not_found(f"{resource} {name}")
    for one in (gvr, REPLICA_SETS if gvr == DEPLOYMENTS else CONTROLLER_REVISIONS):
        if not call.access.can("get", one, namespace=namespace):
            raise Denied("get", one, namespace)
    owner = call.cluster.runtime.informer(gvr).store.get(Key(namespace, name))
    if owner is None:
        raise not_found(f"{gvr.qualified} {name}")
    if gvr == DEPLOYMENTS:
        await call.cluster.runtime.wait_synced(REPLICA_SETS, timeout=LOAD_SECONDS)
        store = call.cluster.runtime.informer(REPLICA_SETS).store
        owned: Iterable[Manifest] = map(
            original, indexes_of(store).by_owner.get(owner.projection.uid)
        )
        kind = "ReplicaSet"
    else:
        client = call.cluster.runtime.as_user(call.access.identity)
        listed = await client.list_by_fields(CONTROLLER_REVISIONS, "", namespace)
        owned = (one for one in listed if _is_owned(one, owner.projection.uid))
        kind = "ControllerRevision"
    for item in owned:
        number = item.get("revision", mapping(item, "metadata", "annotations").get(_REVISION))
        if str(number) == revision:
            return {"kind": kind, "apiVersion": "apps/v1", **item}
    raise not_found(f"revision {revision}")


def _is_owned(item: Manifest, uid: str) -> bool:
    owners = mapping(item, "metadata").get("ownerReferences")
    found = owners if isinstance(owners, list) else []
    return any(isinstance(one, dict) and one.get("uid") == uid for one in found)


# System components


async def _components(call: Call) -> list[Manifest]:
    """Return the services with a selector in system namespaces, with their pods."""
    pods = list(await _entries(call, PODS, ""))
    found = []
    for entry in await _entries(call, SERVICES, ""):
        if entry.key.namespace not in SYSTEM_NAMESPACES:
            continue
        service = original(entry)
        selector = mapping(service, "spec", "selector")
        if not selector:
            continue
        backends = [
            one.projection
            for one in pods
            if one.key.namespace == entry.key.namespace
            and selector.items() <= one.projection.labels.items()
        ]
        meta = mapping(service, "metadata")
        found.append(
            {
                "name": entry.key.name,
                "namespace": entry.key.namespace,
                "selfLink": "",
                "label": selector,
                "startedAt": meta.get("creationTimestamp"),
                "totalBackends": len(backends),
                "healthyBackends": sum(one.status.severity is Severity.OK for one in backends),
            }
        )
    return sorted(found, key=lambda one: (one["namespace"], one["name"]))


def _declare_components(group: str) -> None:
    @route("GET", group, "/components", summary="List the system components", returns=ARRAY)
    async def components(call: Call) -> list[Manifest]:
        return await _components(call)

    @route("GET", group, "/components/{component}", summary="Get a system component")
    async def component(call: Call, component: str) -> Manifest:
        for one in await _components(call):
            if one["name"] == component:
                return one
        raise not_found(f"components {component}")

    @route("GET", group, "/componenthealth", summary="Show the health of components and nodes")
    async def health(call: Call) -> Manifest:
        nodes = [original(one) for one in await _entries(call, NODES, "")]
        healthy = sum(
            any(
                one.get("type") == "Ready" and one.get("status") == "True"
                for one in mapping(node, "status").get("conditions") or ()
            )
            for node in nodes
        )
        status = {"totalNodes": len(nodes), "healthyNodes": healthy}
        return {"kubesphereStatus": await _components(call), "nodeStatus": status}


for _group in (GROUP, NEWER):
    _declare_components(_group)
