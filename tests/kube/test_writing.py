"""Requests that the client refuses to send."""

from typing import Any

import pytest

from console.kube.clients import ConsoleClient, UserClient
from console.kube.errors import Conflict
from console.kube.gvr import CONFIG_MAPS
from console.kube.identity import Identity
from console.kube.leader import NotLeading


class Silent:
    """A transport that must not be used."""

    async def request(self, *_arguments: Any, **_options: Any) -> Any:
        raise AssertionError("this was sent")


@pytest.mark.parametrize("version", ["", "demo", "-1", "1.5", "٣", "1" * 30, "1\n"])
async def test_invalid_resource_version_is_a_conflict(version: str) -> None:
    """kube-apiserver would respond with 500."""
    client = UserClient(Silent(), Identity("jane"))  # type: ignore[arg-type]
    body = {"metadata": {"resourceVersion": version}}
    with pytest.raises(Conflict):
        await client.patch(CONFIG_MAPS, body, namespace="shop", name="a")
    with pytest.raises(Conflict):
        await client.replace(CONFIG_MAPS, body, namespace="shop", name="a")


async def test_writes_require_the_lease() -> None:
    def check() -> None:
        raise NotLeading("another one leads")

    client = ConsoleClient(Silent()).guarded(check)  # type: ignore[arg-type]
    body = {"metadata": {"name": "a", "resourceVersion": "1"}}
    for writing in (
        client.create(CONFIG_MAPS, body, namespace="shop"),
        client.replace(CONFIG_MAPS, body, namespace="shop", name="a"),
        client.patch(CONFIG_MAPS, body, namespace="shop", name="a"),
        client.apply(CONFIG_MAPS, body),
        client.delete(CONFIG_MAPS, namespace="shop", name="a"),
    ):
        with pytest.raises(NotLeading):
            await writing
    with pytest.raises(AssertionError, match="this was sent"):
        await client.get(CONFIG_MAPS, namespace="shop", name="a")
