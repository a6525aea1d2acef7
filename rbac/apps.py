from django.apps import AppConfig

from console.kube.controller import register
from rbac.controllers import GlobalRoleBindingReconciler, ProjectedBindingReconciler


class RbacConfig(AppConfig):
    name = "rbac"

    def ready(self) -> None:
        register(GlobalRoleBindingReconciler)
        register(ProjectedBindingReconciler)
