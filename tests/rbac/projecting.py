"""The reconcilers of the role projection over an in-memory API."""

from typing import cast

from console.kube.controller import Request, Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from console.kube.runtime import Runtime
from rbac.controllers import FACTORIES
from tests.rbac.fakes import FakeRuntime, Manifest

TYPES = (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)


def make_runtime(objects: dict[GVR, list[Manifest]]) -> FakeRuntime:
    """Return a runtime with every type that the projection reads."""
    return FakeRuntime({gvr: objects.get(gvr, []) for gvr in TYPES})


async def reconcile(runtime: FakeRuntime, gvr: GVR, name: str, namespace: str = "") -> Result:
    """Run the reconciler of a type, as after a change of the object."""
    made = (factory(cast(Runtime, runtime)) for factory in FACTORIES)
    (reconciler,) = (found for found in made if found.gvr == gvr)
    return await reconciler.reconcile(Request(namespace, name))


async def reconcile_all(runtime: FakeRuntime) -> None:
    """Reconcile every object, as after a start."""
    for gvr in TYPES:
        for key in list(runtime.informer(gvr).store.snapshot().entries):
            await reconcile(runtime, gvr, key.name, key.namespace)
