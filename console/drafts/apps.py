from django.apps import AppConfig


class DraftsConfig(AppConfig):
    name = "console.drafts"
    label = "drafts"
