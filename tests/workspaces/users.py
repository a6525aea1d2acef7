"""Users of a workspace on a real control plane, who use the console's pages and kubectl."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from typing import Any

import yaml
from django.test import AsyncClient

from console.kube.gvr import GVR, PODS, WORKSPACE_ROLE_BINDINGS
from console.kube.identity import Identity
from rbac.process_clusters import get_authorizer
from tests.contract.client import JSON
from tests.controlplane.waiting import pause
from tests.rbac.objects import IAM, Manifest
from tests.workspaces.conftest import Installed, Tenancy

WAIT = 30.0


class Person:
    """A user of the console and of kubectl."""

    def __init__(self, tenancy: Tenancy, name: str) -> None:
        self._cluster, self.name = tenancy.cluster, name
        self._client = AsyncClient()

    async def get(self, url: str) -> Any:
        return await self._client.get(url, headers={"X-Person": self.name})

    async def post(self, url: str, **fields: str) -> Any:
        return await self._client.post(url, fields, headers={"X-Person": self.name})

    def kubectl(
        self, *arguments: str, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self._cluster.kubectl(
            "--as", self.name, "--as-group", "system:authenticated", *arguments, input=stdin
        )

    def applies(self, manifest: str, project: str) -> bool:
        return self.kubectl("apply", "-n", project, "-f", "-", stdin=manifest).returncode == 0

    def may(self, verb: str, project: str) -> bool:
        access = get_authorizer().access_for(Identity(self.name))
        return access.can(verb, PODS, namespace=project)


def apply(installed: Installed, *objects: Manifest) -> None:
    """Create or update objects as the administrator, with server-side apply and force."""
    for item in objects:
        meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
        group, _, version = item["apiVersion"].rpartition("/")
        gvr = GVR(group, version, f"{item['kind'].lower()}s")
        _ask(
            installed, "PATCH", f"{_path(gvr, meta)}?fieldManager=tests&force=true",
            {**item, "metadata": meta}, "application/apply-patch+yaml",
        )  # fmt: skip


def change(installed: Installed, gvr: GVR, name: str, patch: Manifest, namespace: str = "") -> None:
    _ask(installed, "PATCH", gvr.path(namespace, name), patch, "application/merge-patch+json")


def delete(installed: Installed, gvr: GVR, name: str, namespace: str = "") -> None:
    """Delete an object. Finalizers can delay the removal."""
    _ask(installed, "DELETE", gvr.path(namespace, name))


def _path(gvr: GVR, meta: Manifest) -> str:
    return gvr.path(meta.get("namespace", ""), meta["name"])


def _ask(installed: Installed, method: str, path: str, body: Any = None, kind: str = JSON) -> None:
    answer = installed.cluster.api.request(method, path, body, content_type=kind)
    assert answer.status in (200, 201, 202), (method, path, answer.body)


def read(installed: Installed, gvr: GVR, name: str, namespace: str = "") -> Any:
    """Return an object, or None if it doesn't exist."""
    answer = installed.cluster.api.get(gvr.path(namespace, name))
    assert answer.status in (200, 404), answer.body
    return answer.json() if answer.status == 200 else None


def listed(
    installed: Installed, gvr: GVR, namespace: str = "", workspace: str = ""
) -> list[Manifest]:
    """Return the objects of a type. With `workspace`, only objects labeled with this workspace."""
    query = f"?labelSelector=kubesphere.io/workspace={workspace}" if workspace else ""
    answer = installed.cluster.api.get(gvr.path(namespace) + query)
    assert answer.status == 200, answer.body
    found: list[Manifest] = answer.json()["items"]
    return found


def is_gone(installed: Installed, gvr: GVR, name: str, namespace: str = "") -> bool:
    return read(installed, gvr, name, namespace) is None


async def until(check: Callable[[], Any], what: str, seconds: float = WAIT) -> Any:
    began = time.monotonic()
    while (waited := time.monotonic() - began) < seconds:
        found = check()
        if found:
            return found
        await asyncio.sleep(pause(waited))
    raise AssertionError(f"no {what} within {seconds} s")


def pod(name: str, cpu: str = "100m") -> str:
    container = {
        "name": "main",
        "image": "registry.example/none:1",
        "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}},
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [container]},
        }
    )


def template(name: str, manager: str) -> Manifest:
    return {
        "apiVersion": "tenant.kubesphere.io/v1alpha2",
        "kind": "WorkspaceTemplate",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"manager": manager}}},
    }


def quota(workspace: str, **hard: str) -> Manifest:
    return {
        "apiVersion": "quota.kubesphere.io/v1alpha2",
        "kind": "ResourceQuota",
        "metadata": {"name": workspace},
        "spec": {
            "selector": {"kubesphere.io/workspace": workspace},
            "quota": {"hard": {name.replace("_", "."): text for name, text in hard.items()}},
        },
    }


#: Labels of a RoleBase that applies to all projects.
OF_PROJECTS = {"scope.kubesphere.io/namespace": "", "scope.kubesphere.io/devops": ""}


def base(name: str, kind: str, role: str, rules: Any, **labels: str) -> Manifest:
    """Return a RoleBase."""
    version = "rbac.authorization.k8s.io/v1" if kind == "Role" else f"{IAM}/v1alpha2"
    metadata = {"name": role, "annotations": {"kubesphere.io/creator": "system"}}
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": "RoleBase",
        "metadata": {"name": name, "labels": labels},
        "role": {"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules},
    }


def bound_to(installed: Installed, workspace: str, user: str) -> list[str]:
    """Return the names of the workspace's roles that are bound to the user."""
    return [
        item["roleRef"]["name"]
        for item in listed(installed, WORKSPACE_ROLE_BINDINGS, workspace=workspace)
        if any(subject["name"] == user for subject in item["subjects"])
    ]
