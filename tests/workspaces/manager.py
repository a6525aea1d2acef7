"""Stand-in for KubeSphere's controllers, limited to workspaces."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import (
    GVR,
    NAMESPACES,
    PODS,
    RESOURCE_QUOTAS,
    ROLE_BASES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.transport import Transport
from tests.workspaces.kubesphere_locks import lock_object
from tests.workspaces.users import until
from workspaces.controllers.kubesphere_locks import NAME, NAMESPACE

THEIRS = "finalizers.tenant.kubesphere.io"
TEMPLATES = "finalizers.workspacetemplate.kubesphere.io"
PROJECTS = "finalizers.kubesphere.io/namespaces"
OF_PROJECTS = "scope.kubesphere.io/namespace"
WORKSPACE, USER = "kubesphere.io/workspace", "iam.kubesphere.io/user-ref"
IAM, RBAC = "iam.kubesphere.io", "rbac.authorization.k8s.io"
#: Types that both controllers write.
WATCHED = (
    WORKSPACES,
    WORKSPACE_ROLES,
    WORKSPACE_ROLE_BINDINGS,
    NAMESPACES,
    ROLES,
    ROLE_BINDINGS,
    WORKSPACE_QUOTAS,
    RESOURCE_QUOTAS,
)
Manifest = dict[str, Any]


class Manager:
    """The workspace part of ks-controller-manager.

    Creates workspaces from templates with the roles of the RoleBases and the manager's binding,
    adopts labeled namespaces and adds roles to them, reports quota usage, removes its finalizers
    on deletion, and holds a lock of type `lock`, which depends on the version of KubeSphere.
    """

    def __init__(self, kubeconfig: Path, lock: GVR) -> None:
        self._lock = lock
        self._transport = Transport(Credentials("admin", str(kubeconfig)))
        self._client = ConsoleClient(self._transport)
        self.writes = self.rounds = 0
        self.names: set[str] = set()

    async def run(self) -> None:
        try:
            while True:
                await self._hold()
                for name in sorted(self.names):
                    try:
                        await self._see_to(name)
                    except (Conflict, NotFound):
                        # Another client wrote first. The next round reads the current state.
                        continue
                self.rounds += 1
                # Long enough for competing writers: tests wait for a number of rounds. Each round
                # lists everything, so few long rounds are better than many short ones.
                await asyncio.sleep(0.8)
        finally:
            await self._transport.close()

    async def some_rounds(self, count: int = 4) -> None:
        """Wait for some rounds, in which the manager would respond to competing writes."""
        end = self.rounds + count
        await until(lambda: self.rounds >= end, "rounds")

    async def settled(self) -> None:
        """Wait until the manager has nothing to write."""
        for _ in range(15):
            before = self.writes
            await self.some_rounds(2)
            if self.writes == before:
                return
        raise AssertionError("somebody writes against it")

    async def stands_still(self) -> None:
        """Assert that no client writes once the manager has settled."""
        await self.settled()
        writes, before = self.writes, await self._versions()
        await self.some_rounds()
        written = before.items() ^ (await self._versions()).items()
        assert not written and self.writes == writes, (written, self.writes - writes)

    async def _versions(self) -> dict[tuple[str, str, str], str]:
        return {
            (gvr.resource, meta.get("namespace", ""), meta["name"]): meta["resourceVersion"]
            for gvr in WATCHED
            for meta in (item["metadata"] for item in await self._client.list_by_fields(gvr, ""))
        }

    async def _hold(self) -> None:
        lock = lock_object(
            self._lock,
            holderIdentity="ks-controller-manager-0",
            leaseDurationSeconds=4,
            renewTime=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        )
        try:
            await self._client.patch(self._lock, lock, namespace=NAMESPACE, name=NAME)
        except NotFound:
            await self._client.create(self._lock, lock, namespace=NAMESPACE)

    async def _see_to(self, name: str) -> None:
        template = await self._find(WORKSPACE_TEMPLATES, name)
        bases = await self._client.list_by_fields(ROLE_BASES, "")
        if template is not None and _ends(template):
            if await self._find(WORKSPACES, name) is not None:
                await self._client.delete(WORKSPACES, name=name)
            await self._mark(WORKSPACE_TEMPLATES, template, finalizers=_less(template))
        elif template is not None:
            roles = [one["role"] for one in bases if one["role"]["kind"] == "WorkspaceRole"]
            await self._make(template, roles)
        workspace = await self._find(WORKSPACES, name)
        if workspace is not None and _ends(workspace):
            await self._mark(WORKSPACES, workspace, finalizers=_less(workspace))
            workspace = None
        projects = await self._of(NAMESPACES, name)
        for project in projects:
            if _ends(project):
                await self._mark(NAMESPACES, project, finalizers=_less(project))
            elif workspace is not None:
                roles = [one["role"] for one in bases if OF_PROJECTS in _labels(one)]
                await self._take_in(project, workspace, roles)
        if workspace is not None:
            await self._mark(WORKSPACES, workspace, finalizers=_more(workspace, THEIRS))
            for gvr in (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS, WORKSPACE_QUOTAS):
                for found in await self._of(gvr, name):
                    await self._mark(gvr, found, ownerReferences=_owners(found, workspace))
            for quota in await self._of(WORKSPACE_QUOTAS, name):
                await self._count(quota, [one["metadata"]["name"] for one in projects])

    async def _make(self, template: Manifest, bases: list[Manifest]) -> None:
        """Create the workspace, its roles and its manager's binding."""
        name, inner = template["metadata"]["name"], template["spec"]["template"]
        finalizers = _more(template, TEMPLATES)
        await self._mark(WORKSPACE_TEMPLATES, template, finalizers=finalizers)
        labels, spec = (inner.get("metadata") or {}).get("labels") or {}, inner.get("spec") or {}
        await self._put(WORKSPACES, "Workspace", name, spec=spec, labels=labels)
        of, there = (
            {WORKSPACE: name},
            _by_name(await self._client.list_by_fields(WORKSPACE_ROLES, "")),
        )
        for base in bases:
            meta = base["metadata"]
            called = f"{name}-{meta['name']}"
            await self._write(
                there.get(called), WORKSPACE_ROLES, "WorkspaceRole", called, rules=base["rules"],
                labels=(meta.get("labels") or {}) | of, annotations=meta.get("annotations") or {},
            )  # fmt: skip
        manager = spec.get("manager")
        if manager and await self._find(USERS, manager) is not None:
            role = {"apiGroup": IAM, "kind": "WorkspaceRole", "name": f"{name}-admin"}
            await self._put(
                WORKSPACE_ROLE_BINDINGS, "WorkspaceRoleBinding", role["name"], roleRef=role,
                subjects=[_person(manager)], labels={**of, USER: manager},
            )  # fmt: skip

    async def _take_in(self, project: Manifest, workspace: Manifest, bases: list[Manifest]) -> None:
        meta = project["metadata"]
        name, creator = meta["name"], (meta.get("annotations") or {}).get("kubesphere.io/creator")
        if creator and PROJECTS not in meta.get("finalizers", ()):
            await self._bind(name, creator)
        await self._mark(
            NAMESPACES, project, finalizers=_more(project, PROJECTS),
            labels=meta["labels"] | {"kubesphere.io/namespace": name},
            ownerReferences=_owners(project, workspace),
        )  # fmt: skip
        # Create all with one request, because there are many.
        there = _by_name(await self._client.list_by_fields(ROLES, f"metadata.namespace={name}"))
        for base in bases:
            meta = base["metadata"]
            await self._write(
                there.get(meta["name"]), ROLES, "Role", meta["name"], name, rules=base["rules"],
                labels=meta.get("labels") or {}, annotations=meta.get("annotations") or {},
            )  # fmt: skip

    async def _bind(self, project: str, creator: str) -> None:
        """Bind the creator once. An existing binding of this name stays."""
        name = f"{creator}-admin"
        if await self._find(ROLE_BINDINGS, name, project) is None:
            role = {"apiGroup": RBAC, "kind": "Role", "name": "admin"}
            await self._put(
                ROLE_BINDINGS, "RoleBinding", name, project, roleRef=role,
                subjects=[_person(creator)], labels={USER: creator},
            )  # fmt: skip

    async def _count(self, quota: Manifest, projects: list[str]) -> None:
        """Report the usage of the quota (pods only)."""
        hard = quota["spec"]["quota"]["hard"]

        def used(pods: int) -> dict[str, str]:
            return {resource: str(pods) if resource == "pods" else "0" for resource in hard}

        pods = {
            name: len(await self._client.list_by_fields(PODS, f"metadata.namespace={name}"))
            for name in projects
        }
        each = [{"namespace": name, "hard": hard, "used": used(n)} for name, n in pods.items()]
        status = {"total": {"hard": hard, "used": used(sum(pods.values()))}, "namespaces": each}
        found = await self._client.get(WORKSPACE_QUOTAS, name=quota["metadata"]["name"])
        if found.get("status") != status:
            self.writes += 1
            await self._client.replace(
                WORKSPACE_QUOTAS, {**found, "status": status}, name=quota["metadata"]["name"],
                subresource="status",
            )  # fmt: skip

    async def _find(self, gvr: GVR, name: str, namespace: str = "") -> Manifest | None:
        try:
            return await self._client.get(gvr, namespace=namespace, name=name)
        except NotFound:
            return None

    async def _of(self, gvr: GVR, workspace: str) -> list[Manifest]:
        """Return the objects of a workspace, by label or by quota selector."""

        def says(item: Manifest) -> Any:
            by = item["spec"].get("selector") if gvr == WORKSPACE_QUOTAS else None
            return (by or _labels(item)).get(WORKSPACE)

        return [one for one in await self._client.list_by_fields(gvr, "") if says(one) == workspace]

    async def _put(
        self, gvr: GVR, kind: str, name: str, namespace: str = "", **wanted: Any
    ) -> None:
        found = await self._find(gvr, name, namespace)
        await self._write(found, gvr, kind, name, namespace, **wanted)

    async def _write(
        self, found: Manifest | None, gvr: GVR, kind: str, name: str, namespace: str = "", *,
        labels: Manifest, annotations: Manifest | None = None, **wanted: Any,
    ) -> None:  # fmt: skip
        """Create the object, or overwrite the differing fields of `found`, including labels."""
        meta = {"labels": labels} | ({} if annotations is None else {"annotations": annotations})
        if found is None:
            self.writes += 1
            body = {"apiVersion": gvr.group_version, "kind": kind, **wanted}
            body["metadata"] = {"name": name, **meta}
            await self._client.create(gvr, body, namespace=namespace)
        elif not (_is_so(found, wanted) and _is_so(found["metadata"], meta)):
            self.writes += 1
            body = {**found, **wanted, "metadata": {**found["metadata"], **meta}}
            await self._client.replace(gvr, body, namespace=namespace, name=name)

    async def _mark(self, gvr: GVR, found: Manifest, **metadata: Any) -> None:
        meta = found["metadata"]
        if not _is_so(meta, metadata):
            self.writes += 1
            body = {"metadata": {**metadata, "resourceVersion": meta["resourceVersion"]}}
            await self._client.patch(gvr, body, name=meta["name"])


def _is_so(found: Manifest, wanted: Manifest) -> bool:
    """Return True if `found` has all fields of `wanted`. Empty and missing values are equal."""
    return all((found.get(field) or None) == (value or None) for field, value in wanted.items())


def _by_name(items: Sequence[Manifest]) -> dict[str, Manifest]:
    return {item["metadata"]["name"]: item for item in items}


def _labels(item: Manifest) -> dict[str, str]:
    return item["metadata"].get("labels") or {}


def _ends(item: Manifest) -> bool:
    return "deletionTimestamp" in item["metadata"]


def _more(item: Manifest, finalizer: str) -> list[str]:
    has: list[str] = item["metadata"].get("finalizers") or []
    return has if finalizer in has else [*has, finalizer]


def _less(item: Manifest) -> list[str]:
    has: list[str] = item["metadata"].get("finalizers") or []
    return [one for one in has if one not in (THEIRS, TEMPLATES, PROJECTS)]


def _owners(item: Manifest, workspace: Manifest) -> list[Manifest]:
    has: list[Manifest] = item["metadata"].get("ownerReferences") or []
    meta = workspace["metadata"]
    if any(one["uid"] == meta["uid"] and one.get("controller") for one in has):
        return has
    owner = {
        "apiVersion": WORKSPACES.group_version, "kind": "Workspace", "name": meta["name"],
        "uid": meta["uid"], "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    return [*(one for one in has if one["kind"] != "Workspace"), owner]


def _person(name: str) -> Manifest:
    return {"apiGroup": RBAC, "kind": "User", "name": name}


@asynccontextmanager
async def managing(kubeconfig: Path, *names: str, lock: GVR) -> AsyncIterator[Manager]:
    manager = Manager(kubeconfig, lock)
    manager.names.update(names)
    working = asyncio.create_task(manager.run())
    try:
        await until(lambda: manager.rounds or working.done(), "the lock")
        yield manager
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
