"""Amounts that an object and its pods use of resource quotas. Pure functions.

https://kubernetes.io/docs/concepts/policy/resource-quotas/ Manifests may have any content: invalid
values count as 0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from console.kube.gvr import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    GVR,
    JOBS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
)
from console.kube.projections.reserved import (
    Amounts as Declared,
)
from console.kube.projections.reserved import ReservedContainer, Resources, reserved_of
from console.kube.quantity import Amounts, parse_quantity
from console.ui.core.manifests import mapping, mappings_at, number

#: Resources that are counted by their plain name, too.
_COUNTED = frozenset(
    {"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas"}
    | {"secrets", "services"}
)
_REPLICATED = frozenset(
    {DEPLOYMENTS.qualified, REPLICA_SETS.qualified, STATEFUL_SETS.qualified}
    | {"replicationcontrollers"}
)
#: Values of requests that quotas also count without the prefix.
_BARE = ("cpu", "memory", "ephemeral-storage")


def needs_of(
    gvr: GVR, manifest: Mapping[str, Any], ranges: Sequence[Mapping[str, Any]] = (), nodes: int = 1
) -> Amounts:
    """Return what an object uses, by the names of quota resources. Pods of a workload count as if
    all of them ran, and a CronJob counts like one of its jobs.

    - `ranges`: LimitRanges of the project. Their defaults apply to containers.
    - `nodes`: number of nodes, which is the number of pods of a DaemonSet.
    """
    found = _count(gvr)
    if gvr.qualified == SERVICES.qualified:
        _add(found, _of_service(manifest))
    elif gvr.qualified == PERSISTENT_VOLUME_CLAIMS.qualified:
        _add(found, _of_claim(manifest))
    pods, spec = _pods_of(gvr, manifest, nodes)
    if pods:
        own = {} if gvr.qualified == PODS.qualified else _count(PODS)
        _add(own, _of_pod(spec, ranges))
        if gvr.qualified == STATEFUL_SETS.qualified:
            for claim in mappings_at(manifest, "spec", "volumeClaimTemplates"):
                _add(own, _count(PERSISTENT_VOLUME_CLAIMS))
                _add(own, _of_claim(claim))
        _add(found, {name: amount * pods for name, amount in own.items()})
    if gvr.qualified == DEPLOYMENTS.qualified:
        _add(found, _count(REPLICA_SETS))
    return {name: amount for name, amount in found.items() if amount}


def pod_template_of(gvr: GVR, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod template of a workload, or an empty mapping."""
    templated = {*_REPLICATED, DAEMON_SETS.qualified, JOBS.qualified}
    if gvr.qualified in templated:
        return mapping(manifest, "spec", "template")
    if gvr.qualified == CRON_JOBS.qualified:
        return mapping(manifest, "spec", "jobTemplate", "spec", "template")
    return {}


def _pods_of(gvr: GVR, manifest: Mapping[str, Any], nodes: int) -> tuple[int, Mapping[str, Any]]:
    """Return the number of pods and the pod spec of an object."""
    spec = mapping(manifest, "spec")
    if gvr.qualified == PODS.qualified:
        return 1, spec
    template = mapping(pod_template_of(gvr, manifest), "spec")
    if not template:
        return 0, {}
    if gvr.qualified == DAEMON_SETS.qualified:
        return nodes, template
    if gvr.qualified in _REPLICATED:
        return _whole(spec.get("replicas")), template
    if spec.get("suspend") is True:
        return 0, {}
    job = mapping(spec, "jobTemplate", "spec") if gvr.qualified == CRON_JOBS.qualified else spec
    pods = _whole(job.get("parallelism"))
    completions = number(job.get("completions"))
    return (pods if completions is None else max(0, min(pods, completions))), template


def _whole(value: Any) -> int:
    """Return a number of pods, 1 by default."""
    found = number(value)
    return 1 if found is None else max(0, found)


def _of_pod(spec: Mapping[str, Any], ranges: Sequence[Mapping[str, Any]]) -> Amounts:
    """Return requests and limits of a pod, as the scheduler adds them up."""
    defaults = [*_container_defaults(ranges)]
    groups = [
        [(one.get("restartPolicy"), _resources(one, defaults)) for one in mappings_at(spec, name)]
        for name in ("containers", "initContainers")
    ]
    names = {name for group in groups for _policy, held in group for kind in held for name in kind}
    found: Amounts = {}
    for name in names:
        containers, inits = (
            [
                ReservedContainer(
                    "Always" if policy == "Always" else "",
                    Resources(Declared(cpu=requests.get(name)), Declared(cpu=limits.get(name))),
                )
                for policy, (requests, limits) in group
            ]
            for group in groups
        )
        # Amounts of CPU are computed in thousandths, of which bytes and pieces are a multiple.
        held = reserved_of(containers, inits, None, None)
        found[f"requests.{name}"] = Decimal(held.cpu) / 1000
        found[f"limits.{name}"] = Decimal(held.cpu_limit) / 1000
        if name in _BARE:
            found[name] = found[f"requests.{name}"]
    return found


_Texts = dict[str, str | int | float]


def _resources(
    container: Mapping[str, Any], defaults: Sequence[tuple[_Texts, _Texts]]
) -> tuple[_Texts, _Texts]:
    """Return requests and limits of a container with the defaults of the project. A request that is
    missing beside a limit equals the limit.
    """
    requests, limits = (
        _texts(mapping(container, "resources", name)) for name in ("requests", "limits")
    )
    requests = {**limits, **requests}
    for default_requests, default_limits in defaults:
        requests = {**default_limits, **default_requests, **requests}
        limits = {**default_limits, **limits}
    return requests, limits


def _container_defaults(ranges: Iterable[Mapping[str, Any]]) -> Iterator[tuple[_Texts, _Texts]]:
    for one in ranges:
        for limit in mappings_at(one, "spec", "limits"):
            if limit.get("type") == "Container":
                yield _texts(mapping(limit, "defaultRequest")), _texts(mapping(limit, "default"))


def _texts(amounts: Mapping[str, Any]) -> _Texts:
    return {
        name: value
        for name, value in amounts.items()
        if isinstance(name, str) and isinstance(value, str | int | float)
    }


def _of_claim(claim: Mapping[str, Any]) -> Amounts:
    spec = mapping(claim, "spec")
    amount = _amount(mapping(spec, "resources", "requests").get("storage"))
    found = {"requests.storage": amount}
    name = spec.get("storageClassName")
    if isinstance(name, str) and name:
        found[f"{name}.storageclass.storage.k8s.io/requests.storage"] = amount
        found[f"{name}.storageclass.storage.k8s.io/persistentvolumeclaims"] = Decimal(1)
    return found


def _of_service(service: Mapping[str, Any]) -> Amounts:
    spec = mapping(service, "spec")
    ports = Decimal(len(mappings_at(spec, "ports")))
    if spec.get("type") == "NodePort":
        return {"services.nodeports": ports}
    if spec.get("type") != "LoadBalancer":
        return {}
    allocated = spec.get("allocateLoadBalancerNodePorts") is not False
    return {"services.loadbalancers": Decimal(1), "services.nodeports": ports * allocated}


def _count(gvr: GVR) -> Amounts:
    found = {f"count/{gvr.qualified}": Decimal(1)}
    return {**found, gvr.resource: Decimal(1)} if gvr.qualified in _COUNTED else found


def _add(found: Amounts, more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        found[name] = found.get(name, Decimal(0)) + amount


def _amount(value: Any) -> Decimal:
    parsed = parse_quantity(str(value)) if isinstance(value, str | int | float) else None
    return max(parsed or Decimal(0), Decimal(0))
