"""Reconcile each project's share of its workspace quota, and report the usage in the quota's
status.
"""

import asyncio
from weakref import WeakValueDictionary

from console.kube.apply import Manifest
from console.kube.errors import ApiError, Conflict
from console.kube.gvr import NAMESPACES, RESOURCE_QUOTAS, WORKSPACE_QUOTAS
from console.kube.projections.namespace import Namespace
from console.kube.projections.tenancy import Workspace
from console.kube.quantity import Amounts, lowest, parse_amounts
from console.kube.store import is_older
from rbac.projection import LABELS
from workspaces.controllers.cached_objects import WorkspaceCache
from workspaces.controllers.refused_pods import RefusedRequests
from workspaces.names import SHARE, owner_of
from workspaces.quota_allocation import ZERO, QuotaShare, RefusedNeed, allocate, quantity_text


class QuotaShareSync:
    """Allocate workspace quotas to projects. A lock serializes the allocation of each workspace."""

    def __init__(self, world: WorkspaceCache, refused: RefusedRequests) -> None:
        self._world = world
        self.refused = refused
        # Shares that were written but may not be in the cache yet, so that no capacity is allocated
        # twice.
        self._written: dict[str, Manifest] = {}
        # Writes without a response, which may have succeeded: the version of the share before the
        # write ("" if it did not exist) and the amounts.
        self._unconfirmed: dict[str, tuple[str, Amounts]] = {}
        self._was_in: dict[str, str] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def workspaces_of(self, quota: str) -> set[str]:
        """Return the workspaces that a workspace quota applies to or applied to before."""
        entry = self._world.find(WORKSPACE_QUOTAS, quota)
        return {quota} | ({entry.projection.workspace} if entry is not None else set())

    async def sync_project(self, name: str) -> None:
        """Allocate the quota of the workspace that this project is in, and of the one it was in
        before.
        """
        entry = self._world.find(NAMESPACES, name)
        now = entry.projection.workspace if entry is not None else ""
        before = self._was_in.get(name, "")
        for workspace in sorted({before, now} - {""}):
            await self.sync(workspace)
        # Updated only after success, because the allocation in the previous workspace may have
        # failed.
        if now:
            self._was_in[name] = now
        else:
            self._was_in.pop(name, None)

    def is_enforced(self, project: str, workspace: str) -> bool:
        """Return True if kube-apiserver has reported that it enforces the project's share. Until
        then, it would admit any request.
        """
        enforced = _amounts(self._share(project), "status", "hard")
        return workspace_hard(self._world, workspace).keys() <= enforced.keys()

    async def sync(self, name: str) -> None:
        """Allocate the quota of a workspace to its projects, as far as possible now."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            workspace = self._world.workspace(name)
            if workspace is None:
                return
            projects = self._world.projects(name)
            for project in projects:
                self._was_in.setdefault(project.name, name)
            hard = workspace_hard(self._world, name)
            shares = {project.name: self._share(project.name) for project in projects}
            failure = await self._allocate(workspace, projects, hard, shares)
            await self._report(name, hard, shares)
            if failure is not None:
                raise failure

    async def _allocate(
        self,
        workspace: Workspace,
        projects: list[Namespace],
        hard: Amounts,
        shares: dict[str, Manifest | None],
    ) -> ApiError | None:
        """Allocate the quota and return the first error. An error in one project does not affect
        the others.
        """
        wanted: dict[str, Amounts] = {project.name: {} for project in projects}
        needs = {
            name: self.refused.needs(name, _amounts(shares[name], "status", "used"))
            for name in (wanted if hard else ())
        }
        for resource, total in hard.items():
            found = {
                name: self._allocation_input(
                    name, resource, shares[name], needs[name].get(resource, ())
                )
                for name in wanted
            }
            for name, amount in allocate(resource, total, found).items():
                wanted[name][resource] = amount
        failures = []
        for name, amounts in wanted.items():
            try:
                await self._write(workspace, name, shares[name], amounts)
            except ApiError as error:
                failures.append(error)
        return next(iter(failures), None)

    def _share(self, project: str) -> Manifest | None:
        """Return the project's share as it was last read or written."""
        entry = self._world.find(RESOURCE_QUOTAS, SHARE, project)
        found = entry.original() if entry is not None else None
        written = self._written.get(project)
        if written is not None and is_older(
            self._world.version(RESOURCE_QUOTAS), written["metadata"]["resourceVersion"]
        ):
            return written
        self._written.pop(project, None)
        return found

    def _allocation_input(
        self, project: str, resource: str, share: Manifest | None, needs: tuple[RefusedNeed, ...]
    ) -> QuotaShare:
        own = [
            amount
            for entry in self._world.within(RESOURCE_QUOTAS, project)
            if entry.key.name != SHARE
            and (amount := _amounts(entry.original(), "spec", "hard").get(resource)) is not None
        ]
        asked = _amounts(share, "spec", "hard").get(resource)
        version, tried = self._unconfirmed.get(project, ("", {}))
        if version == _version(share) and resource in tried:
            asked = max(asked or ZERO, tried[resource])
        return QuotaShare(
            requested=asked,
            enforced=_amounts(share, "status", "hard").get(resource),
            used=_amounts(share, "status", "used").get(resource, ZERO),
            own_quota=min(own, default=None),
            needs=needs,
        )

    async def _write(
        self, workspace: Workspace, project: str, share: Manifest | None, amounts: Amounts
    ) -> None:
        if amounts == _amounts(share, "spec", "hard"):
            return
        client = self._world.client
        if share is not None and not amounts:
            await self._world.ensure(RESOURCE_QUOTAS, SHARE, None, namespace=project)
            self._written.pop(project, None)
            return
        body = share_manifest(workspace, project, amounts)
        try:
            if share is None:
                made = await client.create(RESOURCE_QUOTAS, body, namespace=project)
            else:
                body["metadata"]["resourceVersion"] = _version(share)
                made = await client.replace(RESOURCE_QUOTAS, body, namespace=project, name=SHARE)
        except ApiError as error:
            # After a conflict, the last write still counts until the current version is loaded. The
            # current version may be this same write, which is retried when the connection breaks.
            if error.code >= 500 or isinstance(error, Conflict):
                self._unconfirmed[project] = _version(share), amounts
            raise
        self._unconfirmed.pop(project, None)
        self._written[project] = made

    async def _report(self, name: str, hard: Amounts, shares: dict[str, Manifest | None]) -> None:
        """Update KubeSphere's status of the quota: total usage and usage by project. KubeSphere's
        controllers update it while they run.
        """
        entry = next(iter(self._world.objects_of(WORKSPACE_QUOTAS, name)), None)
        if entry is None or entry.projection.deleted is not None:
            return
        if await self._world.kubesphere.is_running():
            return
        used = {
            project: {
                resource: _amounts(share, "status", "used").get(resource, ZERO) for resource in hard
            }
            for project, share in sorted(shares.items())
        }
        limits = _texts(hard)
        total = {resource: sum((one[resource] for one in used.values()), ZERO) for resource in hard}
        status = {
            "total": {"hard": limits, "used": _texts(total)},
            "namespaces": [
                {"namespace": project, "hard": limits, "used": _texts(amounts)}
                for project, amounts in used.items()
            ],
        }
        if (entry.original().get("status") or {}) != status:
            body = {"metadata": {"resourceVersion": entry.resource_version}, "status": status}
            await self._world.client.patch(
                WORKSPACE_QUOTAS, body, name=entry.key.name, subresource="status"
            )


def workspace_hard(world: WorkspaceCache, workspace: str) -> Amounts:
    """Return the workspace quota: the lowest amount of each resource if there are several quotas."""
    return lowest(
        parse_amounts(entry.projection.hard)
        for entry in world.objects_of(WORKSPACE_QUOTAS, workspace)
        if entry.projection.deleted is None
    )


def _version(share: Manifest | None) -> str:
    return str(share["metadata"]["resourceVersion"]) if share is not None else ""


def _amounts(share: Manifest | None, part: str, field: str) -> Amounts:
    return parse_amounts(((share or {}).get(part) or {}).get(field))


def share_manifest(workspace: Workspace, project: str, amounts: Amounts) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": SHARE,
            "namespace": project,
            "labels": LABELS,
            "ownerReferences": [owner_of(workspace.name, workspace.uid)],
        },
        "spec": {"hard": _texts(amounts)},
    }


def _texts(amounts: Amounts) -> dict[str, str]:
    return {
        resource: quantity_text(resource, amount) for resource, amount in sorted(amounts.items())
    }
