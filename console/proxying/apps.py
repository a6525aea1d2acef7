from django.apps import AppConfig


class ProxyingConfig(AppConfig):
    name = "console.proxying"
    label = "proxying"
