"""`quarterdeck administrator`: print a platform administrator for `kubectl create`.

A console in a pod has no permission to create one. The password is only shown to the person who
runs the command, not in a log.
"""

import asyncio
import json
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.bootstrap import ADMIN, admin_binding, admin_user
from accounts.signin.passwords import hash_password
from console.kube.names import is_dns_subdomain
from console.management.commands.install import new_password


class Command(BaseCommand):
    help = "Print a platform administrator as objects for `kubectl create -f -`."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default=ADMIN, help=f"name of the user, default {ADMIN}")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        if not is_dns_subdomain(name, longest=63):
            raise CommandError(
                f"{name!r} can't be the name of a user: use up to 63 lowercase letters, digits, "
                "hyphens and dots"
            )
        password = new_password()
        hashed = asyncio.run(hash_password(password))
        items = [admin_user(hashed, name), admin_binding(name)]
        self.stdout.write(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2)
        )
        self.stderr.write(f"Administrator: {name} / {password} (shown once)")
