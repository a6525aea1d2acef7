"""Merged logs of all pods of a workload, a service or a label selector."""

import re
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.logs import targets
from console.ui.core.links import log_url
from devcluster.logs.runs import TEXT_ANNOTATION
from tests.contract.pages import known
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Obj
from tests.logs.conftest import World
from tests.logs.followers import Browser, following, written
from tests.logs.pages import get
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)

SERVICE_PATH = "/api/v1/namespaces/default/services"
APPS = "/apis/apps/v1/namespaces/default/deployments"


def deployment(name: str, replicas: int, *containers: str, **notes: str) -> Obj:
    labels = {"app": name}
    spec = [{"name": one, "image": f"example/{one}:1"} for one in containers or ("app",)]
    template = {"metadata": {"labels": labels, "annotations": notes}, "spec": {"containers": spec}}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": name}, "spec": wanted}


def started(world: World, name: str, count: int, *containers: str, **notes: str) -> str:
    world.api.post(APPS, deployment(name, count, *containers, **notes))
    running(world, name, count)
    return log_url("host", "deployments", Key("default", name)).partition("?")[0]


def running(world: World, name: str, count: int) -> list[str]:
    """Wait until the console received `count` running pods, and return their names."""

    def names() -> list[str]:
        pods = world.runtime.informer(PODS).store.snapshot().entries.values()
        found = [one for one in pods if one.projection.labels.get("app") == name]
        up = [one.key.name for one in found if "running" in _state(one.original())]
        return up if len(up) == count else []

    return eventually(names, f"{count} pods of {name} run")


def _state(pod: Any) -> Any:
    statuses = pod.get("status", {}).get("containerStatuses") or [{}]
    return statuses[0].get("state") or {}


async def test_deployment_log_contains_the_lines_of_all_its_pods(world: World) -> None:
    path = started(world, "shop", 3)
    names = running(world, "shop", 3)
    html = await get(f"{path}?timestamps=1")
    assert set(re.findall(r'"log-source">([^<]+)<', html)) == set(names)
    times = re.findall(r'<a class="log-time" href="\S+?#(\S+?)"', html)
    assert times == sorted(times)
    text = await get(f"{path}?format=text")
    assert {line.split("]")[0][1:] for line in text.splitlines()} == set(names)
    # The same log by label selector.
    (url,) = re.findall(r'href="(\S+/log\?label=\S+?)#', html)
    assert set(names) <= set(re.findall(r'"log-source">([^<]+)<', await get(unescape(url))))


async def test_pods_with_several_containers_are_merged(world: World) -> None:
    path = started(world, "two", 1, "app", "proxy")
    (name,) = running(world, "two", 1)
    html = await get(f"{path}?container=*")
    marks = set(re.findall(r'"log-source">([^<]+)<', html))
    assert marks == {f"{name}/app", f"{name}/proxy"}
    assert "proxy" in await get(f"{path}?container=proxy")


async def test_new_pod_joins_from_its_first_line(world: World) -> None:
    """Regardless of the number of lines requested of the existing pods."""
    path = started(world, "grows", 1, **{TEXT_ANNOTATION: "one\ntwo\nthree"})
    (first,) = running(world, "grows", 1)
    async with following(Browser(f"{path}?tail=1")) as browser:
        await browser.until(1)
        assert browser.sources == [first]
        world.api.call("PATCH", f"{APPS}/grows", {"spec": {"replicas": 2}})
        second = next(name for name in running(world, "grows", 2) if name != first)
        while second not in browser.at:
            await browser.hear()
        assert browser.sources == [first, second]
        with world.api.open(
            "GET", f"/api/v1/namespaces/default/pods/{second}/log?timestamps=true"
        ) as response:
            begin = response.readline().decode()[:30]
        assert begin in {stamp for stamp, _ in browser.lines}


async def test_deleted_pod_does_not_affect_the_others(world: World) -> None:
    path = started(world, "loses", 2)
    gone, _stays = running(world, "loses", 2)
    async with following(Browser(path)) as browser:
        await browser.until(4)
        world.stop(gone)
        while "The pod no longer exists." not in browser.notes:
            await browser.hear()
        await browser.until(len(browser.lines) + 1)


async def test_recreated_pod_with_the_same_name_is_followed(world: World) -> None:
    labels = {"app": "kept"}
    containers = [{"name": "app", "image": "example/app:1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    sets = APPS.replace("deployments", "statefulsets")
    world.api.post(sets, {"metadata": {"name": "kept"}, "spec": spec})
    running(world, "kept", 1)
    async with following(
        Browser("/clusters/host/projects/default/statefulsets/kept/log")
    ) as browser:
        await browser.until(1)
        pods, key = world.runtime.informer(PODS).store, Key("default", "kept-0")
        before = pods.get(key)
        assert before is not None
        world.stop("kept-0")

        def is_another() -> bool:
            entry = pods.get(key)
            if entry is None or entry.projection.uid == before.projection.uid:
                return False
            return "running" in _state(entry.original())

        eventually(is_another, "it is made again")
        # The new pod may exist before the deletion of the old one is noticed. Its start time has a
        # resolution of seconds, so its first lines may seem older than the last line of the old
        # pod.
        heard = browser.lines[-1][0]
        while browser.lines[-1][0] == heard or browser.lines[-1] not in written(world, "kept-0"):
            await browser.hear()
        assert browser.sources == ["kept-0"]
        stamps = [stamp for stamp, _ in browser.lines]
        assert stamps == sorted(set(stamps))


async def test_pod_recreated_after_a_pause_is_followed(world: World) -> None:
    """Its log had ended by then. Repeated several times."""
    pod = world.pod("returns")
    pod["metadata"]["labels"] = {"app": "returns"}
    world.start(pod)
    async with following(Browser(f"{LABELLED}?label={quote('app=returns')}")) as browser:
        await browser.until(1)
        for _again in range(2):
            browser.notes.clear()
            world.stop("returns")
            while "The pod no longer exists." not in browser.notes:
                await browser.hear()
            world.start(pod)
            await browser.until(len(browser.lines) + 1)
            assert browser.lines[-1] in written(world, "returns")
        assert browser.sources == ["returns"]


async def test_service_log_contains_the_selected_pods(world: World) -> None:
    started(world, "served", 2)
    spec = {"selector": {"app": "served"}, "ports": [{"port": 80}]}
    service = {"metadata": {"name": "served"}, "spec": spec}
    world.api.post(SERVICE_PATH, service)
    path = "/clusters/host/projects/default/services/served/log"
    html = await get(path)
    assert len(set(re.findall(r'"log-source">([^<]+)<', html))) == 2
    outside = {"metadata": {"name": "outside"}, "spec": {"ports": [{"port": 80}]}}
    known(world.runtime, SERVICES, world.api.post(SERVICE_PATH, outside))
    assert "This resource currently has no pods." in await get(path.replace("served", "outside"))


async def test_limit_of_pods_is_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "MAX_LOGS", 2)
    path = started(world, "crowd", 3)
    html = await get(path)
    assert "Showing logs of the newest 2 pods. 1 older pods are not included." in html
    assert len(set(re.findall(r'"log-source">([^<]+)<', html))) == 2


async def test_user_without_log_permission_is_refused(world: World) -> None:
    path = started(world, "closed", 1)
    mark = world.cluster.audit.mark()
    for who in ("charlie", "alice"):
        assert (await ClientAs()(who).get(path)).status_code == 403
    assert world.asked(mark) == []
    await get(path.replace("closed", "nowhere"), 404)


async def test_log_of_a_workload_requires_permission_to_see_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with permission for the logs of all its pods, and whether or not the workload exists."""

    class Other(FakeAccess):
        def namespaces_where(
            self, verb: str, gvr: GVR, subresource: str = ""
        ) -> frozenset[str] | None:
            return None if gvr == PODS else frozenset()

    monkeypatch.setitem(VIEWERS, "rita", lambda: Other("rita"))
    path = started(world, "apart", 1)
    for one in (path, path.replace("apart", "nowhere")):
        assert (await ClientAs()("rita").get(one)).status_code == 403


LABELLED = "/clusters/host/projects/default/log"


async def test_label_selector_merges_pods_of_several_workloads(world: World) -> None:
    for name in ("left", "right", "other"):
        started(world, name, 1)
    label = quote("app in (left,right)")
    path = f"{LABELLED}?label={label}"
    html = await get(f"{path}&timestamps=1")
    names = [*running(world, "left", 1), *running(world, "right", 1)]
    assert set(re.findall(r'"log-source">([^<]+)<', html)) == set(names)
    assert 'value="app in (left,right)"' in html and "Log of app in (left,right)" in html
    answer = await ClientAs()("admin").get(f"{path}&format=text")
    assert answer["Content-Disposition"] == 'attachment; filename="default.log"'
    # The list of these pods links to the log.
    pods = await get(f"/clusters/host/pods?namespace=default&label={label}")
    [leads] = re.findall(rf'href="({LABELLED}[^"]*)"', pods)
    assert set(names) <= set(re.findall(r'"log-source">([^<]+)<', await get(unescape(leads))))
    for less in ("namespace=default", f"label={label}"):
        assert LABELLED not in await get(f"/clusters/host/pods?{less}")


async def test_new_pod_with_the_label_joins(world: World) -> None:
    started(world, "early", 1)
    (first,) = running(world, "early", 1)
    async with following(Browser(f"{LABELLED}?label={quote('app in (early,late)')}")) as browser:
        await browser.until(2)
        assert browser.sources == [first]
        started(world, "late", 1)
        (second,) = running(world, "late", 1)
        while second not in browser.at:
            await browser.hear()
        assert browser.sources == [first, second]


@pytest.mark.parametrize("label", ["", "a=b=c", "app in (a", ",", "x" * 600, "%00"])
async def test_invalid_label_selector_is_explained(world: World, label: str) -> None:
    text = await get(f"{LABELLED}?label={label}", 400)
    assert "label" in text or "selector" in text
    async with following(Browser(f"{LABELLED}?label={label}")) as browser:
        assert (await browser.hear())["error"]


@pytest.mark.parametrize("may", ["list", "log", "both"])
async def test_label_selector_log_requires_permission_to_list_pods_and_read_logs(
    world: World, monkeypatch: pytest.MonkeyPatch, may: str
) -> None:
    started(world, f"guarded-{may}", 1)

    class Some(FakeAccess):
        def can(self, verb: str, *arguments: Any, subresource: str = "", **more: Any) -> bool:
            right = "log" if subresource == "log" else verb
            if right in ("list", "log") and may not in (right, "both"):
                return False
            return super().can(verb, *arguments, subresource=subresource, **more)

    monkeypatch.setitem(VIEWERS, "rita", lambda: Some("rita", get_in=None))
    answer = await ClientAs()("rita").get(f"{LABELLED}?label=app%3Dguarded-{may}")
    assert answer.status_code == (200 if may == "both" else 403)
