"""How lists and maps of an object merge: by which keys, as sets, or only as a whole.

Server-side apply and strategic merge patches need this. For built-in types it follows the topology
markers of the Kubernetes API; for custom ones it is in the schema as `x-kubernetes-list-type`,
`-list-map-keys` and `-map-type`. What is not marked: maps merge by field, lists are whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _List:
    """A strategic merge patch goes by the first of the keys."""

    keys: tuple[str, ...] = ()
    is_set: bool = False


def _by(*keys: str) -> _List:
    return _List(keys)


_LISTS: dict[str, _List] = {
    "conditions": _by("type"),
    "containers": _by("name"),
    "ephemeralContainers": _by("name"),
    "initContainers": _by("name"),
    "env": _by("name"),
    "volumes": _by("name"),
    "volumeMounts": _by("mountPath"),
    "volumeDevices": _by("devicePath"),
    "schedulingGates": _by("name"),
    "resourceClaims": _by("name"),
    "claims": _by("name"),
    "hostAliases": _by("ip"),
    "topologySpreadConstraints": _by("topologyKey", "whenUnsatisfiable"),
    "podIPs": _by("ip"),
    "ownerReferences": _by("uid"),
    "secrets": _by("name"),
    "webhooks": _by("name"),
    "matchConditions": _by("name"),
    "taints": _List(),
    "addresses": _by("type"),
    "finalizers": _List(is_set=True),
    "podCIDRs": _List(is_set=True),
    "accessModes": _List(),
}
# By the field that holds them.
_BY_HOLDER = {
    "ports": {
        "containers": _by("containerPort", "protocol"),
        "ephemeralContainers": _by("containerPort", "protocol"),
        "initContainers": _by("containerPort", "protocol"),
        "spec": _by("port", "protocol"),
    },
    "imagePullSecrets": {"spec": _by("name")},
}
# Maps with one owner: selectors and references.
_WHOLE = frozenset(
    {
        "selector",
        "labelSelector",
        "namespaceSelector",
        "objectSelector",
        "podSelector",
        "nodeSelector",
        "configMapKeyRef",
        "secretKeyRef",
        "fieldRef",
        "resourceFieldRef",
        "secretRef",
        "claimRef",
        "roleRef",
        "involvedObject",
        "targetRef",
        "dataSource",
        "nodePublishSecretRef",
    }
)
#: What a key of a list item is when the item leaves it out.
KEY_DEFAULTS: Mapping[str, str] = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class BuiltinShape:
    """The topology at one place in an object, by the names of the field and of what holds it."""

    field: str = ""
    parent: str = ""

    @property
    def _list(self) -> _List:
        if self.field in _BY_HOLDER:
            return _BY_HOLDER[self.field].get(self.parent, _List())
        return _LISTS.get(self.field, _List())

    @property
    def list_keys(self) -> tuple[str, ...]:
        """The fields that identify an item, if the list merges by item."""
        return self._list.keys

    @property
    def is_set(self) -> bool:
        """The list is a set of plain values."""
        return self._list.is_set

    @property
    def is_whole(self) -> bool:
        """The map has one owner and is replaced as a whole."""
        return self.field in _WHOLE

    @property
    def patch_key(self) -> str:
        """The key by which a strategic merge patch merges the list; empty: it replaces it."""
        return next(iter(self._list.keys), "")

    def child(self, field: str) -> "BuiltinShape":
        """Of a map's field."""
        return BuiltinShape(field, self.field)

    @property
    def item(self) -> "BuiltinShape":
        """Of a list's items."""
        return self


@dataclass(frozen=True)
class SchemaShape:
    """The same by the schema of a custom resource; its metadata is as everybody's."""

    schema: Schema
    top: bool = False
    patch_key = ""

    @property
    def list_keys(self) -> tuple[str, ...]:
        if self.schema.get("x-kubernetes-list-type") != "map":
            return ()
        return tuple(self.schema.get("x-kubernetes-list-map-keys") or ())

    @property
    def is_set(self) -> bool:
        return self.schema.get("x-kubernetes-list-type") == "set"

    @property
    def is_whole(self) -> bool:
        return self.schema.get("x-kubernetes-map-type") == "atomic"

    def child(self, field: str) -> "Shape":
        if self.top and field == "metadata":
            return BuiltinShape("metadata")
        found = (self.schema.get("properties") or {}).get(field)
        if found is None:
            found = self.schema.get("additionalProperties")
        return SchemaShape(found if isinstance(found, Mapping) else {})

    @property
    def item(self) -> "SchemaShape":
        found = self.schema.get("items")
        return SchemaShape(found if isinstance(found, Mapping) else {})


Shape = BuiltinShape | SchemaShape
