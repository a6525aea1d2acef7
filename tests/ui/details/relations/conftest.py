"""Serve static files by their plain names, without a manifest."""

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def plain_static(settings: Settings) -> None:
    storage = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": storage}}
