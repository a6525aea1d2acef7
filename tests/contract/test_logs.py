"""Log requests that kube-apiserver answers without contacting a kubelet."""

import pytest

from tests.contract.client import Client
from tests.contract.objects import create_pod, path, pod, unique


@pytest.fixture(scope="module")
def at(admin: Client, namespace: str) -> str:
    """Create an unscheduled pod and return the path of its log."""
    name = unique("pod")
    create_pod(admin, namespace, pod(name))
    return f"{path(namespace, 'pods', name)}/log"


def test_an_unscheduled_pod_has_an_empty_log(admin: Client, at: str) -> None:
    for query in ("", "?follow=true", "?tailLines=5&timestamps=true"):
        answer = admin.get(f"{at}{query}")
        assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", 422, "sinceSeconds: Invalid value: 0: must be greater than 0"),
        (
            "sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z",
            422,
            "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
        ("stream=Stdout", 422, "may not be specified"),
        ("tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("sinceTime=yesterday", 400, 'parsing time "yesterday"'),
        ("container=zz", 400, "container zz is not valid for pod"),
    ],
)
def test_invalid_log_options_are_rejected(
    admin: Client, at: str, query: str, code: int, words: str
) -> None:
    answer = admin.get(f"{at}?{query}")
    assert answer.status == code
    assert words in answer.json["message"]


def test_logs_of_a_pod_with_several_containers_require_a_container(
    admin: Client, namespace: str
) -> None:
    several = pod(unique("pod"))
    first = several["spec"]["containers"][0]
    several["spec"]["containers"] = [{**first, "name": name} for name in ("a", "b")]
    several["spec"]["initContainers"] = [{**first, "name": "init"}]
    create_pod(admin, namespace, several)
    name = several["metadata"]["name"]
    answer = admin.get(f"{path(namespace, 'pods', name)}/log")
    expected = f"a container name must be specified for pod {name}, choose one of: [init a b]"
    assert (answer.status, answer.json["message"]) == (400, expected)
    assert admin.get(f"{path(namespace, 'pods', name)}/log?container=init").status == 204


def test_logs_of_a_missing_pod_return_404(admin: Client, namespace: str) -> None:
    assert admin.get(f"{path(namespace, 'pods', 'nobody')}/log").status == 404
