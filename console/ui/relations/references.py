"""What an object names of other objects, told from what the cache keeps of it.

Promises:
- `named_by` and `others` need a projection and nothing else, so that the other direction (`referrers`)
  can be kept for any number of objects without reading one of them whole.
- `references` says more (how, where, whether it may be missing) and may read the one whole object. Both
  name the same targets.

Names are what tenants wrote: nothing says that such an object exists, or may be seen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.projections import podspec
from console.kube.projections.claims import PersistentVolumeClaim
from console.kube.projections.gateway import Gateway
from console.kube.projections.network import Ingress
from console.kube.projections.roles import Binding
from console.kube.projections.snapshots import VolumeSnapshot, VolumeSnapshotContent
from console.kube.projections.storage import PersistentVolume
from console.kube.store import Entry

#: What `Kind/name` names. Kinds of other groups that share a name are not told apart.
KINDS: Mapping[str, GVR] = {
    "ClusterRole": types.CLUSTER_ROLES,
    "ConfigMap": types.CONFIG_MAPS,
    "CronJob": types.CRON_JOBS,
    "DaemonSet": types.DAEMON_SETS,
    "Deployment": types.DEPLOYMENTS,
    "Gateway": types.GATEWAYS,
    "Job": types.JOBS,
    "Node": types.NODES,
    "PersistentVolumeClaim": types.PERSISTENT_VOLUME_CLAIMS,
    "Pod": types.PODS,
    "PriorityClass": types.PRIORITY_CLASSES,
    "ReplicaSet": types.REPLICA_SETS,
    "Role": types.ROLES,
    "Secret": types.SECRETS,
    "Service": types.SERVICES,
    "ServiceAccount": types.SERVICE_ACCOUNTS,
    "StatefulSet": types.STATEFUL_SETS,
}
CLUSTER_SCOPED = frozenset({types.CLUSTER_ROLES, types.NODES, types.PRIORITY_CLASSES})
#: Types whose `uses` may be of another namespace, as `Kind/namespace/name`.
CROSSING = frozenset({types.GATEWAYS, types.HTTP_ROUTES, types.GRPC_ROUTES})
#: Everything that makes pods from a template, and where in it the pod's spec stands.
TEMPLATES: Mapping[GVR, tuple[str, ...]] = {
    types.DEPLOYMENTS: ("spec", "template"),
    types.REPLICA_SETS: ("spec", "template"),
    types.STATEFUL_SETS: ("spec", "template"),
    types.DAEMON_SETS: ("spec", "template"),
    types.JOBS: ("spec", "template"),
    types.CRON_JOBS: ("spec", "jobTemplate", "spec", "template"),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """`how` is a word of `console.ui.relations.words.HOW`; `where`: the volume, container or the like.

    `optional`: the object that names it does without, if there is none.
    """

    gvr: GVR
    key: Key
    how: str
    where: str = ""
    optional: bool = False


Target = tuple[GVR, Key]
_Found = Iterable[Reference]


def references(gvr: GVR, entry: Entry[Any]) -> tuple[Reference, ...]:
    """What the object names, in a fixed order; each mention by itself."""
    if gvr == types.PODS or gvr in TEMPLATES:
        return (*_spec(gvr, entry), *_projected(gvr, entry.projection, uses=False))
    return tuple(_projected(gvr, entry.projection, uses=True))


def uses_of(item: Any) -> tuple[str, ...]:
    """What a projection keeps as texts; of most types nothing."""
    found: tuple[str, ...] = getattr(item, "uses", ())
    return found


def others(gvr: GVR, item: Any) -> tuple[Target, ...]:
    """What it names beside its `uses`; but for a pod's node, by which there is an index of all kinds
    (`console.kube.indexes`)."""
    find = _OF.get(gvr) if gvr != types.PODS else None
    return tuple((ref.gvr, ref.key) for ref in find(item)) if find is not None else ()


def named_by(gvr: GVR, uses: Iterable[str], namespace: str) -> Iterator[Target]:
    """The targets of the `uses` of an object of type `gvr`."""
    for text in uses:
        kind, _slash, name = text.partition("/")
        target = KINDS.get(kind)
        if target is not None:
            # Elsewhere a slash is but a part of a name that no object can have.
            place, _slash, own = name.rpartition("/") if gvr in CROSSING else ("", "", name)
            yield target, _key(target, place or namespace, own)


def _key(gvr: GVR, namespace: str, name: str) -> Key:
    return Key("" if gvr in CLUSTER_SCOPED else namespace, name)


def _projected(gvr: GVR, item: Any, *, uses: bool) -> Iterator[Reference]:
    for target, key in named_by(gvr, uses_of(item) if uses else (), item.namespace):
        yield Reference(target, key, _PLAIN.get(target, ""))
    find = _OF.get(gvr)
    if find is not None:
        yield from find(item)


def _spec(gvr: GVR, entry: Entry[Any]) -> Iterator[Reference]:
    """A pod's spec, or that of a template, mention by mention."""
    found: Any = entry.original()
    for part in (*TEMPLATES.get(gvr, ()), "spec"):
        found = found.get(part) if isinstance(found, dict) else None
    try:
        spec = msgspec.convert(found or {}, podspec.WholeSpec)
    except msgspec.ValidationError:
        return
    pod = entry.key.name if gvr == types.PODS else ""
    for named in podspec.named(spec, spec.all, pod):
        target = KINDS[named.kind]
        key = _key(target, entry.key.namespace, named.name)
        yield Reference(target, key, named.how, named.where, named.optional)


def _pod(item: Any) -> _Found:
    if item.node:
        yield Reference(types.NODES, Key("", item.node), "node")


def _stateful_set(item: Any) -> _Found:
    if item.service:
        yield Reference(types.SERVICES, Key(item.namespace, item.service), "dns")


def _service_account(item: Any) -> _Found:
    for name in item.secrets:
        yield Reference(types.SECRETS, Key(item.namespace, name), "secret")
    for name in item.pull_secrets:
        yield Reference(types.SECRETS, Key(item.namespace, name), "pull")


def _ingress(item: Ingress) -> _Found:
    for name in item.backends:
        yield Reference(types.SERVICES, Key(item.namespace, name), "backend")
    for name in item.tls_secrets:
        yield Reference(types.SECRETS, Key(item.namespace, name), "certificate")
    if item.class_name:
        yield Reference(types.INGRESS_CLASSES, Key("", item.class_name), "class")


def _gateway(item: Gateway) -> _Found:
    if item.class_name:
        yield Reference(types.GATEWAY_CLASSES, Key("", item.class_name), "class")


def _claim(item: PersistentVolumeClaim) -> _Found:
    if item.volume:
        yield Reference(types.PERSISTENT_VOLUMES, Key("", item.volume), "bound")
    if item.storage_class:
        yield Reference(types.STORAGE_CLASSES, Key("", item.storage_class), "class")


def _volume(item: PersistentVolume) -> _Found:
    namespace, _slash, name = item.claim.partition("/")
    if name:
        yield Reference(types.PERSISTENT_VOLUME_CLAIMS, Key(namespace, name), "bound")
    if item.storage_class:
        yield Reference(types.STORAGE_CLASSES, Key("", item.storage_class), "class")


def _autoscaler(item: Any) -> _Found:
    autoscalers = types.HORIZONTAL_POD_AUTOSCALERS
    for gvr, key in named_by(autoscalers, (item.target,), item.namespace):
        yield Reference(gvr, key, "scales")


def _binding(item: Binding) -> _Found:
    if item.role_kind == "ClusterRole" and item.role:
        yield Reference(types.CLUSTER_ROLES, Key("", item.role), "role")
    elif item.role_kind == "Role" and item.role and item.namespace:
        yield Reference(types.ROLES, Key(item.namespace, item.role), "role")
    for account in item.service_accounts:
        namespace, _slash, name = account.partition("/")
        yield Reference(types.SERVICE_ACCOUNTS, Key(namespace or item.namespace, name), "subject")
    for name in item.users:
        # Nobody need have made a User for a name that certificates or tokens bring.
        yield Reference(types.USERS, Key("", name), "subject", optional=True)


def _endpoint_slice(item: Any) -> _Found:
    if item.service:
        yield Reference(types.SERVICES, Key(item.namespace, item.service), "endpoints")


def _snapshot(item: VolumeSnapshot) -> _Found:
    if item.source and item.source != item.content:
        claim = Key(item.namespace, item.source)
        yield Reference(types.PERSISTENT_VOLUME_CLAIMS, claim, "source")
    if item.content:
        yield Reference(types.VOLUME_SNAPSHOT_CONTENTS, Key("", item.content), "bound")
    if item.snapshot_class:
        yield Reference(types.VOLUME_SNAPSHOT_CLASSES, Key("", item.snapshot_class), "class")


def _content(item: VolumeSnapshotContent) -> _Found:
    namespace, _slash, name = item.snapshot.partition("/")
    if name:
        yield Reference(types.VOLUME_SNAPSHOTS, Key(namespace, name), "bound")
    if item.snapshot_class:
        yield Reference(types.VOLUME_SNAPSHOT_CLASSES, Key("", item.snapshot_class), "class")


#: How a projection's `uses` are meant where only the type tells.
_PLAIN: Mapping[GVR, str] = {
    types.GATEWAYS: "gateway",
    types.SECRETS: "certificate",
    types.SERVICES: "backend",
}
_OF: Mapping[GVR, Callable[[Any], _Found]] = {
    types.PODS: _pod,
    types.STATEFUL_SETS: _stateful_set,
    types.SERVICE_ACCOUNTS: _service_account,
    types.INGRESSES: _ingress,
    types.GATEWAYS: _gateway,
    types.PERSISTENT_VOLUME_CLAIMS: _claim,
    types.PERSISTENT_VOLUMES: _volume,
    types.HORIZONTAL_POD_AUTOSCALERS: _autoscaler,
    types.ROLE_BINDINGS: _binding,
    types.CLUSTER_ROLE_BINDINGS: _binding,
    types.ENDPOINT_SLICES: _endpoint_slice,
    types.VOLUME_SNAPSHOTS: _snapshot,
    types.VOLUME_SNAPSHOT_CONTENTS: _content,
}
