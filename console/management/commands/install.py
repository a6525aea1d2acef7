"""`quarterdeck install`: prepare a cluster for `serve` and `controllers`."""

import asyncio
import os
import secrets
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.bootstrap import bootstrap
from console.kube.clients import ConsoleClient
from console.kube.credentials import KUBECONFIG_LIFETIME, Credentials, NoCluster
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import SECRETS, USERS
from console.kube.kubeconfig import (
    ISSUER,
    NAMESPACE,
    ROLES,
    service_account,
    write_console_kubeconfig,
)
from console.kube.transport import Transport


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


async def apply_manifests(transport: Transport) -> None:
    """Apply `manifests/` without creating an administrator."""
    try:
        await bootstrap(ConsoleClient(transport), admin_password=None)
    finally:
        await transport.close()


def new_password() -> str:
    """Return a random password that satisfies the password rules."""
    return secrets.token_urlsafe(12) + "aA1"


class Command(BaseCommand):
    help = "Apply manifests/, create the first administrator, and write the console's kubeconfig."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--kubeconfig", type=Path, help="kubeconfig of a cluster administrator")
        source.add_argument(
            "--in-cluster",
            action="store_true",
            help="use the pod's service account, and only apply manifests/",
        )
        parser.add_argument("--out", type=Path, help="path of the console's kubeconfig")

    def handle(self, *args: Any, kubeconfig: Path | None, out: Path | None, **options: Any) -> None:
        if (kubeconfig is None) != (out is None):
            raise CommandError("Use --kubeconfig and --out together, or --in-cluster alone")
        if kubeconfig is not None and out is not None:
            self.write_kubeconfig(kubeconfig, out)
            return
        try:
            asyncio.run(apply_manifests(Transport(Credentials("admin"))))
        except (NoCluster, ApiError, OSError) as error:
            raise CommandError(str(error)) from error

    def write_kubeconfig(self, kubeconfig: Path, out: Path) -> None:
        try:
            transport = Transport(Credentials("admin", str(kubeconfig)))
            ca_file = transport.credentials.ca_file
            if ca_file is None:
                raise CommandError("The kubeconfig contains no certificate authority")
            tokens, password = asyncio.run(self.prepare(transport))
            write_console_kubeconfig(out, transport.credentials.host, ca_file, tokens)
            asyncio.run(revoke(transport))
        except (NoCluster, ApiError, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if password:
            self.stdout.write(f"Administrator: admin / {password} (shown once)")
        self.stdout.write(f"Set KUBECONFIG={out.resolve()} for `serve` and `controllers`")

    async def prepare(self, transport: Transport) -> tuple[dict[str, str], str]:
        """Return the tokens for the kubeconfig, and the generated administrator password or ""."""
        client = ConsoleClient(transport)
        try:
            given = os.environ.get("QUARTERDECK_ADMIN_PASSWORD", "")
            password = given or new_password()
            new = not await exists(client)
            tokens = await install_into(client, admin_password=password)
        finally:
            await transport.close()
        return tokens, password if new and not given else ""


async def revoke(transport: Transport) -> None:
    """Delete old tokens. Call this after the new kubeconfig is written."""
    try:
        await revoke_old(ConsoleClient(transport))
    finally:
        await transport.close()


async def exists(client: ConsoleClient) -> bool:
    """Return True if the User `admin` exists."""
    try:
        await client.get(USERS, name="admin")
    except NotFound:
        return False
    return True
