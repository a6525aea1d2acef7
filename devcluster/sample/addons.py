"""Common add-on types of the sample data: the Gateway API and volume snapshots.

The columns match the printer columns of the original definitions
(https://gateway-api.sigs.k8s.io/reference/spec/,
https://github.com/kubernetes-csi/external-snapshotter/tree/master/client/config/crd).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from devcluster.objects import Obj, timestamp
from devcluster.sample.custom_resources import condition, definition
from devcluster.volume_validation import DRIVER, SNAPSHOT_GROUP

GATEWAY, SNAPSHOT = "gateway.networking.k8s.io", SNAPSHOT_GROUP
_CLASS = "nightly"
_GIB = 1024**3

_ACCEPTED = (
    "Accepted",
    "string",
    '.status.conditions[?(@.type=="Accepted")].status',
    0,
)
_HOSTNAMES = ("Hostnames", "string", ".spec.hostnames", 0)
_DRIVEN = (
    ("Driver", "string", ".driver", 0),
    ("DeletionPolicy", "string", ".deletionPolicy", 0),
)


def definitions() -> Iterator[Obj]:
    yield definition(
        GATEWAY,
        "GatewayClass",
        ("gc",),
        ("Controller", "string", ".spec.controllerName", 0),
        _ACCEPTED,
        namespaced=False,
        plural="gatewayclasses",
    )
    yield definition(
        GATEWAY,
        "Gateway",
        ("gtw",),
        ("Class", "string", ".spec.gatewayClassName", 0),
        ("Address", "string", ".status.addresses[*].value", 0),
        ("Programmed", "string", '.status.conditions[?(@.type=="Programmed")].status', 0),
    )
    yield definition(GATEWAY, "HTTPRoute", (), _HOSTNAMES)
    yield definition(GATEWAY, "GRPCRoute", (), _HOSTNAMES)
    yield definition(
        "app.k8s.io",
        "Application",
        (),
        ("Ready", "string", ".status.componentsReady", 0),
        version="v1beta1",
    )
    yield definition(
        SNAPSHOT,
        "VolumeSnapshotClass",
        ("vsclass", "vsclasses"),
        *_DRIVEN,
        namespaced=False,
        plural="volumesnapshotclasses",
    )
    yield definition(
        SNAPSHOT,
        "VolumeSnapshot",
        ("vs",),
        ("ReadyToUse", "boolean", ".status.readyToUse", 0),
        ("SourcePVC", "string", ".spec.source.persistentVolumeClaimName", 0),
        ("RestoreSize", "string", ".status.restoreSize", 0),
        ("SnapshotClass", "string", ".spec.volumeSnapshotClassName", 0),
        ("CreationTime", "date", ".status.creationTime", 0),
    )
    yield definition(
        SNAPSHOT,
        "VolumeSnapshotContent",
        ("vsc", "vscs"),
        ("ReadyToUse", "boolean", ".status.readyToUse", 0),
        ("RestoreSize", "integer", ".status.restoreSize", 0),
        ("DeletionPolicy", "string", ".spec.deletionPolicy", 0),
        ("VolumeSnapshot", "string", ".spec.volumeSnapshotRef.name", 0),
        namespaced=False,
    )


def resources() -> Iterator[tuple[str, Obj]]:
    """Yield the collection and object of each custom resource, including its status."""
    yield from _gateways()
    yield from _routes()
    yield from _snapshots()


def _gateways() -> Iterator[tuple[str, Obj]]:
    spec = {
        "controllerName": "gateway.shop.example/controller",
        "description": "What the public reaches",
    }
    status = {"conditions": [condition("Accepted", "True", "Accepted", "")]}
    about = {"name": "public"}
    yield f"gatewayclasses.{GATEWAY}", {"metadata": about, "spec": spec, "status": status}
    secure = {"certificateRefs": [{"name": "storefront-tls"}]}
    listeners: list[Obj] = [
        {"name": "http", "protocol": "HTTP", "port": 80},
        {"name": "https", "protocol": "HTTPS", "port": 443, "tls": secure},
    ]
    programmed = condition("Programmed", "True", "Programmed", "")
    yield _gateway("web", "storefront", listeners, programmed, address="203.0.113.24", routes=1)
    missing = condition(
        "Programmed", "False", "AddressNotAssigned", "No address is left in pool internal"
    )
    yield _gateway("data", "internal", listeners[:1], missing, address="", routes=0)


def _gateway(
    namespace: str, name: str, listeners: list[Obj], programmed: Obj, *, address: str, routes: int
) -> tuple[str, Obj]:
    status: Obj = {
        "conditions": [condition("Accepted", "True", "Accepted", ""), programmed],
        "addresses": [{"type": "IPAddress", "value": address}] if address else [],
        "listeners": [
            {"name": listener["name"], "attachedRoutes": routes, "supportedKinds": []}
            for listener in listeners
        ],
    }
    spec = {"gatewayClassName": "public", "listeners": listeners}
    about = {"name": name, "namespace": namespace}
    return f"gateways.{GATEWAY}", {"metadata": about, "spec": spec, "status": status}


def _routes() -> Iterator[tuple[str, Obj]]:
    for kind, namespace, name, gateway, backend, port, failure in (
        ("httproutes", "web", "storefront", {"name": "storefront"}, "storefront", 3000, ""),
        (
            "httproutes",
            "shipping",
            "tracking",
            {"name": "storefront", "namespace": "web"},
            "tracking-v2",
            8080,
            'service "tracking-v2" not found',
        ),
        ("grpcroutes", "data", "features", {"name": "internal"}, "feature-store", 8080, ""),
    ):
        resolved = (
            condition("ResolvedRefs", "False", "BackendNotFound", failure)
            if failure
            else condition("ResolvedRefs", "True", "ResolvedRefs", "")
        )
        parent = {
            "parentRef": gateway,
            "controllerName": "gateway.shop.example/controller",
            "conditions": [condition("Accepted", "True", "Accepted", ""), resolved],
        }
        spec = {
            "hostnames": [f"{name}.shop.example"],
            "parentRefs": [gateway],
            "rules": [{"backendRefs": [{"name": backend, "port": port}]}],
        }
        about = {"name": name, "namespace": namespace}
        route = {"metadata": about, "spec": spec, "status": {"parents": [parent]}}
        yield f"{kind}.{GATEWAY}", route


def _snapshots() -> Iterator[tuple[str, Obj]]:
    default = {"snapshot.storage.kubernetes.io/is-default-class": "true"}
    about = {"name": _CLASS, "annotations": default}
    driven = {"driver": DRIVER, "deletionPolicy": "Delete"}
    yield f"volumesnapshotclasses.{SNAPSHOT}", {"metadata": about, **driven}
    for namespace, claim, size, hours, failure in (
        ("payments", "data-payments-db-0", 100, 3, ""),
        ("checkout", "data-session-cache-0", 10, 3, ""),
        ("data", "data-clickhouse-1", 500, 27, "the snapshot timed out after 1h0m0s"),
    ):
        yield from _snapshot(namespace, claim, size, hours, failure)


def _snapshot(
    namespace: str, claim: str, gibibytes: int, hours: int, failure: str
) -> Iterator[tuple[str, Obj]]:
    name, content = f"{claim}-nightly", f"snapcontent-{namespace}-{claim}"
    taken = timestamp(datetime.now(UTC) - timedelta(hours=hours))
    status: Obj = {"readyToUse": False, "error": {"time": taken, "message": failure}}
    if not failure:
        status = {"readyToUse": True, "creationTime": taken}
    source = {"persistentVolumeClaimName": claim}
    done = {} if failure else {"restoreSize": f"{gibibytes}Gi"}
    snapshot = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"source": source, "volumeSnapshotClassName": _CLASS},
        "status": {**status, **done, "boundVolumeSnapshotContentName": content},
    }
    yield f"volumesnapshots.{SNAPSHOT}", snapshot
    held = {key: value for key, value in status.items() if key != "creationTime"}
    yield (
        f"volumesnapshotcontents.{SNAPSHOT}",
        {
            "metadata": {"name": content},
            "spec": {
                "deletionPolicy": "Delete",
                "driver": DRIVER,
                "volumeSnapshotClassName": _CLASS,
                "volumeSnapshotRef": {
                    "kind": "VolumeSnapshot",
                    "namespace": namespace,
                    "name": name,
                },
            },
            "status": {**held, **({} if failure else {"restoreSize": gibibytes * _GIB})},
        },
    )
