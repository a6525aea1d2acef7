"""`quarterdeck audit`: verify the audit trail, and configure kube-apiserver's audit webhook."""

import base64
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from console.audit import chain
from console.environment import secret
from console.management.commands.serve import is_secret
from console.ui.core.clusters import HOST
from console.views.audit.events import webhook_config


class Command(BaseCommand):
    help = "Verify the audit trail, or print the configuration of kube-apiserver's audit webhook."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        verify = commands.add_parser(
            "verify", help="report changed, removed and added records, and a truncated trail"
        )
        verify.add_argument(
            "--head",
            default="",
            metavar="SEQ:HASH",
            help="head that an earlier verification printed; it must still be part of the chain",
        )

        webhook = commands.add_parser(
            "webhook", help="print the file for kube-apiserver's --audit-webhook-config-file"
        )
        webhook.add_argument("--cluster", default=HOST, help=f"name of the cluster, default {HOST}")
        webhook.add_argument(
            "--ca-file",
            type=Path,
            help="certificate authority of BASE_URL, unless kube-apiserver trusts it anyway",
        )

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        if not is_secret(secret("SECRET_KEY")):
            raise CommandError("Set SECRET_KEY to the key of the web process")
        if command == "webhook":
            self.print_webhook(**options)
            return
        found = chain.verify(options["head"])
        for one in found.findings:
            self.stderr.write(f"Link {one.seq}: {one.text}" if one.seq else f"Also: {one.text}")
        if found.findings:
            raise CommandError(f"The audit trail is not intact: {len(found.findings)} problems")
        self.stdout.write(f"The audit trail is intact: {found.links} links, head {found.head}")

    def print_webhook(self, *, cluster: str, ca_file: Path | None, **_options: Any) -> None:
        if not settings.BASE_URL.startswith("https://"):
            # client-go sends no tokens without TLS.
            raise CommandError("kube-apiserver sends its token only over HTTPS, see BASE_URL")
        try:
            bundle = base64.b64encode(ca_file.read_bytes()).decode() if ca_file is not None else ""
        except OSError as error:
            raise CommandError(f"{ca_file} cannot be read: {error.strerror}") from error
        self.stdout.write(yaml.safe_dump(webhook_config(cluster, bundle), sort_keys=False))
