from collections.abc import Iterator

import pytest
from pytest_django import Settings

from console.proxying.address import ProxyBase
from console.proxying.application import ProxyApplication
from tests.logs.conftest import _site, made, world
from tests.proxying.browsing import Browser, Person

__all__ = ["_site", "made", "world"]

BASE = ProxyBase("https", "ports.example.com", 443)


@pytest.fixture
def proxying(settings: Settings) -> Iterator[ProxyBase]:
    settings.BASE_URL = "https://console.example.com"
    settings.PROXY_BASE = BASE
    yield BASE


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def browser(proxying: ProxyBase, person: Person) -> Browser:
    async def inner(scope: object, receive: object, send: object) -> None:
        raise AssertionError("this is for the console itself")

    return Browser(ProxyApplication(inner, person.presence_of))
