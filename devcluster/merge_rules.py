"""Merge rules of lists and maps: by key, as a set, or atomic.

Server-side apply and strategic merge patches use these rules. Built-in types follow the topology
markers of the Kubernetes API. Custom types declare them in the schema as
`x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`. By default,
maps merge by field and lists are atomic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _List:
    """Merge rule of a list. A strategic merge patch uses only the first of the keys."""

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
# Rules that depend on the parent field.
_BY_HOLDER = {
    "ports": {
        "containers": _by("containerPort", "protocol"),
        "ephemeralContainers": _by("containerPort", "protocol"),
        "initContainers": _by("containerPort", "protocol"),
        "spec": _by("port", "protocol"),
    },
    "imagePullSecrets": {"spec": _by("name")},
}
# Atomic maps: selectors and references.
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
#: Default values of list keys that an item omits.
KEY_DEFAULTS: Mapping[str, str] = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class BuiltinShape:
    """Merge rules at one place in a built-in object, by the names of the field and of its parent."""

    field: str = ""
    parent: str = ""

    @property
    def _list(self) -> _List:
        if self.field in _BY_HOLDER:
            return _BY_HOLDER[self.field].get(self.parent, _List())
        return _LISTS.get(self.field, _List())

    @property
    def list_keys(self) -> tuple[str, ...]:
        """The fields that identify an item if the list merges by item."""
        return self._list.keys

    @property
    def is_set(self) -> bool:
        """True if the list is a set of scalars."""
        return self._list.is_set

    @property
    def is_atomic(self) -> bool:
        """True if the map is atomic: it has one owner and is replaced completely."""
        return self.field in _WHOLE

    @property
    def patch_key(self) -> str:
        """The merge key of a strategic merge patch. If empty, the list is replaced."""
        return next(iter(self._list.keys), "")

    def child(self, field: str) -> "BuiltinShape":
        """Return the rules of a map's field."""
        return BuiltinShape(field, self.field)

    @property
    def item(self) -> "BuiltinShape":
        """The rules of a list's items."""
        return self


@dataclass(frozen=True)
class SchemaShape:
    """Merge rules of a custom resource, read from its schema. Metadata has the built-in rules."""

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
    def is_atomic(self) -> bool:
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
