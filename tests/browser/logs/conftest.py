"""A console with port forwarding, in front of an embedded cluster with a node that runs pods."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.console import Console, Embedded, running, sign_in
from tests.browser.logs.fakes import FakeLog
from tests.controlplane.waiting import eventually
from tests.logs.conftest import NODE

StartPod = Callable[..., str]


@pytest.fixture(scope="package")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    cluster = Embedded(tmp_path_factory.mktemp("cluster"))
    try:
        folder = tmp_path_factory.mktemp("console")
        with running(cluster, folder, opens_ports=True, controllers=False) as console:
            node = json.dumps({"apiVersion": "v1", "kind": "Node", **NODE})
            console.kubectl("create", "-f", "-", input=node)
            yield console
    finally:
        cluster.stop()


@pytest.fixture
def start(console: Console, page: Page) -> StartPod:
    """Create a pod with these annotations unless it exists, and return the URL of its log for the
    signed-in user.
    """
    sign_in(page, console, "")

    def started(name: str, **notes: str) -> str:
        address = f"{console.url}/clusters/host/projects/default/pods/{name}/log?timestamps=1"
        if ("default", name) in console.made:
            return address
        about = {"name": name, "namespace": "default", "annotations": notes}
        spec = {"containers": [{"name": "app", "image": "example/app:1"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
        console.kubectl("create", "-f", "-", input=json.dumps(pod))
        state = ("get", "pod", name, "-o", "jsonpath={.status.containerStatuses[0].state}")
        # A pod with this error stays in this state.
        eventually(lambda: _settled(console.kubectl(*state)), f"{name} has a state")
        console.made.append(("default", name))
        return address

    return started


def _settled(state: str) -> bool:
    return "running" in state or "terminated" in state or "ImagePullBackOff" in state


@pytest.fixture
def fake_log(page: Page, apart: None) -> FakeLog:
    return FakeLog(page)
