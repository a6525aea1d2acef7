from django.apps import AppConfig


class HistoryConfig(AppConfig):
    name = "console.history"
    label = "history"
