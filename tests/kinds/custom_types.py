"""Definitions and objects of custom resources."""

from typing import Any

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, NAMESPACES
from console.kube.informer import Informer
from console.kube.projections.custom import decoder_of
from rbac.process_clusters import set_host_cluster
from tests.kinds.world import POLYGLOT, encoded
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import NAMESPACE_NAMES, namespace

WIDGETS = GVR("x.org", "v1", "widgets")
_versions = iter(range(1, 1_000_000))


def column(name: str, path: str = ".spec.x", kind: str = "string") -> dict[str, Any]:
    return {"name": name, "type": kind, "jsonPath": path}


def definition(
    name: str = "widgets.x.org",
    *columns: dict[str, Any],
    kind: str = "Widget",
    scope: str = "Namespaced",
    uid: str = "u1",
    conditions: bool = True,
    established: bool = True,
    accepted: bool = True,
    served: bool = True,
) -> dict[str, Any]:
    plural, _dot, group = name.partition(".")
    status = {"type": "object", "properties": {"conditions": {}} if conditions else {}}
    version = {
        "name": "v1",
        "served": served,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"status": status}}},
        "additionalPrinterColumns": list(columns),
    }
    return {
        "metadata": {"name": name, "uid": uid, "resourceVersion": str(next(_versions))},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, "listKind": f"{kind}List"},
            "versions": [version],
        },
        "status": {
            "conditions": [
                {"type": "Established", "status": str(established)},
                {"type": "NamesAccepted", "status": str(accepted), "reason": "PluralConflict"},
            ]
        },
    }


class World:
    """The definitions and objects of a cluster. `objects` are the widgets."""

    def __init__(self) -> None:
        self.definitions = preloaded(CUSTOM_RESOURCE_DEFINITIONS)
        spaces = preloaded(NAMESPACES, [namespace(name) for name in NAMESPACE_NAMES])
        self.informers = {CUSTOM_RESOURCE_DEFINITIONS: self.definitions, NAMESPACES: spaces}
        self.use()

    def use(self) -> None:
        self.runtime = StaticRuntime(self.informers)
        set_host_cluster(self.runtime)

    def define(self, *given: dict[str, Any]) -> None:
        for item in given:
            bring(self.definitions, item)

    def put(self, *objects: dict[str, Any]) -> Informer[Any]:
        """Add widgets, decoded with the current definition."""
        found = self.runtime.types.get(WIDGETS)
        assert found is not None
        decode = decoder_of(found.columns, has_state=found.has_state)
        informer: Informer[Any] = Informer(WIDGETS, decode)
        informer.replace([encoded(obj) for obj in objects], "1")
        informer.connected()
        self.informers[WIDGETS] = informer
        self.use()
        return informer


def widget(name: str, **fields: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": meta, **fields}


HOSTILE = [
    column("<script>alert(1)</script>"),
    column(POLYGLOT),
    column("Size", ".spec.size", "integer"),
    column("size", ".spec.other"),
    column("名称", ".spec.x"),
    column("", ".spec.x"),
    column("Name", ".spec.x"),
    column("Status", ".spec.x"),
    column("x" * 5000, ".spec.x"),
    column("Broken", "]]["),
    column("Deep", ".a" * 400),
    column("Odd", ".spec.x", "strange"),
]
