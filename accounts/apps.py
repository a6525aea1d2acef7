from django.apps import AppConfig

from accounts.controllers import UserReconciler
from accounts.farewell import FarewellReconciler
from accounts.protection.retention import LoginRecordReconciler
from console.kube.controller import register


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        register(UserReconciler)
        register(FarewellReconciler)
        register(LoginRecordReconciler)
