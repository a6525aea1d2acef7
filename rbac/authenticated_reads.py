"""Read access for all users who can sign in, limited to the resources in AUTHENTICATED_READS.

KubeSphere binds its role `authenticated` to the group `system:authenticated`, which also
contains every service account. The console therefore binds each User who can sign in
individually.

User objects can never be included, because they contain password hashes.
"""

import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from console.kube.apply import Manifest
from console.kube.controller import Factory, NotSynced, Request, Result
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, USERS, Key
from console.kube.projections import Subject
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import apply_state
from rbac.authorizer import is_usable
from rbac.levels import TYPES, Level
from rbac.names import PREFIX
from rbac.projection import LABELS, READS, native_subjects

log = logging.getLogger(__name__)

NAME = f"{PREFIX}authenticated:reads"
#: Resources that can be enabled: name in the setting, and API group.
RESOURCES: Mapping[str, str] = MappingProxyType({"nodes": "", "storageclasses": "storage.k8s.io"})
#: Maximum number of users in the binding, because kube-apiserver limits requests to 1.5 MB. With
#: more users, access is granted to none.
MAX_USERS = 5000


class SignedInReads:
    """Reconcile the role and its binding with the Users. `resources` is a subset of `RESOURCES`; if
    it is empty, access is removed.
    """

    def __init__(self, runtime: Runtime, gvr: GVR, resources: Collection[str]) -> None:
        self.name, self.gvr = f"authenticated-{gvr.resource}", gvr
        self._client = runtime.console
        self._resources = frozenset(resources)
        self._informers = {
            each: runtime.informer(each) for each in (USERS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
        }

    def request_for(self, key: Key) -> Request | None:
        """Return one request for all Users, because the binding is compared as a whole."""
        return Request("", NAME) if self.gvr == USERS or key.name == NAME else None

    async def reconcile(self, request: Request) -> Result:
        if not all(informer.freshness.synced for informer in self._informers.values()):
            raise NotSynced
        subjects = self._subjects() if self._resources else []
        role, binding = _role(self._resources), _binding(subjects)
        if not subjects:
            role = binding = None
        # The role is updated before the binding, so that users are never bound to an outdated role.
        await apply_state(self._client, CLUSTER_ROLES, self._find(CLUSTER_ROLES), role)
        await apply_state(
            self._client, CLUSTER_ROLE_BINDINGS, self._find(CLUSTER_ROLE_BINDINGS), binding
        )
        return Result()

    def _subjects(self) -> list[Manifest]:
        users = (
            entry.projection for entry in self._informers[USERS].store.snapshot().entries.values()
        )
        names = sorted(user.name for user in users if is_usable(user))
        found = native_subjects(Subject(kind="User", name=name) for name in names)
        if len(found) > MAX_USERS:
            log.error(
                "AUTHENTICATED_READS supports at most %d users; access was not granted to any user",
                MAX_USERS,
            )
            return []
        return found

    def _find(self, gvr: GVR) -> Entry[Any] | None:
        return self._informers[gvr].store.get(Key("", NAME))


def signed_in_factories(resources: Collection[str]) -> tuple[Factory, ...]:
    """Return one reconciler factory per watched type. Without resources, the reconcilers remove
    existing access.
    """

    def factory(gvr: GVR) -> Factory:
        return lambda runtime: SignedInReads(runtime, gvr, resources)

    return tuple(factory(gvr) for gvr in (USERS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS))


def _role(resources: Collection[str]) -> Manifest | None:
    rules = [
        {"apiGroups": [RESOURCES[name]], "resources": [name], "verbs": list(READS)}
        for name in sorted(resources)
    ]
    return TYPES[Level.CLUSTER].role({"name": NAME, "labels": dict(LABELS)}, rules)


def _binding(subjects: list[Manifest]) -> Manifest | None:
    meta = {"name": NAME, "labels": dict(LABELS)}
    return TYPES[Level.CLUSTER].binding(meta, NAME, subjects)
