"""What `install` and `demo` share: making a cluster ready and getting the console's credential."""

from accounts.bootstrap import bootstrap
from console.kube.client import ConsoleClient
from console.kube.credentials import KUBECONFIG_LIFETIME
from console.kube.errors import NotFound
from console.kube.gvr import SECRETS
from console.kube.kubeconfig import ISSUER, NAMESPACE, ROLES, service_account


async def install_into(client: ConsoleClient, *, admin_password: str) -> dict[str, str]:
    """The token of the service account that asks for those of the others, by its role, once everything is
    there. Raises `ApiError`, and ValueError for a password that breaks the rule."""
    await bootstrap(client, admin_password=admin_password)
    token = await client.request_token(
        namespace=NAMESPACE, name=service_account(ISSUER), seconds=KUBECONFIG_LIFETIME
    )
    return {ISSUER: token}


async def revoke_old(client: ConsoleClient) -> None:
    """Deletes the tokens without end that earlier versions had in Secrets: whoever could read all Secrets
    was an administrator. Raises `ApiError`."""
    for role in ROLES:
        try:
            await client.delete(SECRETS, namespace=NAMESPACE, name=service_account(role))
        except NotFound:
            continue
