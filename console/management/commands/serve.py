"""`quarterdeck serve`: the web process of an installation."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from console.environment import secret
from console.management.commands._web import check_static_files, prepare_database, run_web
from console.web.tls import TlsPort, tls_options

#: A random text of 32 characters has more distinct characters than this, even if it is all digits.
FEWEST_DIFFERENT = 8


def is_secret(text: str) -> bool:
    """Return False for keys that are short, have few distinct characters, or come from Django's
    project template.
    """
    plain = text.startswith("django-insecure-")
    return len(text) >= 32 and len(set(text)) >= FEWEST_DIFFERENT and not plain


class Command(BaseCommand):
    help = "Serve the console for the cluster of KUBECONFIG or of the pod's service account."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="0.0.0.0", help="address to listen on")  # noqa: S104
        parser.add_argument("--port", type=int, default=settings.PORT)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        if not is_secret(secret("SECRET_KEY")):
            raise CommandError("Set SECRET_KEY to a random text of at least 32 characters")
        check_static_files()
        prepare_database()
        run_web(host, port, lambda _runtime: self.announce(), self.tls_port())

    def tls_port(self) -> TlsPort | None:
        """Return the gateway's port, if it is configured."""
        if not settings.GATEWAY_CERTIFICATE:
            return None
        authority = Path(settings.GATEWAY_CLIENT_CA) if settings.GATEWAY_CLIENT_CA else None
        certificate, key = Path(settings.GATEWAY_CERTIFICATE), Path(settings.GATEWAY_KEY)
        try:
            options = tls_options(certificate, key, authority)
        except (OSError, ValueError) as error:
            raise CommandError(f"The gateway's TLS files can't be used: {error}") from error
        return TlsPort(settings.GATEWAY_PORT, options, lambda _port: None)

    def announce(self) -> None:
        self.stdout.write(f"Quarterdeck is ready at {settings.BASE_URL}")
        self.stdout.flush()
