"""The console as a Django app: imports every kind, so that each registers itself."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        autodiscover_modules("kinds.pods")
