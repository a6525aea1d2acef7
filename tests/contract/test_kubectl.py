"""Output of an unmodified kubectl."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import yaml

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Kubectl
from tests.contract.crds import definition, establish, widget
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import config_map, create_pod, deployment, dump, pod, unique


@pytest.fixture(scope="module")
def a_pod(admin: Client, namespace: str) -> str:
    name = unique("pod")
    create_pod(admin, namespace, pod(name, {"app": "shown"}))
    return name


def test_get_prints_tables(kubectl: Kubectl, a_pod: str) -> None:
    header, line = kubectl("get", "pods", "-l", "app=shown").splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert line.split()[:4] == [a_pod, "0/1", "Pending", "0"]
    assert re.fullmatch(r"\d+m?(\d+)?s", line.split()[4])


def test_get_prints_wide_tables(kubectl: Kubectl, a_pod: str) -> None:
    header = kubectl("get", "pods", "-o", "wide").splitlines()[0]
    titles = re.split(r"\s{2,}", header.strip())
    assert titles[5:] == ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]


def test_get_prints_tables_of_all_namespaces(kubectl: Kubectl, a_pod: str) -> None:
    lines = kubectl("get", "pods", "-A", "-l", "app=shown").splitlines()
    assert lines[0].split()[:2] == ["NAMESPACE", "NAME"]
    assert lines[1].split()[:2] == [kubectl.namespace, a_pod]


@pytest.mark.parametrize(
    ("resource", "titles"),
    [
        ("deployments", ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]),
        ("configmaps", ["NAME", "DATA", "AGE"]),
        ("namespaces", ["NAME", "STATUS", "AGE"]),
        ("serviceaccounts", ["NAME", "AGE"]),
        ("clusterroles", ["NAME", "CREATED AT"]),
    ],
)
def test_get_prints_the_columns_of_each_type(
    kubectl: Kubectl, resource: str, titles: list[str]
) -> None:
    for some in (config_map(unique("shown")), deployment(unique("shown"), "example/one:1")):
        kubectl("create", "-f", "-", input=dump(some))
    header = kubectl("get", resource).splitlines()[0]
    assert re.split(r"\s{2,}", header.strip()) == titles


def test_get_prints_objects(kubectl: Kubectl, a_pod: str) -> None:
    assert kubectl.read("pod", a_pod)["spec"]["containers"][0]["image"] == "example/main:1"
    assert yaml.safe_load(kubectl("get", "po", a_pod, "-o", "yaml"))["kind"] == "Pod"
    assert kubectl("get", "pods", "-o", "name", "-l", "app=shown") == f"pod/{a_pod}\n"
    columns = "-o=jsonpath={.items[*].metadata.name}"
    assert kubectl("get", "pods", "-l", "app=shown", columns) == a_pod
    assert kubectl("get", "pods", "--field-selector", f"metadata.name={a_pod}", "-o", "name")


def test_get_reports_missing_objects(kubectl: Kubectl) -> None:
    done = kubectl.run("get", "pod", "absent")
    assert done.returncode == 1
    assert done.stderr == 'Error from server (NotFound): pods "absent" not found\n'
    done = kubectl.run("get", "absents")
    assert 'the server doesn\'t have a resource type "absents"' in done.stderr


def test_describe_prints_pods(kubectl: Kubectl, a_pod: str) -> None:
    text = kubectl("describe", "pod", a_pod)
    fields = dict(re.findall(r"^(\w[\w ]*):\s+(\S.*)$", text, re.MULTILINE))
    assert (fields["Name"], fields["Namespace"]) == (a_pod, kubectl.namespace)
    assert (fields["Status"], fields["Labels"]) == ("Pending", "app=shown")
    assert "example/main:1" in text


def test_describe_prints_deployments(kubectl: Kubectl) -> None:
    name = unique("described")
    kubectl("create", "-f", "-", input=dump(deployment(name, "example/one:1")))
    text = kubectl("describe", "deployment", name)
    assert re.search(rf"^Selector:\s+app={name}$", text, re.MULTILINE)


def test_auth_can_i_reports_permissions(kubectl: Kubectl, cleanup: Cleanup, namespace: str) -> None:
    name = unique("user")
    grants = Grants(cleanup, namespace)
    grants.here(user(name), rule("list", "pods"))
    grants.wait(name, namespace=namespace, verb="list", resource="pods")
    assert kubectl("auth", "can-i", "delete", "nodes").strip().endswith("yes")
    assert kubectl("auth", "can-i", "list", "pods", "--as", name) == "yes\n"
    refused = kubectl.run("auth", "can-i", "delete", "pods", "--as", name)
    assert (refused.returncode, refused.stdout) == (1, "no\n")
    listed = kubectl("auth", "can-i", "--list", "--as", name)
    assert re.search(r"^pods\s+\[\]\s+\[\]\s+\[list\]$", listed, re.MULTILINE)


def test_auth_whoami_reports_the_user(kubectl: Kubectl) -> None:
    whoami = kubectl("auth", "whoami", "-o", "json", "--as", "ann", "--as-group", "team")
    info = json.loads(whoami)["status"]["userInfo"]
    assert info == {"username": "ann", "groups": ["team", "system:authenticated"]}


def test_api_resources_are_listed(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources", "--no-headers").splitlines()
    # Several types can have the same name. Types of the core group come first.
    rows = {line.split()[0]: line.split()[1:] for line in reversed(lines)}
    assert rows["pods"] == ["po", "v1", "true", "Pod"]
    assert rows["deployments"] == ["deploy", "apps/v1", "true", "Deployment"]
    assert "apps/v1" in kubectl("api-versions").split()


@pytest.fixture(scope="module")
def widgets(admin: Client, namespace: str) -> Iterator[Obj]:
    """A custom type with printer columns, and one object."""
    crd = definition(
        additionalPrinterColumns=[
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]
    )
    crd["spec"]["names"] |= {"shortNames": [unique("s")], "categories": [unique("c")]}
    with ExitStack() as stack:
        where = establish(admin, Cleanup(admin, stack), crd, namespace)
        admin.post(where, widget(crd, "shown", size=7)).ok()
        yield crd


def test_get_prints_custom_columns(kubectl: Kubectl, widgets: Obj) -> None:
    plural = widgets["metadata"]["name"]
    header, line = kubectl("get", plural).splitlines()
    assert header.split() == ["NAME", "SIZE", "AGE"]
    assert line.split()[:2] == ["shown", "7"]
    header, line = kubectl("get", plural, "-o", "wide").splitlines()
    assert header.split() == ["NAME", "SIZE", "COLOR", "AGE"]
    assert line.split()[:3] == ["shown", "7", "blue"]


def test_get_accepts_short_names_and_categories(kubectl: Kubectl, widgets: Obj) -> None:
    name = f"widget.{widgets['spec']['group']}/shown\n"
    names = widgets["spec"]["names"]
    assert kubectl("get", names["shortNames"][0], "-o", "name") == name
    assert kubectl("get", names["categories"][0], "-o", "name") == name


def test_explain_prints_a_type(kubectl: Kubectl) -> None:
    assert "KIND:       Pod" in kubectl("explain", "pods")


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("pods.spec", "ephemeralContainers"),
        ("pods.spec.containers.resources.limits", "Limits describes the maximum amount"),
        ("deployments.spec.strategy.rollingUpdate", "maxUnavailable"),
        ("ingresses.spec.rules.http", "pathType"),
    ],
)
def test_explain_documents_the_fields_of_built_in_types(
    kubectl: Kubectl, field: str, words: str
) -> None:
    assert words in kubectl("explain", field, "--recursive") + kubectl("explain", field)
