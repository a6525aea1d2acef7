"""The list and the page of an object of every built-in kind, for kinds that the cluster serves."""

import json
from collections.abc import Iterator
from random import Random

import pytest

from console.kube.gvr import Key
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.links import detail_url, list_url
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.kind_objects import BUILT_IN, bases, create
from tests.contract.pages import console_on, known, person
from tests.controlplane.waiting import eventually
from tests.support.depth import SEED
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.also_old]


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, []) as found:
        eventually(found.served.tried.is_set, "discovery was read")
        yield found


async def get(who: str, url: str) -> str:
    answer = await ClientAs()(who).get(url)
    if answer.status_code == 302:
        # The page of a namespace is the page of its project.
        answer = await ClientAs()(who).get(answer["Location"])
    text = await text_of(answer)
    assert answer.status_code == 200, (url, text.partition("<main")[2])
    return text


async def test_every_kind_has_a_list_and_pages(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    runtime: Runtime,
) -> None:
    viewer = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    missing = [kind.segment for kind in BUILT_IN if runtime.served.serves(kind.gvr) is not True]
    assert missing == []
    for kind in BUILT_IN:
        await _pages(kind, viewer, admin, cleanup, namespace, runtime)


async def _pages(
    kind: ResourceKind,
    viewer: str,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    runtime: Runtime,
) -> None:
    where = namespace if kind.scope is Scope.NAMESPACED else ""
    rng = Random(f"{SEED} {kind.segment}")  # noqa: S311
    collection = runtime.served.api_versions.served(kind.gvr).path(where)
    made = create(admin, cleanup, collection, bases(kind), rng, where)
    name = made["metadata"]["name"]
    if not kind.uncached:
        known(runtime, kind.gvr, made)
    listed = await get(viewer, f"{list_url('host', kind.segment)}?format=json&q={name}")
    assert name in [item["name"] for item in json.loads(listed)["items"]], kind.segment
    url = detail_url("host", kind.segment, Key(where, name))
    assert name in await get(viewer, url)
    if not kind.uncached:
        text = await get(viewer, f"{url}?format=yaml")
        assert f"apiVersion: {kind.gvr.group_version}\n" in text
