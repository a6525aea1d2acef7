"""Shared by `install` and `demo`: prepare a cluster and request the console's token."""

from accounts.bootstrap import bootstrap
from console.kube.clients import ConsoleClient
from console.kube.credentials import KUBECONFIG_LIFETIME
from console.kube.errors import NotFound
from console.kube.gvr import SECRETS
from console.kube.kubeconfig import ISSUER, NAMESPACE, ROLES, service_account


async def install_into(client: ConsoleClient, *, admin_password: str) -> dict[str, str]:
    """Prepare the cluster. Return the issuer's token by role; the issuer requests the other tokens
    with it.

    Raise `ApiError`, or ValueError for a password that violates the password rules.
    """
    await bootstrap(client, admin_password=admin_password)
    token = await client.request_token(
        namespace=NAMESPACE, name=service_account(ISSUER), seconds=KUBECONFIG_LIFETIME
    )
    return {ISSUER: token}


async def revoke_old(client: ConsoleClient) -> None:
    """Delete the non-expiring tokens that earlier versions stored in Secrets. Any user who could
    read all Secrets was effectively an administrator. Raise `ApiError`.
    """
    for role in ROLES:
        try:
            await client.delete(SECRETS, namespace=NAMESPACE, name=service_account(role))
        except NotFound:
            continue
