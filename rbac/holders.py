"""Find the holders of a role through the bindings that grant it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, ROLE_BINDINGS
from console.kube.indexes import indexes_of
from console.kube.projections import GlobalRoleBinding
from console.kube.runtime import Reads
from console.kube.store import Entry
from rbac.levels import TYPES, Level, RoleScope, subjects_of
from rbac.names import ProjectionSource, source_of


class RoleHolder(NamedTuple):
    """One subject of one binding.

    `subject` has the form `User ann`. `namespace` is the binding's namespace or "". `source` is
    the object from which our controllers created the binding, if they did.
    """

    gvr: GVR
    namespace: str
    binding: str
    subject: str
    source: ProjectionSource | None

    @property
    def kind(self) -> str:
        return self.subject.partition(" ")[0]

    @property
    def name(self) -> str:
        return self.subject.partition(" ")[2]


def holders(source: Reads, place: RoleScope, role: str) -> Iterator[RoleHolder]:
    """Yield the holders of `role`, sorted by name. For a ClusterRole, this includes RoleBindings in
    single projects.
    """
    types = TYPES[place.level]
    found = list(_given(source, types.bindings, place, role))
    if place.level is Level.CLUSTER:
        found += _given(source, ROLE_BINDINGS, place, role)
    yield from sorted(found, key=lambda one: (one.subject, one.namespace, one.binding))


def _given(source: Reads, gvr: GVR, place: RoleScope, role: str) -> Iterator[RoleHolder]:
    try:
        store = source.informer(gvr).store
    except UnknownKind:
        return
    index = indexes_of(store).by(_roles_of)
    kind = TYPES[place.level].role_kind
    # KubeSphere's own bindings may omit the kind.
    kinds = (kind,) if place.level in (Level.CLUSTER, Level.PROJECT) else (kind, "")
    where = place.namespace if place.level is Level.PROJECT else ""
    for one in kinds:
        for entry in index.get((one, where, role)):
            binding = entry.projection
            if place.workspace and binding.workspace != place.workspace:
                continue
            for subject in subjects_of(binding):
                yield RoleHolder(
                    gvr, entry.key.namespace, entry.key.name, subject, source_of(entry.key.name)
                )


def _roles_of(entry: Entry[Any]) -> Iterable[tuple[str, str, str]]:
    binding = entry.projection
    in_namespace = binding.role_kind == "Role" and not isinstance(binding, GlobalRoleBinding)
    return ((binding.role_kind, entry.key.namespace if in_namespace else "", binding.role),)
