"""The usage panels of pods and workloads, and the usage in the form that sets resources."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.template.loader import render_to_string

from console.actions.workloads.resources import current_usage
from console.kube.errors import NotFound, Unavailable
from console.kube.gvr import DEPLOYMENTS, GVR, POD_METRICS, PODS, Key
from console.ui.core.access import Access
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.pages.overview.world import Measuring, pod_usage
from tests.support.staticruntime import StaticRuntime
from tests.ui.details.relations.shop import (
    PerType,
    World,
    a_pod,
    everything,
    panel,
    subject_of,
    world,
)

WEB, POD = Key("shop", "web"), Key("shop", "web-2-aaaaa")
LIMITS = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}}


def container(usage: dict[str, Any], name: str = "app") -> dict[str, Any]:
    return {"name": name, "image": "shop/web:2", "resources": usage}


def measured(**used: tuple[str, str]) -> dict[str, Any]:
    """Return the usage of each container of the pod."""
    found = pod_usage("shop", POD.name)
    for name, (cpu, memory) in used.items():
        found["containers"].append({"name": name, "usage": {"cpu": cpu, "memory": memory}})
    return found


@pytest.fixture
def metrics() -> Measuring:
    other = pod_usage("shop", "web-2-bbbbb", ("20m", "64Mi"))
    other["containers"][0]["name"] = "app"
    foreign = pod_usage("team-b", POD.name, ("7", "7Gi"))
    return Measuring(nodes=[], pods=[measured(app=("250m", "500Mi")), other, foreign])


@pytest.fixture
def shop() -> World:
    objects = everything()
    for pod in objects[PODS]:
        pod["spec"] = {"containers": [container(LIMITS)], "nodeName": "node-1"}
    template = objects[DEPLOYMENTS][0]["spec"]["template"]
    template["spec"] = {"containers": [container(LIMITS)]}
    return world(objects)


@pytest.fixture(autouse=True)
def runtime(shop: World, metrics: Measuring) -> Iterator[StaticRuntime]:
    found = StaticRuntime(dict(shop), metrics=metrics)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def html_of(shop: World, gvr: GVR, key: Key, access: Access | None = None) -> str:
    return str(panel(gvr, "usage").html(subject_of(shop, gvr, key, access)))


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def text(shop: World, gvr: GVR = PODS, key: Key = POD, access: Access | None = None) -> str:
    return text_of(html_of(shop, gvr, key, access))


async def test_pod_shows_usage_against_requests_and_limits(
    shop: World, runtime: StaticRuntime
) -> None:
    await runtime.usage.take()
    html = html_of(shop, PODS, POD)
    assert "CPU 250m 100m — Memory 500Mi 256Mi 512Mi" in text_of(html)
    # Without a limit, the bar of the CPU ends at the usage. The memory is close to its limit.
    bars = re.findall(r'bar-used" data-pressure="(\w*)" width="([\d.]+)"', html)
    assert bars == [("", "100.0"), ("error", "97.7")]
    assert re.findall(r'bar-limit" d="M([\d.]+)', html) == ["40.0", "50.0"]


async def test_pod_with_several_containers_shows_each(
    runtime: StaticRuntime, metrics: Measuring
) -> None:
    objects = everything()
    found = a_pod(POD.name)
    found["spec"] = {
        "containers": [container(LIMITS), container({}, "proxy")],
        "initContainers": [
            {"name": "setup", "image": "x"},
            {"name": "mesh", "image": "x", "restartPolicy": "Always"},
        ],
    }
    objects[PODS] = [found]
    metrics.answers["pods"] = [measured(app=("250m", "500Mi"), proxy=("5m", "8Mi"))]
    await runtime.usage.take()
    shown = text(world(objects))
    assert "app Resource Used Request Limit CPU 250m 100m — Memory 500Mi 256Mi 512Mi" in shown
    assert "proxy Resource Used Request Limit CPU 5m — — Memory 8Mi — —" in shown
    assert "mesh Resource Used Request Limit CPU ? — —" in shown
    assert "setup" not in shown


async def test_chart_shows_the_last_hour_with_request_and_limit(
    shop: World, runtime: StaticRuntime, metrics: Measuring
) -> None:
    await runtime.usage.take()
    assert "usage in the last" not in html_of(shop, PODS, POD)
    metrics.answers["pods"] = [measured(app=("20m", "400Mi"))]
    await runtime.usage.take()
    html = html_of(shop, PODS, POD)
    assert "Memory usage in the last 1h: 400Mi now, peak 500Mi" in html
    assert "CPU usage in the last 1h: 20m now, peak 250m" in html
    assert re.findall(r'class="bound" data-kind="(\w+)" d="M0 ([\d.]+)H357"', html) == [
        ("request", "64"),
        ("request", "40"),
        ("limit", "0"),
    ]
    assert "request 256Mi limit 512Mi" in text_of(html)


async def test_usage_requires_permission(shop: World, runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    rights: dict[GVR, Any] = {PODS: ["shop"], POD_METRICS: ["shop"], DEPLOYMENTS: ["shop"]}
    assert "250m" in text(shop, access=PerType(rights))
    hidden = PerType({**rights, POD_METRICS: ["team-b"]})
    assert html_of(shop, PODS, POD, hidden) == ""
    assert html_of(shop, DEPLOYMENTS, WEB, hidden) == ""
    no_pods = PerType({**rights, PODS: ["team-b"]})
    assert html_of(shop, DEPLOYMENTS, WEB, no_pods) == ""


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (NotFound(404, "no such group"), ""),
        (Unavailable("the request timed out"), "metrics-server is not responding"),
    ],
)
async def test_missing_usage_is_explained_unless_it_is_not_installed(
    shop: World, runtime: StaticRuntime, metrics: Measuring, problem: Exception, expected: str
) -> None:
    metrics.answers["pods"] = problem
    await runtime.usage.take()
    shown = text(shop)
    assert (expected in shown) if expected else shown == ""
    assert "CPU ? 100m" in shown or not expected


async def test_workload_shows_the_total_of_its_pods(shop: World, runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    shown = text(shop, DEPLOYMENTS, WEB)
    assert "Total of 2 pods." in shown
    assert "CPU 270m 200m — Memory 564Mi 512Mi 1Gi" in shown


async def test_form_shows_the_highest_usage_of_each_container(
    shop: World, runtime: StaticRuntime, metrics: Measuring
) -> None:
    await runtime.usage.take()
    assert usage_text(shop) == "app 250m 500Mi used now at most, in 2 pods"
    metrics.answers["pods"] = [measured(app=("30m", "64Mi"))]
    await runtime.usage.take()
    assert usage_text(shop) == "app 30m 64Mi used now"
    metrics.answers["pods"] = []
    await runtime.usage.take()
    assert usage_text(shop) == "app No usage yet"


def usage_text(shop: World) -> str:
    usage = current_usage(subject_of(shop, DEPLOYMENTS, WEB))
    return text_of(render_to_string("ui/_container_usage.html", {"usage": usage}))


async def test_form_shows_usage_only_with_permission(shop: World, runtime: StaticRuntime) -> None:
    await runtime.usage.take()
    rights: dict[GVR, Any] = {DEPLOYMENTS: ["shop"], PODS: ["shop"], POD_METRICS: ["team-b"]}
    usage = current_usage(subject_of(shop, DEPLOYMENTS, WEB, PerType(rights)))
    assert (usage.by_container, usage.note) == ({}, "")
