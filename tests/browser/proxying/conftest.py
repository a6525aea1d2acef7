"""A console that opens ports, in front of an embedded cluster with a node.

With SCREENSHOTS set to a folder, what is seen is written there.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.console import Console, Embedded, running, sign_in
from tests.controlplane.waiting import eventually
from tests.logs.conftest import NODE

StartPod = Callable[[str], str]
Picture = Callable[[Page, str], None]


@pytest.fixture(scope="package")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    cluster = Embedded(tmp_path_factory.mktemp("cluster"))
    try:
        folder = tmp_path_factory.mktemp("console")
        with running(cluster, folder, opens_ports=True) as console:
            node = json.dumps({"apiVersion": "v1", "kind": "Node", **NODE})
            console.kubectl("create", "-f", "-", input=node)
            yield console
    finally:
        cluster.stop()


@pytest.fixture
def start(console: Console, page: Page) -> Iterator[StartPod]:
    """Makes a pod that answers at port 8080, for one test; its page, for whoever is signed in."""
    sign_in(page, console, "")
    names: list[str] = []

    def started(name: str) -> str:
        ports = [{"name": "http", "containerPort": 8080}]
        spec = {"containers": [{"name": "app", "image": "example/app:1", "ports": ports}]}
        about = {"name": name, "namespace": "default"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
        console.kubectl("create", "-f", "-", input=json.dumps(pod))
        names.append(name)
        state = ("get", "pod", name, "-o", "jsonpath={.status.phase}")
        eventually(lambda: console.kubectl(*state) == "Running", f"{name} runs")
        return f"{console.url}/clusters/host/projects/default/pods/{name}"

    yield started
    if names:
        console.kubectl("delete", "pod", "--grace-period=0", "--force", *names)


@pytest.fixture
def picture() -> Picture:
    folder = os.environ.get("SCREENSHOTS")

    def taken(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return taken
