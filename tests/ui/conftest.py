"""Pages' addresses, for code that links to them."""

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def _urls(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.views.urls"
