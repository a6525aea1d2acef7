"""The ports panel of pods and services, and its kubectl port-forward commands."""

import html
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import urlopen

import pytest

from console.kube.gvr import GVR, NAMESPACES, PODS, SERVICES
from console.ui.details.panels.ports import Port, ports_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cluster import kubectl_program
from tests.controlplane.plugin import skip_or_fail
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.support.informers import preloaded
from tests.support.ports import free_port
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import namespace, pod
from tests.views.conftest import ClientAs

_LINE = re.compile(r"<code>(kubectl port-forward [^<]*)</code>")


def service(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": metadata, "spec": spec}


def listening(name: str, *ports: Any, phase: str = "Running") -> dict[str, Any]:
    made = pod(name)
    made["spec"]["containers"][0]["ports"] = list(ports)
    made["status"]["phase"] = phase
    return made


@contextmanager
def console(*objects: dict[str, Any]) -> Iterator[ClientAs]:
    pods = [one for one in objects if "containers" in one["spec"]]
    services = [one for one in objects if one not in pods]
    informers = {
        PODS: preloaded(PODS, pods),
        SERVICES: preloaded(SERVICES, services),
        NAMESPACES: preloaded(NAMESPACES, [namespace("shop")]),
    }
    set_host_cluster(StaticRuntime(informers))
    try:
        yield ClientAs()
    finally:
        unset_host_cluster()


async def panel(client: ClientAs, what: str, who: str = "admin") -> str:
    """Return the ports panel of an object's page, or an empty string if it has none."""
    answer = await client(who).get(f"/clusters/host/projects/shop/{what}")
    text = await text_of(answer)
    assert answer.status_code == 200, text
    found = re.search(r'<section id="panel-ports"[^>]*?( hidden)?>(.*?)</section>', text, re.DOTALL)
    assert found is not None
    return "" if found[1] else found[2]


def lines(text: str) -> list[str]:
    return [html.unescape(line) for line in _LINE.findall(text)]


async def test_each_port_has_a_port_forward_command() -> None:
    ports = [{"containerPort": 80, "name": "http"}, {"containerPort": 8443}]
    with console(listening("web-1", *ports)) as client:
        text = await panel(client, "pods/web-1")
    assert lines(text) == [
        "kubectl port-forward pod/web-1 8080:80 -n shop",
        "kubectl port-forward pod/web-1 8443 -n shop",
    ]
    assert "While the command runs" in text


async def test_service_ports_use_the_service_in_the_command() -> None:
    ports = [
        {"port": 443, "targetPort": "https", "name": "web"},
        {"port": 53, "protocol": "UDP", "name": "dns"},
    ]
    with console(service("front", selector={"app": "web"}, ports=ports)) as client:
        text = await panel(client, "services/front")
    assert lines(text) == ["kubectl port-forward service/front 8443:443 -n shop"]
    assert "/UDP" in text and "kubectl port-forward supports only TCP." in text


async def test_unsupported_port_forwards_are_explained() -> None:
    alone = service("alone", ports=[{"port": 80}])
    elsewhere = service("else", type="ExternalName", externalName="x.org", ports=[{"port": 80}])
    waiting = listening("waits", {"containerPort": 80}, phase="Pending")
    ended = listening("ended", {"containerPort": 80}, phase="Succeeded")
    with console(alone, elsewhere, waiting, ended, listening("silent")) as client:
        assert "only services with a selector" in await panel(client, "services/alone")
        assert "when the pod is running" in await panel(client, "pods/waits")
        for what in ("services/else", "pods/ended", "pods/silent"):
            assert await panel(client, what) == ""


async def test_user_without_port_forward_permission_sees_no_command() -> None:
    with console(listening("web-1", {"containerPort": 80})) as client:
        text = await panel(client, "pods/web-1", "bob")
    assert lines(text) == [] and "You don't have permission to forward ports" in text
    assert '<span class="number">80</span>' in text


@pytest.mark.parametrize("gvr", [PODS, SERVICES])
@pytest.mark.parametrize(
    "value", [None, "80", 0, -1, 65536, 80.5, True, [], {}, "\x00", "80\n", 10**400]
)
def test_invalid_ports_are_skipped(gvr: GVR, value: Any) -> None:
    port = {"containerPort": value, "port": value, "protocol": value, "name": value}
    spec = {"containers": [{"ports": [port, value]}, value], "ports": [port, value]}
    for hostile in (spec, {"containers": value, "ports": value}, value):
        assert ports_of(gvr, {"spec": hostile}) == ()
    assert ports_of(gvr, {}) == ()


def test_duplicate_ports_are_merged() -> None:
    ports = [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]
    spec = {"initContainers": [{"ports": ports}], "containers": [{"ports": ports}]}
    assert ports_of(PODS, {"spec": spec}) == (Port(53, "", "TCP"), Port(53, "", "UDP"))


@pytest.mark.programs
async def test_port_forward_command_works(world: World) -> None:
    program = kubectl_program()
    if program is None:
        skip_or_fail("kubectl with the embedded cluster", "there is no kubectl on this machine")
    number = free_port()
    made = world.pod("forwarded")
    made["spec"]["containers"][0]["ports"] = [{"containerPort": number}]
    world.start(made)
    answer = await ClientAs()("admin").get("/clusters/host/projects/default/pods/forwarded")
    (line,) = lines(await text_of(answer))
    environment = {**os.environ, "KUBECONFIG": str(world.cluster.kubeconfig)}
    command = ["bash", "-c", f"exec {line}"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(f"Forwarding from 127.0.0.1:{number}")
            text = eventually(lambda: page_at(number), "it answers")
            assert text and "<title>forwarded</title>" in text
        finally:
            process.terminate()


def page_at(number: int) -> str:
    with urlopen(f"http://127.0.0.1:{number}/", timeout=5) as opened:  # noqa: S310
        return str(opened.read().decode())
