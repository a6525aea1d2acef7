"""`quarterdeck demo`: run the complete product in one process on an embedded cluster with sample
data.
"""

import asyncio
import os
import secrets
import socket
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import connection

from accounts.apitokens import DAYS, create_token, list_tokens, revoke_token
from accounts.bootstrap import create_missing
from accounts.myaccount.kubeconfig import console_kubeconfig_text
from accounts.oauth.clients import make_first_client
from accounts.oauth.holders import holder_of
from accounts.oauth.options import config_path
from accounts.signin.passwords import hash_password
from accounts.time import now
from accounts.users.directory import users
from console.kube import controller
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import (
    NAMESPACES,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime
from console.kube.transport import Transport
from console.management.commands._web import check_static_files, prepare_database, run_web
from console.management.commands.install import install_into
from console.ui.core.clusters import HOST
from console.ui.core.threads import in_thread
from console.web.tls import TlsPort, tls_options
from devcluster.sample import workspaces
from devcluster.sample.manifests import workspaces as workspace_descriptions
from devcluster.sample.workspaces import MEMBERS
from devcluster.server import DevCluster, DevClusterError


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


#: Users whose kubeconfigs the demo writes, and the name of the tokens in them.
KUBECONFIG_USERS, TOKEN_NAME = ("admin", "alice"), "kubeconfig of the demo"
#: The password is public, so the demo listens on loopback only.
PASSWORD = "P@88w0rd"  # noqa: S105


class Command(BaseCommand):
    help = "Run Quarterdeck on an embedded cluster with sample data that changes."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--churn", type=float, default=1.0, help="rate of changes; 0 disables them"
        )

    def handle(self, *args: Any, churn: float, **options: Any) -> None:
        check_port(settings.PORT)
        check_static_files()
        state = prepare_state_dir()
        # A persistent key, so that users stay signed in after a restart.
        settings.SECRET_KEY = persistent_secret(state / "secret_key")
        make_first_client(config_path())
        prepare_database()
        cluster = DevCluster(state / "cluster", world=True, churn=churn)
        try:
            cluster.start()
            cluster.write_kubeconfig(state / "kubeconfig")
        except DevClusterError as error:
            raise CommandError(str(error)) from error
        try:
            self.connect(cluster, state)
            own = tls_options(*cluster.serving_files, cluster.ca_file)
            settings.GATEWAY_CA = str(cluster.ca_file)
            # Any free port: several demos may run on one machine.
            tls = TlsPort(0, own, self.listening)
            run_web("127.0.0.1", settings.PORT, self.ready, tls)
        finally:
            cluster.stop()

    def listening(self, port: int) -> None:
        settings.GATEWAY_URL = f"https://127.0.0.1:{port}"

    def connect(self, cluster: DevCluster, state: Path) -> None:
        """Create users and roles, and write the kubeconfig with the console's three identities."""
        admin = Transport(Credentials("admin", str(state / "kubeconfig")))

        async def run() -> dict[str, str]:
            try:
                client = ConsoleClient(admin)
                tokens = await install_into(client, admin_password=PASSWORD)
                await make_workspaces(client)
                await create_demo_users(client, PASSWORD)
                return tokens
            finally:
                await admin.close()

        path = state / "console.kubeconfig"
        write_console_kubeconfig(path, cluster.url, cluster.ca_file, asyncio.run(run()))
        os.environ["KUBECONFIG"] = str(path)

    def ready(self, runtime: Runtime) -> None:
        async def announce() -> None:
            for gvr in runtime.required:
                await runtime.wait_synced(gvr, timeout=60)
            await in_thread(write_user_kubeconfigs)
            self.stdout.write(
                f"Quarterdeck is ready at http://127.0.0.1:{settings.PORT} (admin / {PASSWORD})"
            )
            self.stdout.flush()

        runtime.spawn(controller.run_all(runtime))
        runtime.spawn(announce())


def write_user_kubeconfigs() -> None:
    """Write the kubeconfigs of demo users, which use the API of the console, with new tokens."""
    for user in KUBECONFIG_USERS:
        entry = users().store.get(Key("", user))
        if entry is None:
            continue
        moment = now()
        for one in list_tokens(user, entry.projection.uid):
            if one.name == TOKEN_NAME:
                revoke_token(user, str(one.id))
        lasts = timedelta(days=DAYS[-1])
        token = create_token(holder_of(entry), TOKEN_NAME, lasts, moment, read_only=False)
        path = settings.STATE_DIR / f"{user}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(console_kubeconfig_text(user, token, moment + lasts))
    # This thread has no other use for its database connection.
    connection.close()


async def make_workspaces(client: ConsoleClient) -> None:
    """Create the workspaces of the sample projects, if the cluster has the workspace CRD."""
    managers = {place: who for place, role, who in MEMBERS if role == "admin"}
    for name, description in workspace_descriptions().items():
        notes = {"kubesphere.io/description": description}
        body = {
            "apiVersion": WORKSPACE_TEMPLATES.group_version,
            "kind": "WorkspaceTemplate",
            "metadata": {"name": name, "annotations": notes},
            "spec": {
                "template": {"spec": {"manager": managers.get(name, "admin")}},
                "placement": {"clusters": [{"name": HOST}]},
            },
        }
        with suppress(Conflict, NotFound):
            await client.create(WORKSPACE_TEMPLATES, body)


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CommandError(
                f"Port {port} is not available ({error.strerror}). Choose another with PORT=…"
            ) from error


def prepare_state_dir() -> Path:
    state: Path = settings.STATE_DIR
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        (state / ".writable").touch()
        (state / ".writable").unlink()
    except OSError as error:
        raise CommandError(f"Cannot write to {state}: {error.strerror}") from error
    return state


def persistent_secret(path: Path) -> str:
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(48))
    return path.read_text()
