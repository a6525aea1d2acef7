"""`manage.py install`: what a cluster needs before `serve` and `controllers` can work with it."""

import asyncio
import base64
import os
import secrets
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.bootstrap import bootstrap
from console.kube.client import ConsoleClient, Credentials, NoCluster, Transport
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import GVR, USERS
from console.kube.kubeconfig import NAMESPACE, ROLES, service_account, write_console_kubeconfig

SECRETS = GVR("", "v1", "secrets")
#: Seconds that the cluster's token controller has to fill in the tokens.
TOKEN_TIMEOUT = 20.0


class Command(BaseCommand):
    help = "Apply manifests/, make a first administrator, and write the console's kubeconfig."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--kubeconfig", type=Path, required=True, help="an administrator's")
        parser.add_argument("--out", type=Path, required=True, help="where to write the console's")

    def handle(self, *args: Any, kubeconfig: Path, out: Path, **options: Any) -> None:
        try:
            transport = Transport(Credentials("admin", str(kubeconfig)))
            tokens, password = asyncio.run(self.prepare(transport))
            ca_file = transport.credentials.ca_file
            if ca_file is None:
                raise CommandError("The kubeconfig names no certificate authority")
            write_console_kubeconfig(out, transport.credentials.host, ca_file, tokens)
        except (NoCluster, ApiError, OSError) as error:
            raise CommandError(str(error)) from error
        if password:
            self.stdout.write(f"Administrator: admin / {password} (shown once)")
        self.stdout.write(f"Set KUBECONFIG={out.resolve()} for `serve` and `controllers`")

    async def prepare(self, transport: Transport) -> tuple[dict[str, str], str]:
        """Each role's token, and the new administrator's password or ""."""
        client = ConsoleClient(transport)
        try:
            given = os.environ.get("QUARTERDECK_ADMIN_PASSWORD", "")
            password = given or secrets.token_urlsafe(12) + "aA1"
            new = not await exists(client)
            await bootstrap(client, admin_password=password)
            tokens = {role: await service_account_token(client, role) for role in ROLES}
        finally:
            await transport.close()
        return tokens, password if new and not given else ""


async def exists(client: ConsoleClient) -> bool:
    """Whether the cluster has a User `admin` already."""
    try:
        await client.get(USERS, name="admin")
    except NotFound:
        return False
    return True


async def service_account_token(client: ConsoleClient, role: str) -> str:
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
