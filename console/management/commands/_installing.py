"""What `install` and `demo` share: making a cluster ready and getting the console's three tokens."""

import asyncio
import base64

from django.core.management import CommandError

from accounts.bootstrap import bootstrap
from console.kube.client import ConsoleClient
from console.kube.gvr import GVR
from console.kube.kubeconfig import NAMESPACE, ROLES, service_account

SECRETS = GVR("", "v1", "secrets")
#: Seconds that the cluster's token controller has to fill in the tokens.
TOKEN_TIMEOUT = 20.0


async def install_into(client: ConsoleClient, *, admin_password: str) -> dict[str, str]:
    """Each role's token, once everything is there. Raises `ApiError` and CommandError."""
    await bootstrap(client, admin_password=admin_password)
    return {role: await _token(client, role) for role in ROLES}


async def _token(client: ConsoleClient, role: str) -> str:
    """What the cluster's token controller put into the Secret of the manifest."""
    name = service_account(role)
    try:
        async with asyncio.timeout(TOKEN_TIMEOUT):
            while True:
                secret = await client.get(SECRETS, namespace=NAMESPACE, name=name)
                token = (secret.get("data") or {}).get("token")
                if token:
                    return base64.b64decode(token).decode()
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise CommandError(
            f"The cluster gave Secret {NAMESPACE}/{name} no token: does its controller manager run?"
        ) from None
