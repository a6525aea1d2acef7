"""Create the users and workspaces of the demo."""

from accounts.bootstrap import create_missing
from accounts.signin.passwords import hash_password
from console.kube.clients import ConsoleClient
from console.kube.gvr import (
    NAMESPACES,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from devcluster.sample import workspaces


async def create_demo_users(client: ConsoleClient, password: str) -> None:
    """Create the missing objects; existing ones are not changed. Raise `ApiError`."""
    for manifest in workspaces.workspaces():
        workspace = (await create_missing(client, WORKSPACES, manifest))["metadata"]
        for project in workspaces.WORKSPACES[workspace["name"]]:
            membership = workspaces.workspace_patch(workspace["name"], workspace["uid"])
            await client.patch(NAMESPACES, membership, name=project)
    for gvr, manifests in (
        (USERS, workspaces.users(await hash_password(password))),
        (WORKSPACE_ROLES, workspaces.roles()),
        (WORKSPACE_QUOTAS, workspaces.quotas()),
        (WORKSPACE_ROLE_BINDINGS, workspaces.bindings()),
    ):
        for manifest in manifests:
            await create_missing(client, gvr, manifest)
