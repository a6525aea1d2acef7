"""`manage.py oauth_keys`: the keys that tokens are signed with."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.models import SigningKey
from accounts.oauth import endpoint, keys


class Command(BaseCommand):
    help = (
        "List the signing keys, change to new ones, or forget one with all tokens that it signed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="every key that tokens are accepted of")
        actions.add_parser("rotate", help="sign with new keys; what was signed stays valid")
        # The names of some keys begin with "-", and are no options.
        remove = actions.add_parser(
            "remove",
            help="a key that others may know: its tokens end now",
            prefix_chars="+",
            add_help=False,
        )
        remove.add_argument("kid")

    def handle(self, *args: Any, action: str, kid: str = "", **options: Any) -> None:
        now = endpoint.clock.now()
        if action == "rotate":
            for purpose in keys.ALGORITHMS:
                keys.rotate(purpose, now)
        if action == "remove" and not keys.remove(kid):
            raise CommandError(f"There is no key {kid}")
        for key in SigningKey.objects.order_by("purpose", "-created"):
            until = f"until {key.expires:%Y-%m-%d %H:%M} UTC" if key.expires else "signing"
            self.stdout.write(f"{key.kid}  {key.purpose:6}  {until}")
