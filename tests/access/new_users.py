"""Create users with the form of the console."""

import re
from typing import Any

from console.kube.gvr import GLOBAL_ROLE_BINDINGS
from tests.access.conftest import Browser
from tests.support.staticruntime import StaticRuntime

NEW = "/access/accounts/new"
FIELDS = {"name": "dora", "email": "dora@example.com", "password": "Quarterdeck-7"}


def offered(html: str) -> dict[str, bool]:
    """Return the role options of the form, mapped to True if selected."""
    found = re.findall(r'<option value="([^"]*)"( selected)?', html.partition('name="role"')[2])
    return {name: bool(chosen) for name, chosen in found}


def bindings_of(runtime: StaticRuntime, name: str) -> list[str]:
    found = runtime.console.of(GLOBAL_ROLE_BINDINGS).values()
    return [
        one["roleRef"]["name"]
        for one in found
        if [subject["name"] for subject in one["subjects"]] == [name]
    ]


async def create_user(runtime: StaticRuntime, browser: Browser, **fields: Any) -> Any:
    return await browser.post(NEW, {**FIELDS, **fields})
