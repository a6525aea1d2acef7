"""`quarterdeck oauth_keys`: manage the token signing keys."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.models import SigningKey
from accounts.oauth import keys
from accounts.time import now


class Command(BaseCommand):
    help = "List or rotate the token signing keys, or remove a key and invalidate its tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="list all keys whose tokens are accepted")
        actions.add_parser("rotate", help="create new signing keys; existing tokens stay valid")
        # Key IDs can start with "-" and must not be parsed as options.
        remove = actions.add_parser(
            "remove",
            help="remove a compromised key and invalidate its tokens",
            prefix_chars="+",
            add_help=False,
        )
        remove.add_argument("kid")

    def handle(self, *args: Any, action: str, kid: str = "", **options: Any) -> None:
        if action == "rotate":
            for purpose in keys.ALGORITHMS:
                keys.rotate(purpose, now())
        if action == "remove" and not keys.remove(kid):
            raise CommandError(f"Key {kid} not found")
        for key in SigningKey.objects.order_by("purpose", "-created"):
            until = f"until {key.expires:%Y-%m-%d %H:%M} UTC" if key.expires else "signing"
            self.stdout.write(f"{key.kid}  {key.purpose:6}  {until}")
