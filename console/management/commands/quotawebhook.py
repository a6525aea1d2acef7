"""`quarterdeck quotawebhook`: print the webhook that admits pods and claims as soon as their project
gets free quota of its workspace.
"""

import base64
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from django.conf import settings
from django.core.management import BaseCommand, CommandError

from console.environment import secret
from console.management.commands.serve import is_secret
from workspaces.quota_webhook import webhook_manifest


class Command(BaseCommand):
    help = "Print the ValidatingWebhookConfiguration for workspace quotas (docs/workspaces.md)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--ca-file",
            type=Path,
            help="certificate authority of BASE_URL, unless kube-apiserver trusts it anyway",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if urlsplit(settings.BASE_URL).scheme != "https":
            raise CommandError("kube-apiserver calls webhooks only over HTTPS, see BASE_URL")
        if not is_secret(secret("SECRET_KEY")):
            raise CommandError("Set SECRET_KEY to the key of the web process")
        path: Path | None = options["ca_file"]
        try:
            bundle = base64.b64encode(path.read_bytes()).decode() if path is not None else ""
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from error
        self.stdout.write(yaml.safe_dump(webhook_manifest(bundle), sort_keys=False))
