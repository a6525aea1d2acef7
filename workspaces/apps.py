from django.apps import AppConfig

from console.kube.controller import register
from workspaces.controllers import FACTORIES


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        for factory in FACTORIES:
            register(factory)
