from django.apps import AppConfig

from console.kube.controller import register
from rbac.controllers import FACTORIES


class RbacConfig(AppConfig):
    name = "rbac"

    def ready(self) -> None:
        for factory in FACTORIES:
            register(factory)
