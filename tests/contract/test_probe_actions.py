"""Editing the probes of a workload's containers."""

from typing import Any

import pytest

from console.kube.gvr import GVR, Key
from console.kube.runtime import Runtime
from tests.contract.client import Client, Obj
from tests.contract.pages import Person, recorded
from tests.contract.templateforms import (
    WORKLOADS,
    form_of,
    make,
    now,
    olga,
    pods_of,
    runtime,
    says_what_is_wrong,
    what_the_cluster_finds,
)
from tests.views.conftest import _site

__all__ = ["_site", "olga", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)

HEADERS = [{"name": "Host", "value": "shop"}]
WEB = {"path": "/ready", "port": "web", "scheme": "HTTPS", "httpHeaders": HEADERS}
READY = {"httpGet": WEB, "periodSeconds": 5, "failureThreshold": 2}
LIVE = {"exec": {"command": ["sh", "-c", "test -f '/run/a b' &&\n true"]}, "timeoutSeconds": 3}
PODS = {
    "containers": [
        {
            "name": "app",
            "image": "example/a:1",
            "ports": [{"name": "web", "containerPort": 8080}],
            "readinessProbe": READY,
            "livenessProbe": {**LIVE, "terminationGracePeriodSeconds": 7},
        },
        {"name": "log", "image": "example/b:1", "readinessProbe": {"tcpSocket": {"port": 24224}}},
    ],
    "initContainers": [{"name": "init", "image": "example/c:1"}],
}
STARTUP, READINESS, LIVENESS = (f"containers0-{n}" for n in range(3))


def probes(container: Obj) -> dict[str, Any]:
    return {name: value for name, value in container.items() if name.endswith("Probe")}


def without_probes(pods: Obj) -> Obj:
    containers = [
        {name: value for name, value in one.items() if not name.endswith("Probe")}
        for one in pods["containers"]
    ]
    return {**pods, "containers": containers}


@pytest.mark.parametrize("gvr", [*WORKLOADS], ids=lambda gvr: str(gvr.resource))
async def test_probes_are_changed_added_and_removed_without_other_changes(
    admin: Client, runtime: Runtime, namespace: str, olga: Person, gvr: GVR
) -> None:
    made = make(admin, runtime, namespace, PODS, gvr)
    name, before = made["metadata"]["name"], pods_of(made)
    page, sent = await form_of(olga, "probes", made, gvr)
    assert await page.is_offered(gvr.resource, Key(namespace, name))
    assert sent[f"{STARTUP}-sort"] == "none"
    assert (sent[f"{READINESS}-path"], sent[f"{READINESS}-scheme"]) == ("/ready", "HTTPS")
    assert sent[f"{LIVENESS}-command"] == """sh -c 'test -f '"'"'/run/a b'"'"' &&\n true'"""
    # Regular init containers have no probes.
    assert not any(field.startswith("initContainers") for field in sent)
    changed = {
        f"{STARTUP}-sort": "grpc",
        f"{STARTUP}-port": "9000",
        f"{STARTUP}-service": "up",
        f"{STARTUP}-failureThreshold": "30",
        f"{READINESS}-port": "8080",
        f"{READINESS}-periodSeconds": "",
        f"{LIVENESS}-timeoutSeconds": "4",
        "containers1-1-sort": "exec",
        "containers1-1-command": "cat '/run/a b'",
        "containers1-2-sort": "tcpSocket",
        "containers1-2-port": "24224",
        "containers1-2-initialDelaySeconds": "15",
    }
    await page.does(**{**sent, **changed})
    pods = pods_of(now(admin, made, gvr))
    times = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    was = probes(before["containers"][0])
    assert probes(pods["containers"][0]) == {
        "startupProbe": {**times, "grpc": {"port": 9000, "service": "up"}, "failureThreshold": 30},
        "readinessProbe": {
            **was["readinessProbe"],
            "httpGet": {**was["readinessProbe"]["httpGet"], "port": 8080},
            "periodSeconds": 10,
        },
        "livenessProbe": {**was["livenessProbe"], "timeoutSeconds": 4},
    }
    assert probes(pods["containers"][1]) == {
        "readinessProbe": {**times, "exec": {"command": ["cat", "/run/a b"]}},
        "livenessProbe": {**times, "tcpSocket": {"port": 24224}, "initialDelaySeconds": 15},
    }
    assert without_probes(pods) == without_probes(before)
    assert await recorded() == [(olga.name, "patch", "probes", name, 200)]
    page, sent = await form_of(olga, "probes", made, gvr)
    gone = {f"{one}-sort": "none" for one in (STARTUP, READINESS, LIVENESS)}
    await page.does(**{**sent, **gone})
    assert probes(pods_of(now(admin, made, gvr))["containers"][0]) == {}


async def test_probes_can_be_added_to_a_sidecar(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    sidecar = {"name": "mesh", "image": "example/c:1", "restartPolicy": "Always"}
    made = make(admin, runtime, namespace, {**PODS, "initContainers": [sidecar]})
    page, sent = await form_of(olga, "probes", made)
    typed = {"initContainers0-0-sort": "httpGet", "initContainers0-0-port": "15021"}
    await page.does(**{**sent, **typed, "initContainers0-0-path": "/healthz"})
    found = pods_of(now(admin, made))["initContainers"][0]["startupProbe"]["httpGet"]
    assert found == {"path": "/healthz", "port": 15021, "scheme": "HTTP"}


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({f"{STARTUP}-sort": "httpGet"}, f"{STARTUP}-port", "Enter a port."),
        ({f"{STARTUP}-sort": "exec"}, f"{STARTUP}-command", "Enter a command."),
        ({f"{STARTUP}-sort": "smtp"}, f"{STARTUP}-sort", "This option is no longer available."),
        ({f"{STARTUP}-port": "80"}, f"{STARTUP}-port", "does not use this field."),
        ({f"{STARTUP}-periodSeconds": "9"}, f"{STARTUP}-periodSeconds", "does not use this field."),
        ({f"{READINESS}-command": "x"}, f"{READINESS}-command", "does not use this field."),
        ({f"{READINESS}-port": "70000"}, f"{READINESS}-port", "Enter a port number up to 65535"),
        ({f"{READINESS}-sort": "grpc"}, f"{READINESS}-port", "A gRPC probe needs a port number."),
        ({f"{READINESS}-scheme": "FTP"}, f"{READINESS}-scheme", "This option is no longer available."),
        ({f"{READINESS}-periodSeconds": "0"}, f"{READINESS}-periodSeconds", "from 1 to"),
        ({f"{LIVENESS}-command": "a 'b"}, f"{LIVENESS}-command", "A quotation mark is missing."),
        ({f"{LIVENESS}-command": " "}, f"{LIVENESS}-command", "Enter a command."),
        ({"containers0-3-port": "1"}, "", "The form is incomplete."),
        ({"was": '{"containers": [{"name": "a", "readinessProbe": {}}]}'}, "", "is incomplete."),
    ],
)  # fmt: skip
async def test_invalid_probe_values_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace, PODS)
    await says_what_is_wrong(admin, olga, "probes", made, typed, field, said)


async def test_validation_errors_of_the_cluster_are_reported_at_the_field(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    typed = {f"{LIVENESS}-successThreshold": "2"}
    text = await what_the_cluster_finds(admin, olga, "probes", made, **typed)
    assert f'href="#form-{LIVENESS}-successThreshold">' in text and "must be 1" in text
