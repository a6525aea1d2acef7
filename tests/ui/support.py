"""Users with permissions, and objects, for tests of pages."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from console.kube.gvr import GVR, NAMESPACES, PODS, Key
from console.kube.identity import Identity
from console.ui.core.clusters import HOST, Cluster, clusters
from rbac.process_clusters import create_cluster
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

NAMESPACE_NAMES = ("shop", "team-a", "team-b")


_EMPTY = create_cluster(HOST, StaticRuntime({}))


class FakeAccess:
    """Permissions as a table.

    `list_in`, `delete_in` and `get_in` are namespaces, None for all. `names` are single objects
    that may be listed. Delete permission includes patch, create, update and approve; list
    permission includes `watch`. A permission applies to every subresource. With `doubt`, no
    permission can be confirmed. `cluster` defaults to the host, or an empty cluster if the test
    has none. The fields may be changed while a websocket is open.
    """

    def __init__(
        self,
        name: str = "admin",
        *,
        list_in: Collection[str] | None = None,
        delete_in: Collection[str] | None = None,
        get_in: Collection[str] | None = (),
        names: Collection[Key] = (),
        watch: bool = True,
        doubt: bool = False,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster
        self.doubt = doubt
        self.identity = Identity(name)
        self.list_in = list_in
        self.delete_in = delete_in
        self.get_in = get_in
        self.names = names
        self.watch = watch

    @property
    def cluster(self) -> Cluster:
        return self._cluster or clusters.get(HOST) or _EMPTY

    @cluster.setter
    def cluster(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def rights_version(self) -> None:
        """The rights version changes with the fields."""

    def permissions_stale(self) -> bool:
        return self.doubt

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        everything = None if self.list_in is None and self.delete_in is None else ()
        rights = {
            "list": self.list_in,
            "watch": self.list_in if self.watch else (),
            "get": self.get_in,
            "delete": self.delete_in,
            "patch": self.delete_in,
            "create": self.delete_in,
            "update": self.delete_in,
            "approve": self.delete_in,
            "*": everything,
        }
        granted = rights.get(verb, ())
        return None if granted is None else frozenset(granted)

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        granted = self.namespaces_where(verb, gvr)
        if granted is None or namespace in granted:
            return True
        return not {Key(namespace, name), Key("", name)}.isdisjoint(self.names_where(verb, gvr))

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        return frozenset(self.names if verb == "list" else ())


class But(FakeAccess):
    """A user who may list in shop and team-a, except one type in only one of them."""

    def __init__(self, gvr: GVR, there: str) -> None:
        super().__init__("erin", list_in={"shop", "team-a"}, delete_in=())
        self._but = gvr, frozenset({there})

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        found, (less, there) = super().namespaces_where(verb, gvr, subresource), self._but
        return there if gvr == less and found else found


class CountingAccess:
    """Count the permission checks in `asked`. Results cached per rights version are still cached."""

    def __init__(self, rights: FakeAccess) -> None:
        self.identity = rights.identity
        self.asked = Counter[tuple[object, ...]]()
        self._rights = rights

    @property
    def cluster(self) -> Cluster:
        return self._rights.cluster

    def rights_version(self) -> str:
        return "always the same"

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        self.asked["can", verb, gvr, namespace, name, subresource] += 1
        return self._rights.can(verb, gvr, namespace=namespace, name=name, subresource=subresource)

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        self.asked["namespaces where", verb, gvr, subresource] += 1
        return self._rights.namespaces_where(verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        self.asked["names where", verb, gvr, subresource] += 1
        return self._rights.names_where(verb, gvr, subresource)


def admin() -> FakeAccess:
    return FakeAccess("admin", get_in=None)


def alice() -> FakeAccess:
    """A user who may list and delete in team-a only."""
    return FakeAccess("alice", list_in={"team-a"}, delete_in={"team-a"})


def bob() -> FakeAccess:
    """A user who may list everywhere and delete nowhere."""
    return FakeAccess("bob", delete_in=())


def charlie() -> FakeAccess:
    """A user without permissions."""
    return FakeAccess("charlie", list_in=(), delete_in=())


def dora() -> FakeAccess:
    """A user who may get one pod by name, and a name that doesn't exist."""
    names = (Key("shop", "web-1"), Key("shop", "nobody"))
    return FakeAccess("dora", list_in=(), delete_in=(), names=names)


_versions = iter(range(100, 10**9))


def owner_reference(kind: str, name: str, uid: str = "u") -> dict[str, Any]:
    """Return a reference to a controlling owner of a built-in kind."""
    groups = {"CronJob": "batch/v1", "Job": "batch/v1", "Service": "v1"}
    version = groups.get(kind, "apps/v1")
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def pod(
    name: str,
    namespace: str = "shop",
    *,
    waiting: str = "",
    restarts: int = 0,
    node: str = "node-1",
    ip: str = "10.0.0.1",
    labels: dict[str, str] | None = None,
    created: str = "2026-11-20T10:00:00Z",
    image: str = "registry.example/app:1",
    owner: tuple[str, str] | None = None,
    uid: str = "",
) -> dict[str, Any]:
    """Return a running pod, or one whose container waits for the reason `waiting`."""
    state: dict[str, Any] = {"running": {"startedAt": created}}
    if waiting:
        state = {"waiting": {"reason": waiting, "message": "as told by the kubelet"}}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{namespace}-{name}",
        "resourceVersion": str(next(_versions)),
        "creationTimestamp": created,
        "labels": labels or {},
    }
    if owner:
        metadata["ownerReferences"] = [owner_reference(*owner)]
    container = {
        "name": "app",
        "ready": not waiting,
        "restartCount": restarts,
        "state": state,
        "lastState": {},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": node, "containers": [{"name": "app", "image": image}]},
        "status": {
            "phase": "Pending" if waiting == "ContainerCreating" else "Running",
            "podIP": ip,
            "conditions": [{"type": "Ready", "status": "False" if waiting else "True"}],
            "containerStatuses": [container],
        },
    }


def namespace(name: str) -> dict[str, Any]:
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": {**meta, "creationTimestamp": "2020-01-01T00:00:00Z"}}


def small_world() -> list[dict[str, Any]]:
    """Return six pods in three projects: two failing, one starting."""
    return [
        pod("web-1", "shop", labels={"app": "web", "tier": "front"}, restarts=3),
        pod("web-2", "shop", waiting="CrashLoopBackOff", labels={"app": "web"}, node="node-2"),
        pod("cart-1", "shop", ip="10.0.0.20", created="2026-11-20T12:00:00Z"),
        pod("api-1", "team-a", waiting="ImagePullBackOff", ip="10.0.0.3"),
        pod("api-2", "team-a", waiting="ContainerCreating", ip="", node=""),
        pod("web-1", "team-b", restarts=12, image="registry.example/ledger:7"),
    ]


def make_runtime(pods: list[dict[str, Any]] | None = None, **kwargs: Any) -> StaticRuntime:
    informers = {
        PODS: preloaded(PODS, small_world() if pods is None else pods),
        NAMESPACES: preloaded(NAMESPACES, [namespace(name) for name in NAMESPACE_NAMES]),
    }
    return StaticRuntime(informers, **kwargs)
