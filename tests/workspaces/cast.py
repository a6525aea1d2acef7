"""People of a workspace on a real control plane: through the pages, and with kubectl."""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable
from typing import Any

import yaml
from django.test import AsyncClient

from console.kube.gvr import PODS
from console.kube.identity import Identity
from rbac.current import get_authorizer
from tests.rbac.objects import user
from tests.workspaces.conftest import Tenancy

WAIT = 30.0


class Person:
    """One who uses the console, and kubectl."""

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


def apply(tenancy: Tenancy, *objects: dict[str, Any]) -> None:
    found = tenancy.cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(objects))
    assert found.returncode == 0, found.stderr


def read(tenancy: Tenancy, *arguments: str) -> Any:
    found = tenancy.cluster.kubectl("get", *arguments, "-o", "json")
    return json.loads(found.stdout) if found.returncode == 0 else None


def is_gone(tenancy: Tenancy, kind: str, name: str) -> bool:
    return read(tenancy, kind, name) is None


async def until(check: Callable[[], Any], what: str, seconds: float = WAIT) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        await asyncio.sleep(0.05)
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


def template(name: str, manager: str) -> dict[str, Any]:
    return {
        "apiVersion": "tenant.kubesphere.io/v1alpha2",
        "kind": "WorkspaceTemplate",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"manager": manager}}},
    }


def person(name: str) -> dict[str, Any]:
    made = user(name)
    del made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    return made


def bound_to(tenancy: Tenancy, workspace: str, user: str) -> list[str]:
    """The roles of the workspace that name the user."""
    found = read(tenancy, "workspacerolebindings", "-l", f"kubesphere.io/workspace={workspace}")
    return [
        item["roleRef"]["name"]
        for item in found["items"]
        if any(subject["name"] == user for subject in item["subjects"])
    ]
