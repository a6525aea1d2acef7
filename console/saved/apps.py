from django.apps import AppConfig


class SavedConfig(AppConfig):
    name = "console.saved"
    label = "saved"
