"""What is not even sent."""

from typing import Any

import pytest

from console.kube.client import UserClient
from console.kube.errors import Conflict
from console.kube.gvr import CONFIG_MAPS
from console.kube.identity import Identity


class Silent:
    """The way to a server that nobody may take."""

    async def request(self, *_arguments: Any, **_options: Any) -> Any:
        raise AssertionError("this was sent")


@pytest.mark.parametrize("version", ["", "demo", "-1", "1.5", "٣", "1" * 30, "1\n"])
async def test_a_version_that_no_server_gave_out_is_a_conflict(version: str) -> None:
    """kube-apiserver fails of these with a 500."""
    client = UserClient(Silent(), Identity("jane"))  # type: ignore[arg-type]
    body = {"metadata": {"resourceVersion": version}}
    with pytest.raises(Conflict):
        await client.patch(CONFIG_MAPS, body, namespace="shop", name="a")
    with pytest.raises(Conflict):
        await client.replace(CONFIG_MAPS, body, namespace="shop", name="a")
