"""References to a custom resource with the kind and name of a built-in object."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    EVENTS,
    GVR,
    HORIZONTAL_POD_AUTOSCALERS,
    NAMESPACES,
    PODS,
    STATEFUL_SETS,
)
from console.kube.informer import Informer
from console.kube.projections.custom import decoder_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kinds.world import encoded
from tests.support.informers import bring, preloaded, take_away
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import But, namespace, pod
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

GROUP = "apps.advanced.example.org"
TYPE = GVR(GROUP, "v1", "statefulsets")
BUILT_IN = "/clusters/host/projects/shop/statefulsets/db"
CUSTOM = f"/clusters/host/projects/shop/statefulsets.{GROUP}/db"
SHOP = "/clusters/host/projects/shop"


def reference(group: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/{version}", "kind": "StatefulSet", "name": "db", **fields}


def definition() -> dict[str, Any]:
    names = {"plural": "statefulsets", "singular": "statefulset", "kind": "StatefulSet"}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"scale": scale}}
    return {
        "metadata": {"name": f"statefulsets.{GROUP}", "uid": "crd", "resourceVersion": "1"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }


def owned(name: str, group: str, version: str = "v1") -> dict[str, Any]:
    found = pod(name, "shop", waiting="CrashLoopBackOff")
    reference_ = reference(group, version, uid=f"uid-{group}", controller=True)
    found["metadata"]["ownerReferences"] = [reference_]
    return found


def meta(name: str, uid: str = "") -> dict[str, Any]:
    return {"name": name, "namespace": "shop", "uid": uid or name, "resourceVersion": "1"}


def autoscaler(name: str, group: str) -> dict[str, Any]:
    spec = {"scaleTargetRef": reference(group), "maxReplicas": 3}
    return {"metadata": meta(name), "spec": spec}


def event(name: str, group: str, uid: str = "") -> dict[str, Any]:
    return {
        "metadata": meta(name),
        "involvedObject": reference(group, namespace="shop", uid=uid),
        "type": "Warning",
        "reason": "Told",
        "message": f"about {group}",
        "lastTimestamp": "2026-11-20T12:00:00Z",
    }


@pytest.fixture
def definitions() -> Informer[Any]:
    return preloaded(CUSTOM_RESOURCE_DEFINITIONS, [definition()])


@pytest.fixture(autouse=True)
def runtime(definitions: Informer[Any]) -> Iterator[StaticRuntime]:
    built_in = {
        "metadata": meta("db", "uid-apps"),
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}},
    }
    objects: dict[GVR, list[dict[str, Any]]] = {
        NAMESPACES: [namespace("shop")],
        STATEFUL_SETS: [built_in],
        PODS: [owned("custom-0", GROUP), owned("db-0", "apps")],
        DEPLOYMENTS: [{"metadata": owned(name, name)["metadata"]} for name in (GROUP, "apps")],
        HORIZONTAL_POD_AUTOSCALERS: [autoscaler("custom", GROUP), autoscaler("built-in", "apps")],
        EVENTS: [event("custom", GROUP), event("built-in", "apps")],
    }
    found = StaticRuntime(
        {
            CUSTOM_RESOURCE_DEFINITIONS: definitions,
            **{gvr: preloaded(gvr, items) for gvr, items in objects.items()},
        }
    )
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def page(client_as: ClientAs, url: str, who: str = "admin") -> str:
    response = await client_as(who).get(url)
    html = await text_of(response)
    assert response.status_code == 200, html
    return html


def links(html: str) -> set[str]:
    return {BUILT_IN, CUSTOM} & set(re.findall(r'href="([^"]+)"', html))


@pytest.mark.parametrize("part", ["", "/resources"])
@pytest.mark.parametrize(
    ("name", "expected"), [("custom-0", {CUSTOM}), ("db-0", {BUILT_IN})], ids=["custom", "built-in"]
)
async def test_page_of_a_pod_links_the_owner_of_the_right_group(
    client_as: ClientAs, name: str, expected: set[str], part: str
) -> None:
    assert links(await page(client_as, f"{SHOP}/pods/{name}{part}")) == expected


async def test_version_of_the_owner_reference_does_not_matter(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    bring(runtime.informer(PODS), owned("older-0", GROUP, "v1alpha1"))
    assert links(await page(client_as, f"{SHOP}/pods/older-0")) == {CUSTOM}


async def test_owner_whose_type_is_not_served_is_plain_text(
    client_as: ClientAs, definitions: Informer[Any]
) -> None:
    take_away(definitions, definition())
    html = await page(client_as, f"{SHOP}/pods/custom-0")
    assert links(html) == set()
    assert "<li>StatefulSet" in html


async def test_custom_owner_is_linked_without_permission_to_list_its_type(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(TYPE, "team-a"))
    assert links(await page(client_as, f"{SHOP}/pods/custom-0", "erin")) == {CUSTOM}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"/clusters/host/deployments?columns=owner&owner=StatefulSet.{GROUP}/db", CUSTOM),
        ("/clusters/host/deployments?columns=owner&owner=StatefulSet.apps/db", BUILT_IN),
        (f"/clusters/host/horizontalpodautoscalers?target=StatefulSet.{GROUP}/db", CUSTOM),
        ("/clusters/host/horizontalpodautoscalers?target=StatefulSet.apps/db", BUILT_IN),
        (f"/clusters/host/events?object=StatefulSet.{GROUP}/db", CUSTOM),
        ("/clusters/host/events?object=StatefulSet.apps/db", BUILT_IN),
    ],
)
async def test_lists_link_and_filter_by_group_and_kind(
    client_as: ClientAs, url: str, expected: str
) -> None:
    assert links(await page(client_as, url)) == {expected}


async def test_filter_without_a_group_matches_every_group(client_as: ClientAs) -> None:
    html = await page(client_as, "/clusters/host/deployments?columns=owner&owner=StatefulSet/db")
    assert links(html) == {BUILT_IN, CUSTOM}
    # Users don't read the group of a built-in kind.
    assert "StatefulSet/db" in html and ">StatefulSet.apps/db" not in html


async def test_page_of_an_autoscaler_links_the_scaled_custom_resource(client_as: ClientAs) -> None:
    base = f"{SHOP}/horizontalpodautoscalers"
    assert links(await page(client_as, f"{base}/custom")) == {CUSTOM}
    assert links(await page(client_as, f"{base}/built-in")) == {BUILT_IN}


async def test_page_of_a_custom_resource_lists_its_autoscaler(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    custom = Informer[Any](TYPE, decoder_of((), has_state=False))
    custom.replace([encoded({"metadata": meta("db")})], "1")
    custom.connected()
    runtime._informers[TYPE] = custom
    panel = r'<section id="panel-scaled-by".*?</section>\s*</div>'
    [found] = re.findall(panel, await page(client_as, CUSTOM), re.DOTALL)
    assert f'href="{SHOP}/horizontalpodautoscalers/custom"' in found
    assert "built-in" not in found
    # Erin may not list the autoscalers of this project.
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(HORIZONTAL_POD_AUTOSCALERS, "team-a"))
    assert "horizontalpodautoscalers/custom" not in await page(client_as, CUSTOM, "erin")


async def test_scaling_warns_only_about_the_autoscaler_of_the_right_group(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    url = f"{BUILT_IN}/actions/scale"
    assert "HorizontalPodAutoscaler built-in" in await page(client_as, url)
    take_away(runtime.informer(HORIZONTAL_POD_AUTOSCALERS), autoscaler("built-in", "apps"))
    assert "HorizontalPodAutoscaler custom" not in await page(client_as, url)


async def test_events_without_a_uid_belong_to_the_object_of_their_group(
    client_as: ClientAs,
) -> None:
    html = await page(client_as, f"{BUILT_IN}/events")
    assert "about apps" in html and f"about {GROUP}" not in html


async def test_problems_of_pods_are_grouped_by_the_owner_of_the_right_group(
    client_as: ClientAs,
) -> None:
    html = await page(client_as, SHOP)
    found = re.findall(r"<li>.*?</li>", html, re.DOTALL)
    crashing = [line for line in found if "Crash loop" in line]
    assert len(crashing) == 2, crashing
    assert sum(BUILT_IN in line for line in crashing) == 1
