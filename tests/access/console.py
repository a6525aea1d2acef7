"""Sign in to the console, read its responses and the requests that it sent."""

from typing import Any

from tests.access.conftest import Browser
from tests.support.staticruntime import StaticRuntime


async def signed_in(name: str) -> Browser:
    found = Browser()
    await found.login(name)
    return found


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


def writes(runtime: StaticRuntime) -> list[Any]:
    return [call for call in runtime.console.calls if call[1] != "loginrecords"]
