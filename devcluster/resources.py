"""What the cluster serves: one declaration per resource type, and the registry of them.

A type is stored once, under its qualified name, whatever the number of versions it is served in.
Stored JSON has no `kind` and `apiVersion`; they are put in front when an object is sent, so a
version of the same shape costs nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

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
    """`group` and `version` of the kind, where they are not the resource's own."""

    name: str
    kind: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A served version. `to_wire` and `from_wire` convert where the shape is not the stored one."""

    name: str
    to_wire: Callable[[Obj], Obj] | None = None
    from_wire: Callable[[Obj], Obj] | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceType:
    """`versions`: preferred first. `fields`: what field selectors may name beside name and namespace.

    `generation`: the server counts changes of what is wanted. `unconditional`: PUT may leave out
    the resourceVersion. `virtual`: nothing is stored, the type only answers.
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
    _heads: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def qualified(self) -> str:
        """`deployments.apps`; `pods` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def storage(self) -> str:
        """The name of the collection that holds the objects."""
        return self.stored_as or self.qualified

    @cached_property
    def struct(self) -> str:
        """The name of the stored shape in the table of fields."""
        group = "" if self.storage == "events" else self.group
        return struct_name(group, self.versions[0].name, self.kind)

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
        """The start of an object's JSON, up to its first own field."""
        head = self._heads.get(version)
        if head is None:
            typed = {"kind": self.kind, "apiVersion": self.group_version(version)}
            head = self._heads[version] = encode(typed)[:-1] + b","
        return head

    def typed(self, obj: Obj, version: str) -> Obj:
        """The object as it is sent, `obj` being as it is stored (and left alone)."""
        served = self.version(version)
        if served and served.to_wire:
            obj = served.to_wire(obj)
        return {"kind": self.kind, "apiVersion": self.group_version(version), **obj}


class Registry:
    """The types by group and plural. Custom ones come and go."""

    def __init__(self, types: Iterator[ResourceType]) -> None:
        self._types = {(declared.group, declared.plural): declared for declared in types}

    def find(self, group: str, plural: str, version: str = "") -> ResourceType | None:
        """The type, if it exists and, where `version` is given, is served in that version."""
        found = self._types.get((group, plural))
        if found and version and not found.version(version):
            return None
        return found

    def get(self, qualified: str) -> ResourceType:
        """The type that is known to exist; KeyError otherwise."""
        plural, _, group = qualified.partition(".")
        return self._types[group, plural]

    def put(self, declared: ResourceType) -> None:
        self._types[declared.group, declared.plural] = declared

    def remove(self, group: str, plural: str) -> None:
        self._types.pop((group, plural), None)

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(tuple(self._types.values()))

    def group_versions(self) -> dict[str, list[str]]:
        """Groups with their versions, in the order in which they were declared."""
        found: dict[str, list[str]] = {}
        for declared in self._types.values():
            versions = found.setdefault(declared.group, [])
            versions += [v.name for v in declared.versions if v.name not in versions]
        return {group: sorted(names, key=version_priority) for group, names in found.items()}


def version_priority(name: str) -> tuple[int, int, int, str]:
    """Sorts `v2, v1, v1beta2, v1alpha1, foo` as Kubernetes does.

    https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
    """
    body = name.removeprefix("v")
    for rank, word in enumerate(("", "beta", "alpha")):
        major, found, minor = body.partition(word) if word else (body, "", "0")
        if (not word or found) and major.isdigit() and minor.isdigit():
            return (rank, -int(major), -int(minor), "")
    return (3, 0, 0, name)
