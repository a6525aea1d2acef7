"""Logs of simulated containers, read like `kubectl logs` does."""

import http.client
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.runs import RATE_ANNOTATION, TEXT_ANNOTATION
from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj

PODS = "/api/v1/namespaces/default/pods"


pytestmark = pytest.mark.usefixtures("node")


def pod(name: str, image: str = "example/web:1", **notes: str) -> Obj:
    container = {"name": "c", "image": image}
    about = {"name": name, "annotations": notes}
    return {"metadata": about, "spec": {"containers": [container]}}


def started(api: Api, body: Obj) -> str:
    """Create the pod, wait until its first container has started, and return the path of its log."""
    name = api.post(PODS, body)["metadata"]["name"]
    path = f"{PODS}/{name}"

    def state() -> Any:
        statuses = api.get(path).get("status", {}).get("containerStatuses") or [{}]
        return statuses[0].get("state", {}).get("running") or statuses[0].get("lastState")

    eventually(state, f"{name} has started")
    return f"{path}/log"


def text(api: Api, path: str) -> str:
    with api.open("GET", path) as response:
        found = response.read().decode()
        assert response.status == 200, found
        assert response.headers["Content-Type"] == "text/plain"
        return found


def lines(api: Api, path: str) -> list[str]:
    return text(api, path).splitlines()


def refused(api: Api, path: str) -> tuple[int, str]:
    status, found = api.call("GET", path)
    return status, found["message"]


def read_lines(response: http.client.HTTPResponse) -> Iterator[str]:
    while line := response.readline():
        yield line.decode().removesuffix("\n")


def test_a_log_returns_the_same_lines_each_time_and_grows(api: Api) -> None:
    path = started(api, pod("web", **{RATE_ANNOTATION: "200"}))
    first = eventually(lambda: lines(api, path)[50:] and lines(api, path), "some lines")
    assert lines(api, path)[: len(first)] == first
    assert len(set(first)) > 20
    eventually(lambda: len(lines(api, path)) > len(first), "more lines")


def test_timestamps_have_nanoseconds_and_increase(api: Api) -> None:
    path = started(api, pod("web", **{RATE_ANNOTATION: "2000"}))
    eventually(lambda: len(lines(api, path)) > 500, "many lines")
    stamped = lines(api, f"{path}?timestamps=true")
    moments = [line.split(" ", 1)[0] for line in stamped]
    assert {len(moment) for moment in moments} == {30}
    assert moments == sorted(set(moments))
    later = lines(api, f"{path}?timestamps=true&sinceTime={moments[-1]}")
    # `sinceTime` is truncated to whole seconds.
    first = next(n for n, moment in enumerate(moments) if moment[:19] == moments[-1][:19])
    assert later[: len(stamped) - first] == stamped[first:]


def test_tail_limit_and_since_options_select_lines(api: Api) -> None:
    path = started(api, pod("web", **{RATE_ANNOTATION: "100"}))
    eventually(lambda: len(lines(api, path)) > 30, "some lines")
    assert lines(api, f"{path}?tailLines=0") == []
    assert len(lines(api, f"{path}?tailLines=7")) == 7
    assert text(api, f"{path}?limitBytes=13") == text(api, path)[:13]
    assert lines(api, f"{path}?sinceTime=2999-01-01T00:00:00Z") == []
    assert len(lines(api, f"{path}?sinceSeconds=3600&tailLines=3")) == 3


def test_a_followed_log_ends_when_the_pod_is_deleted(api: Api) -> None:
    path = started(api, pod("web", **{RATE_ANNOTATION: "50"}))
    with api.open("GET", f"{path}?follow=true&timestamps=true") as response:
        found = read_lines(response)
        first = list(itertools.islice(found, 60))
        api.call("DELETE", f"{path.removesuffix('/log')}?gracePeriodSeconds=0")
        moments = [line.split(" ", 1)[0] for line in (*first, *found)]
    assert len(moments) >= 60 and moments == sorted(set(moments))


def test_a_followed_log_ends_when_the_container_terminates(api: Api) -> None:
    body = pod("job", **{ANNOTATION: "fails 1"})
    body["spec"]["restartPolicy"] = "Never"
    path = started(api, body)
    with api.open("GET", f"{path}?follow=true") as response:
        followed = list(read_lines(response))
    assert "cannot go on" in followed[-1]
    assert followed == lines(api, path)


def test_the_log_of_a_crashed_container_ends_with_the_reason(api: Api) -> None:
    path = started(api, pod("web", **{ANNOTATION: "crash error panic: no tariffs"}))
    eventually(lambda: "panic: no tariffs" in lines(api, path), "the container has crashed")
    last = lines(api, path)
    assert last.index("panic: no tariffs") >= 2
    assert lines(api, f"{path}?previous=true")[-2:] == last[-2:]


def test_the_log_annotation_is_written_verbatim(api: Api) -> None:
    hostile = "\x1b[31mred\x1b]0;title\x07\n<script>alert(1)</script>\n\u202eevil"
    path = started(api, pod("web", **{TEXT_ANNOTATION: hostile}))
    eventually(lambda: text(api, path) == hostile + "\n", "the complete text is logged")


def test_missing_logs_return_the_errors_of_a_kubelet(api: Api) -> None:
    path = started(api, pod("web"))
    about = 'container "c" in pod "web"'
    assert refused(api, f"{path}?previous=true") == (
        400,
        f"previous terminated {about} not found",
    )
    broken = pod("broken", **{ANNOTATION: "pull-fails"})
    api.post(PODS, broken)
    expected = 'container "c" in pod "broken" is waiting to start: trying and failing to pull image'
    eventually(
        lambda: refused(api, f"{PODS}/broken/log") == (400, expected), "the image pull fails"
    )


def test_followed_logs_end_when_the_cluster_stops(cluster: DevCluster, api: Api) -> None:
    path = started(api, pod("web"))
    with api.open("GET", f"{path}?follow=true") as response:
        assert response.readline()
        cluster.stop()
        list(read_lines(response))
