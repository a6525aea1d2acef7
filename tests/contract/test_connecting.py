"""Requests for exec, attach, and port-forward that kube-apiserver rejects before it contacts a
kubelet.
"""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Clients
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import create_pod, path, pod, unique

WEBSOCKET = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OTAxMjM0NQ=="),
    ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"),
)
HOW = {"exec": "command=ls&stdout=true", "attach": "stdout=true", "portforward": "ports=80"}


@pytest.fixture(params=list(HOW))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refused(client: Client, pod_path: str, way: str, more: str = "") -> tuple[int, str, str]:
    answer = client.with_headers(*WEBSOCKET).get(f"{pod_path}/{way}?{HOW[way]}{more}")
    body = answer.json
    return answer.status, str(body["reason"]), str(body["message"])


def test_connecting_to_a_missing_pod_returns_404(admin: Client, namespace: str, way: str) -> None:
    found = refused(admin, path(namespace, "pods", "nope"), way)
    assert found == (404, "NotFound", 'pods "nope" not found')


def test_connecting_to_a_pod_without_a_node_is_rejected(
    admin: Client, namespace: str, way: str
) -> None:
    name = unique("pod")
    create_pod(admin, namespace, pod(name))
    found = refused(admin, path(namespace, "pods", name), way)
    assert found == (400, "BadRequest", f"pod {name} does not have a host assigned")


@pytest.mark.parametrize("way", ["exec", "attach"])
def test_connecting_to_a_pod_with_several_containers_requires_a_container(
    admin: Client, namespace: str, way: str
) -> None:
    name = unique("pod")
    two = [{"name": one, "image": "example/main:1"} for one in "ab"]
    before = [{"name": "i", "image": "example/main:1"}]
    create_pod(admin, namespace, pod(name, containers=two, initContainers=before))
    at = path(namespace, "pods", name)
    why = f"a container name must be specified for pod {name}, choose one of: [i a b]"
    assert refused(admin, at, way) == (400, "BadRequest", why)
    why = f"container zz is not valid for pod {name}"
    assert refused(admin, at, way, "&container=zz") == (400, "BadRequest", why)
    why = f"pod {name} does not have a host assigned"
    assert refused(admin, at, way, "&container=i") == (400, "BadRequest", why)


def test_connecting_requires_get_and_create(
    clients: Clients, cleanup: Cleanup, namespace: str, admin: Client, way: str
) -> None:
    name, resource = unique("pod"), f"pods/{way}"
    create_pod(admin, namespace, pod(name))
    grants = Grants(cleanup, namespace)
    readers, makers = unique("reader"), unique("maker")
    grants.here(user(readers), rule("get", resource))
    grants.here(user(makers), rule("create", resource))
    for who, verb in ((readers, "get"), (makers, "create")):
        grants.wait(who, namespace=namespace, verb=verb, resource="pods", subresource=way)
    at = path(namespace, "pods", name)
    found = refused(clients.user(readers), at, way)
    assert found == (403, "Forbidden", f'pods "{name}" is forbidden: ')
    asked = f'cannot get resource "{resource}" in API group "" in the namespace "{namespace}"'
    why = f'User "{makers}" {asked}'
    found = refused(clients.user(makers), at, way)
    assert found == (403, "Forbidden", f'pods "{name}" is forbidden: {why}')
