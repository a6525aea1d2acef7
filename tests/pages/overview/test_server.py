"""The Kubernetes version on the overview page of a cluster."""

import pytest

from console.kube.api_discovery import Discovered, ServedType
from console.kube.compatibility import ServerVersion
from console.ui.core.registry import kinds
from tests.pages.overview.pages import CLUSTER, PLATFORM, page, section
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs


def become(runtime: StaticRuntime, minor: int) -> None:
    """Make the cluster a server of this version that serves the console's kinds only."""
    runtime.served.version = ServerVersion((1, minor), f"v1.{minor}.0<b>")
    types = [ServedType(one.gvr, one.api_kind, "", (), True, frozenset()) for one in kinds]
    runtime.served.replace(Discovered(types))


@pytest.mark.parametrize(
    ("minor", "text"),
    [
        (20, "Not supported (supported versions: 1.21 to 1.36)"),
        (21, "Supported (1.21 to 1.36)"),
        (36, "Supported (1.21 to 1.36)"),
        (37, "Newer than the tested versions (1.21 to 1.36)"),
    ],
)
async def test_page_shows_whether_the_version_is_supported(
    runtime: StaticRuntime, client_as: ClientAs, minor: int, text: str
) -> None:
    become(runtime, minor)
    html = await page(client_as, CLUSTER, "admin")
    assert section(html, "server").startswith(f"Kubernetes v1.{minor}.0&lt;b&gt; {text}")
    assert section(await page(client_as, PLATFORM, "admin"), "server") == ""


async def test_missing_protections_are_shown_to_cluster_administrators(
    runtime: StaticRuntime, client_as: ClientAs
) -> None:
    assert section(await page(client_as, CLUSTER, "admin"), "server") == ""
    become(runtime, 21)
    found = section(await page(client_as, CLUSTER, "admin"), "server")
    assert "can act as the console" in found and "Debug containers are not available." in found
    found = section(await page(client_as, CLUSTER, "alice"), "server")
    assert found == "Kubernetes v1.21.0&lt;b&gt; Supported (1.21 to 1.36)"
