"""Shared base of the controllers' projectors, which write native roles and bindings.

Disabled users, and users that are being deleted, are left out of the bindings that the controllers
write. The console rejects these users, but kube-apiserver accepts a client certificate until it
expires, with every permission of its username. Bindings created directly in Kubernetes are not
changed. Group permissions remain for every certificate that names the group.

A name without a User object belongs to a client certificate of the cluster and stays in the
binding.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from console.kube.apply import Manifest
from console.kube.controller import NotSynced
from console.kube.gvr import GVR, USERS, Key
from console.kube.projections import Subject
from console.kube.runtime import Runtime
from console.kube.store import Entry, Store
from rbac.apply import apply_state
from rbac.authorizer import is_usable
from rbac.event_recorder import WARNING, Recorder
from rbac.projection import refused_subjects


class Projector:
    """Base of a projector. Use on the core event loop only.

    `types` lists the resource types that the projector reads, `component` is the source of its
    events, and `roles` names its roles in messages.
    """

    types: ClassVar[tuple[GVR, ...]]
    component: ClassVar[str]
    roles: ClassVar[str]

    def __init__(self, runtime: Runtime) -> None:
        informers = {gvr: runtime.informer(gvr) for gvr in (*self.types, USERS)}
        self._informers = tuple(informers.values())
        self._stores: dict[GVR, Store[Any]] = {gvr: one.store for gvr, one in informers.items()}
        self._client = runtime.console
        self._recorder = Recorder(runtime.console, self.component)
        # Never emptied: a projection that is being written may still exclude these users.
        self._left_out: set[str] = set()

    def _require_synced(self) -> None:
        """Raise `NotSynced` unless all stores are loaded. In an empty cache, every source would
        appear to be deleted.
        """
        if not all(informer.freshness.synced for informer in self._informers):
            raise NotSynced

    def _find(self, gvr: GVR, name: str, namespace: str = "") -> Entry[Any] | None:
        return self._stores[gvr].get(Key(namespace, name))

    async def _apply(
        self, gvr: GVR, name: str, wanted: Manifest | None, namespace: str = ""
    ) -> bool:
        return await apply_state(self._client, gvr, self._find(gvr, name, namespace), wanted)

    def _exclude_disabled(self, subjects: Iterable[Subject]) -> tuple[Subject, ...]:
        """Return the subjects without disabled users, which are remembered."""
        found = []
        for subject in subjects:
            if subject.kind == "User" and self._is_disabled(subject.name):
                self._left_out.add(subject.name)
            else:
                found.append(subject)
        return tuple(found)

    def _affects(self, name: str) -> bool:
        """Return True if a change of this user may change a binding. Most user changes are sign-ins
        and don't.
        """
        return name in self._left_out or self._is_disabled(name)

    def _is_disabled(self, name: str) -> bool:
        entry = self._find(USERS, name)
        return entry is not None and not is_usable(entry.projection)

    async def _report_refused(self, about: Manifest, subjects: Iterable[Subject]) -> None:
        refused = refused_subjects(subjects)
        if refused:
            names = ", ".join(f"{subject.kind} {subject.name!r}" for subject in refused)
            message = f"{self.roles} roles cannot be granted to these subjects: {names}"
            await self._recorder.record(about, WARNING, "SubjectsRefused", message)
