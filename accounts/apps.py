from django.apps import AppConfig

from accounts.controllers import UserReconciler
from console.kube.controller import register


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        register(UserReconciler)
