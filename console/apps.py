"""The console as a Django app: imports every kind, so that each registers itself, and what its addresses
are made of."""

from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig

from console import kinds


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        """A kind that cannot be imported or is declared wrongly stops the process here."""
        import_module("console.ui.converters")
        for module in iter_modules(kinds.__path__, f"{kinds.__name__}."):
            import_module(module.name)
