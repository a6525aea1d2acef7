"""Django app configuration of the console. Imports all resource kinds, which register themselves,
and the URL path converters.
"""

from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig

from console import kinds


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        """Import all modules of `console.kinds`.

        An import error or an invalid kind declaration aborts startup.
        """
        import_module("console.ui.core.clusters")
        for module in iter_modules(kinds.__path__, f"{kinds.__name__}."):
            import_module(module.name)
