"""Masked fields of a kind don't occur in any format of its pages."""

import json
from collections.abc import Iterator

import pytest

from console.kube.gvr import NAMESPACES, USERS, Key
from console.ui.core.links import detail_url
from console.ui.core.manifests import MASK, mask_values
from console.ui.core.registry import kinds
from console.ui.details.panels.standard import tabs_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import Obj
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs

CANARY = "$2a$10$canary-of-a-hash"
USER: Obj = {
    "metadata": {
        "name": "eve",
        "uid": "u-eve",
        "resourceVersion": "1",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"password": CANARY})
        },
    },
    "spec": {"email": "eve@example.com", "password": CANARY},
}


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    informers = {
        USERS: preloaded(USERS, [USER]),
        NAMESPACES: preloaded(NAMESPACES),
    }
    found = StaticRuntime(informers)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


@pytest.mark.django_db(transaction=True)
async def test_password_is_masked_in_every_format(client_as: ClientAs) -> None:
    [kind] = [kind for kind in kinds if kind.gvr == USERS]
    key = Key("", "eve")
    urls = [detail_url("host", kind.segment, key, tab.id) for tab in tabs_of(kind)]
    urls += [detail_url("host", kind.segment, key) + f"?format={fmt}" for fmt in ("json", "yaml")]
    for url in urls:
        response = await client_as("admin").get(url)
        assert response.status_code == 200
        assert CANARY not in await text_of(response), url


def test_keys_of_masked_mappings_are_kept() -> None:
    found = mask_values(
        {"data": {"a": "1", "b": "2"}, "spec": None}, (("data",), ("spec", "x"), ("y", "z"))
    )
    assert found == {"data": {"a": MASK, "b": MASK}, "spec": None}
    assert mask_values({"metadata": {"annotations": {"a": "1"}}}, ()) == {
        "metadata": {"annotations": {"a": "1"}}
    }
