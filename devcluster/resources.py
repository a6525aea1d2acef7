"""Declarations of resource types and their registry.

Objects of a type are stored once under the type's qualified name, independent of the number of
served versions. Stored JSON has no `kind` and `apiVersion`. They are added when an object is
sent, so versions with the same schema need no conversion.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from console.kube.gvr import version_priority
from devcluster.fields import struct_name
from devcluster.objects import Obj, encode

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
NO_DELETECOLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource. `group` and `version` are set if its kind belongs to another group version."""

    name: str
    kind: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A served version. `to_wire` and `from_wire` convert from and to the stored version."""

    name: str
    to_wire: Callable[[Obj], Obj] | None = None
    from_wire: Callable[[Obj], Obj] | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceType:
    """Declaration of a resource type.

    - `versions`: the preferred version first.
    - `fields`: selectable fields besides name and namespace.
    - `generation`: the server increments `metadata.generation` when the spec changes.
    - `unconditional`: PUT requests may omit the resourceVersion.
    - `virtual`: objects are not stored; the type only handles requests.
    - `stored_struct`: name in the field table, by default that of the first version.
    - `dropped`: paths of fields that this release ignores.
    """

    group: str
    plural: str
    kind: str
    versions: tuple[Version, ...] = (Version("v1"),)
    singular: str = ""
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    categories: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    generation: bool = False
    unconditional: bool = True
    create_on_update: bool = False
    virtual: bool = False
    custom: bool = False
    list_kind: str = ""
    stored_as: str = ""
    stored_struct: str = ""
    dropped: tuple[str, ...] = ()
    _heads: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def qualified(self) -> str:
        """Name such as `deployments.apps`, or `pods` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def storage(self) -> str:
        """Name of the collection that stores the objects."""
        return self.stored_as or self.qualified

    @cached_property
    def struct(self) -> str:
        """Name of the stored structure in the field table."""
        group = "" if self.storage == "events" else self.group
        return self.stored_struct or struct_name(group, self.versions[0].name, self.kind)

    @cached_property
    def singular_name(self) -> str:
        return self.singular or self.kind.lower()

    @cached_property
    def list_kind_name(self) -> str:
        return self.list_kind or f"{self.kind}List"

    @cached_property
    def has_status(self) -> bool:
        return any(sub.name == "status" for sub in self.subresources)

    def version(self, name: str) -> Version | None:
        return next((version for version in self.versions if version.name == name), None)

    def subresource(self, name: str) -> Subresource | None:
        return next((sub for sub in self.subresources if sub.name == name), None)

    def group_version(self, version: str) -> str:
        return f"{self.group}/{version}" if self.group else version

    def head(self, version: str) -> bytes:
        """Return the start of an object's JSON, up to its first stored field."""
        head = self._heads.get(version)
        if head is None:
            typed = {"kind": self.kind, "apiVersion": self.group_version(version)}
            head = self._heads[version] = encode(typed)[:-1] + b","
        return head

    def with_type_meta(self, obj: Obj, version: str) -> Obj:
        """Return a stored object in the format of this version. `obj` is not changed."""
        served = self.version(version)
        if served and served.to_wire:
            obj = served.to_wire(obj)
        return {"kind": self.kind, "apiVersion": self.group_version(version), **obj}


class Registry:
    """Resource types by group and plural name. Custom types are added and removed at run time."""

    def __init__(self, types: Iterator[ResourceType]) -> None:
        self._types = {(declared.group, declared.plural): declared for declared in types}

    def find(self, group: str, plural: str, version: str = "") -> ResourceType | None:
        """Return the type, or None if it does not exist or is not served in `version`."""
        found = self._types.get((group, plural))
        if found and version and not found.version(version):
            return None
        return found

    def get(self, qualified: str) -> ResourceType:
        """Return an existing type. Raise KeyError if it does not exist."""
        plural, _, group = qualified.partition(".")
        return self._types[group, plural]

    def put(self, declared: ResourceType) -> None:
        self._types[declared.group, declared.plural] = declared

    def remove(self, group: str, plural: str) -> None:
        self._types.pop((group, plural), None)

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(tuple(self._types.values()))

    def group_versions(self) -> dict[str, list[str]]:
        """Return the groups in declaration order with their versions."""
        found: dict[str, list[str]] = {}
        for declared in self._types.values():
            versions = found.setdefault(declared.group, [])
            versions += [v.name for v in declared.versions if v.name not in versions]
        return {group: sorted(names, key=version_priority) for group, names in found.items()}
