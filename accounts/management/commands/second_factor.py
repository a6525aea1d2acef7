"""`quarterdeck second_factor`: reset a second factor if an administrator lost phone and recovery
codes.
"""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from accounts.mfa import factors
from accounts.models import SecondFactor


class Command(BaseCommand):
    help = "List users with a second factor, or reset a user's second factor."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="list users with a second factor")
        reset = actions.add_parser(
            "reset", help="remove a user's second factor; the user signs in with the password only"
        )
        reset.add_argument("user")

    def handle(self, *args: Any, action: str, user: str = "", **options: Any) -> None:
        if action == "reset" and not factors.disable(user):
            raise CommandError(f"User {user} has no second factor")
        for factor in SecondFactor.objects.order_by("user"):
            self.stdout.write(f"{factor.user}  since {factor.created:%Y-%m-%d %H:%M} UTC")
