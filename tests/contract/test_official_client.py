"""The official Python client, unmodified."""

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config, watch

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish, widget
from tests.contract.objects import config_map, create_pod, deployment, pod, unique

# The package is only partly typed, and its types declare every field as optional.
_connect: Any = config.new_client_from_config
_new_watch: Any = watch.Watch


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Any]:
    with _connect(config_file=str(cluster.kubeconfig)) as found:
        yield found
        # Closing the client leaves connections open.
        found.rest_client.pool_manager.clear()


@pytest.fixture(scope="module")
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


def test_pods_are_listed(core: Any, admin: Client, empty_namespace: str) -> None:
    create_pod(admin, empty_namespace, pod("one", {"app": "x"}))
    create_pod(admin, empty_namespace, pod("two"))
    listed = core.list_namespaced_pod(empty_namespace)
    assert [item.metadata.name for item in listed.items] == ["one", "two"]
    assert listed.items[0].spec.containers[0].image == "example/main:1"
    assert listed.items[0].status.phase == "Pending"
    chosen = core.list_namespaced_pod(empty_namespace, label_selector="app=x", limit=1)
    assert [item.metadata.name for item in chosen.items] == ["one"]


def test_pods_are_watched(core: Any, admin: Client, empty_namespace: str) -> None:
    create_pod(admin, empty_namespace, pod("there"))
    start = core.list_namespaced_pod(empty_namespace).metadata.resource_version
    core.patch_namespaced_pod("there", empty_namespace, {"metadata": {"labels": {"a": "b"}}})
    core.create_namespaced_pod(empty_namespace, pod("new"))
    core.delete_namespaced_pod("there", empty_namespace)
    seen = []
    watcher = _new_watch()
    for event in watcher.stream(
        core.list_namespaced_pod, empty_namespace, resource_version=start, timeout_seconds=20
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watcher.stop()
    # A deleted object can be modified once more before the DELETED event.
    assert seen[:2] == [("MODIFIED", "there"), ("ADDED", "new")]
    assert seen[-1] == ("DELETED", "there")


def test_a_watch_without_version_starts_with_existing_objects(
    core: Any, admin: Client, empty_namespace: str
) -> None:
    create_pod(admin, empty_namespace, pod("there"))
    watcher = _new_watch()
    found = []
    for event in watcher.stream(core.list_namespaced_pod, empty_namespace, timeout_seconds=20):
        found.append((event["type"], event["object"].metadata.name))
        watcher.stop()
    assert found == [("ADDED", "there")]


def test_error_responses_raise_an_exception(core: Any, namespace: str) -> None:
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_pod("absent", namespace)
    assert refused.value.status == 404
    assert '"reason":"NotFound"' in str(refused.value.body).replace(" ", "")


def test_objects_are_created_and_replaced(core: Any, namespace: str) -> None:
    name = unique("written")
    made = core.create_namespaced_config_map(namespace, config_map(name, a="1"))
    made.data["b"] = "2"
    changed = core.replace_namespaced_config_map(name, namespace, made)
    assert changed.data == {"a": "1", "b": "2"}
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_config_map(name, namespace, made)
    assert refused.value.status == 409
    core.delete_namespaced_config_map(name, namespace)


def test_workloads_are_patched(api: Any, namespace: str) -> None:
    name = unique("patched")
    apps: Any = client.AppsV1Api(api)
    apps.create_namespaced_deployment(
        namespace, deployment(name, "example/zero:1", "example/one:1")
    )
    body = {"spec": {"template": {"spec": {"containers": [{"name": "c1", "image": "e/o:2"}]}}}}
    found = apps.patch_namespaced_deployment(name, namespace, body)
    containers = found.spec.template.spec.containers
    assert {c.name: c.image for c in containers} == {"c0": "example/zero:1", "c1": "e/o:2"}


def test_custom_objects_are_created_and_listed(
    api: Any, admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    establish(admin, cleanup, crd, namespace)
    place = (crd["spec"]["group"], "v1", namespace, "widgets")
    custom: Any = client.CustomObjectsApi(api)
    custom.create_namespaced_custom_object(*place, widget(crd, "one", size=1))
    listed = custom.list_namespaced_custom_object(*place)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["one"]
