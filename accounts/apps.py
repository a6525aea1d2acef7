"""Django app configuration that registers the account controllers and the identity provider types."""

from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig

from accounts.kubeconfigs.csr import CSRReconciler
from accounts.kubeconfigs.kubeconfig import KubeconfigReconciler
from accounts.protection.retention import LoginRecordReconciler
from accounts.providers import kinds
from accounts.users.finalizer import UserFinalizer
from accounts.users.groupbindings import GroupBindingReconciler
from accounts.users.groups import GroupReconciler
from accounts.users.reconciler import UserReconciler
from console.kube.controller import register


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        register(UserReconciler)
        register(UserFinalizer)
        register(LoginRecordReconciler)
        register(GroupReconciler)
        register(GroupBindingReconciler)
        register(KubeconfigReconciler)
        register(CSRReconciler)
        for module in iter_modules(kinds.__path__, f"{kinds.__name__}."):
            import_module(module.name)
