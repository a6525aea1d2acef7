"""Bootstrap of a cluster: custom resource types, service accounts, roles and an administrator.

Every step is idempotent. Objects created by Quarterdeck are updated, objects of other owners are
left unchanged, and an existing administrator keeps the password.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Protocol

import msgspec
import yaml

from accounts.signin.passwords import hash_password, password_problem
from console.kube.apply import Manifest
from console.kube.compatibility import ADMISSION_POLICIES
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_TEMPLATES,
)
from console.kube.projections.tenancy import USER_LABEL, decode_binding
from rbac.authorizer import PLATFORM_ADMIN
from rbac.levels import TYPES, Level, subject_manifest
from rbac.projection import LABELS, project_global_binding

log = logging.getLogger(__name__)

MANIFESTS = Path(__file__).resolve().parent.parent / "manifests"
ADMIN = "admin"
#: Timeout in seconds for kube-apiserver to serve a new type, and the poll interval.
SERVED_WITHIN, LOOK_EVERY = 30.0, 0.1

_TYPES = {
    "Namespace": NAMESPACES,
    "ServiceAccount": GVR("", "v1", "serviceaccounts"),
    "Role": ROLES,
    "RoleBinding": ROLE_BINDINGS,
    "ClusterRole": CLUSTER_ROLES,
    "ClusterRoleBinding": CLUSTER_ROLE_BINDINGS,
    "CustomResourceDefinition": CUSTOM_RESOURCE_DEFINITIONS,
    "GlobalRole": GLOBAL_ROLES,
    "WorkspaceTemplate": WORKSPACE_TEMPLATES,
    "ValidatingAdmissionPolicy": ADMISSION_POLICIES,
    "ValidatingAdmissionPolicyBinding": replace(
        ADMISSION_POLICIES, resource="validatingadmissionpolicybindings"
    ),
}


class AdminClient(Protocol):
    """Kubernetes client with administrator credentials, for example `ConsoleClient`."""

    async def get(self, gvr: GVR, *, namespace: str = "", name: str) -> Manifest: ...
    async def create(self, gvr: GVR, body: Manifest, *, namespace: str = "") -> Manifest: ...
    async def apply(self, gvr: GVR, body: Manifest) -> Manifest: ...


async def bootstrap(client: AdminClient, *, admin_password: str | None) -> None:
    """Prepare a cluster for the console. Without a password, no administrator is created.

    Raise `ApiError`, or ValueError if the password violates the password policy.
    """
    if admin_password is not None and (problem := password_problem(admin_password)):
        raise ValueError(problem)
    await _define_types(client)
    for manifest in chain(manifests("identities.yaml"), manifests("reader.yaml")):
        await client.apply(_TYPES[manifest["kind"]], manifest)
    for manifest in manifests("roles.yaml"):
        await create_missing(client, _TYPES[manifest["kind"]], manifest)
    await _limit_console(client)
    if admin_password is not None:
        await _make_admin(client, admin_password)


def manifests(file: str) -> Iterator[Manifest]:
    yield from yaml.safe_load_all((MANIFESTS / file).read_text(encoding="utf-8"))


async def _define_types(client: AdminClient) -> None:
    for manifest in manifests("crds.yaml"):
        name = manifest["metadata"]["name"]
        found = await _find(client, CUSTOM_RESOURCE_DEFINITIONS, name)
        if found is None or _is_ours(found):
            await client.apply(CUSTOM_RESOURCE_DEFINITIONS, manifest)
    async with asyncio.timeout(SERVED_WITHIN):
        for manifest in manifests("crds.yaml"):
            while not await _is_served(client, manifest["metadata"]["name"]):
                await asyncio.sleep(LOOK_EVERY)


async def _limit_console(client: AdminClient) -> None:
    """Apply the admission policies that restrict the console's service account.

    API servers too old for ValidatingAdmissionPolicy return 404 for this type.
    """
    for manifest in manifests("admission.yaml"):
        try:
            await client.apply(_TYPES[manifest["kind"]], manifest)
        except NotFound:
            log.warning(
                "Admission policies require Kubernetes 1.30. Run `quarterdeck doctor` to list the "
                "missing protections, and `install` again after an upgrade (docs/kubernetes-versions.md)"
            )
            return


async def _is_served(client: AdminClient, name: str) -> bool:
    definition = await client.get(CUSTOM_RESOURCE_DEFINITIONS, name=name)
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


async def _make_admin(client: AdminClient, password: str) -> None:
    """Create the administrator and its role binding.

    The password is hashed before the request because etcd's history would keep a plain password.
    A user with this name that Quarterdeck did not create gets no role binding.
    """
    found = await _find(client, USERS, ADMIN)
    if found is None:
        found = await create_missing(client, USERS, admin_user(await hash_password(password)))
    if _is_ours(found):
        binding = await create_missing(client, GLOBAL_ROLE_BINDINGS, admin_binding())
        # Create the native binding that a controller would create later, so that the first page
        # works immediately.
        source, _version, _fields = decode_binding(msgspec.json.encode(binding))
        native = project_global_binding(source, has_role=True)
        if native is not None:
            await create_missing(client, CLUSTER_ROLE_BINDINGS, native)


def admin_user(hashed: str, name: str = ADMIN) -> Manifest:
    return {
        "apiVersion": USERS.group_version,
        "kind": "User",
        "metadata": {"name": name, "labels": LABELS},
        "spec": {
            "email": f"{name}@quarterdeck.local",
            "description": "Platform administrator",
            "password": hashed,
        },
    }


def admin_binding(name: str = ADMIN) -> Manifest:
    meta = {"name": f"{name}-{PLATFORM_ADMIN}", "labels": {**LABELS, USER_LABEL: name}}
    subjects = [subject_manifest("User", name)]
    return TYPES[Level.GLOBAL].binding(meta, PLATFORM_ADMIN, subjects)


async def _find(client: AdminClient, gvr: GVR, name: str) -> Manifest | None:
    try:
        return await client.get(gvr, name=name)
    except NotFound:
        return None


async def create_missing(client: AdminClient, gvr: GVR, manifest: Manifest) -> Manifest:
    """Create an object unless it exists, and return the stored object.

    Retry on 404 because an API server replica may not serve a newly established type yet.
    """
    async with asyncio.timeout(SERVED_WITHIN):
        while True:
            try:
                return await client.create(gvr, manifest)
            except Conflict:
                return await client.get(gvr, name=manifest["metadata"]["name"])
            except NotFound:
                await asyncio.sleep(LOOK_EVERY)


def _is_ours(found: Manifest) -> bool:
    return LABELS.items() <= (found["metadata"].get("labels") or {}).items()
