from django.apps import AppConfig
from django.conf import settings

from console.kube.controller import register
from rbac.authenticated_reads import signed_in_factories
from rbac.controllers import FACTORIES


class RbacConfig(AppConfig):
    name = "rbac"

    def ready(self) -> None:
        for factory in (*FACTORIES, *signed_in_factories(settings.AUTHENTICATED_READS)):
            register(factory)
