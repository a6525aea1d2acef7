"""kubectl, unchanged."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import yaml

from tests.contract.client import Client, Obj
from tests.contract.cluster import Kubectl
from tests.contract.crds import definition, establish, widget
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import config_map, create_pod, deployment, dump, path, pod, unique
from tests.contract.tidy import Scrap


@pytest.fixture(scope="module")
def a_pod(admin: Client, namespace: str) -> str:
    name = unique("pod")
    create_pod(admin, namespace, pod(name, {"app": "shown"}))
    return name


@pytest.fixture
def a_map(admin: Client, namespace: str) -> str:
    name = unique("map")
    admin.post(path(namespace, "configmaps"), config_map(name, a="1")).ok()
    return name


def read(kubectl: Kubectl, *what: str) -> Obj:
    found: Obj = json.loads(kubectl("get", *what, "-o", "json"))
    return found


def it_prints_tables(kubectl: Kubectl, a_pod: str) -> None:
    header, line = kubectl("get", "pods", "-l", "app=shown").splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert line.split()[:4] == [a_pod, "0/1", "Pending", "0"]
    assert re.fullmatch(r"\d+m?(\d+)?s", line.split()[4])


def it_prints_wide_tables(kubectl: Kubectl, a_pod: str) -> None:
    header = kubectl("get", "pods", "-o", "wide").splitlines()[0]
    titles = re.split(r"\s{2,}", header.strip())
    assert titles[5:] == ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]


def it_prints_tables_of_all_namespaces(kubectl: Kubectl, a_pod: str) -> None:
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
def it_prints_the_columns_of_each(
    kubectl: Kubectl, admin: Client, a_map: str, resource: str, titles: list[str]
) -> None:
    if resource == "deployments":
        kubectl("create", "-f", "-", input=dump(deployment(unique("shown"), "example/one:1")))
    header = kubectl("get", resource).splitlines()[0]
    assert re.split(r"\s{2,}", header.strip()) == titles


def it_gets_objects(kubectl: Kubectl, a_pod: str) -> None:
    assert read(kubectl, "pod", a_pod)["spec"]["containers"][0]["image"] == "example/main:1"
    assert yaml.safe_load(kubectl("get", "po", a_pod, "-o", "yaml"))["kind"] == "Pod"
    assert kubectl("get", "pods", "-o", "name", "-l", "app=shown") == f"pod/{a_pod}\n"
    columns = "-o=jsonpath={.items[*].metadata.name}"
    assert kubectl("get", "pods", "-l", "app=shown", columns) == a_pod
    assert kubectl("get", "pods", "--field-selector", f"metadata.name={a_pod}", "-o", "name")


def it_says_what_is_not_there(kubectl: Kubectl) -> None:
    done = kubectl.run("get", "pod", "absent")
    assert done.returncode == 1
    assert done.stderr == 'Error from server (NotFound): pods "absent" not found\n'
    done = kubectl.run("get", "absents")
    assert 'the server doesn\'t have a resource type "absents"' in done.stderr


def it_describes_pods(kubectl: Kubectl, a_pod: str) -> None:
    text = kubectl("describe", "pod", a_pod)
    fields = dict(re.findall(r"^(\w[\w ]*):\s+(\S.*)$", text, re.MULTILINE))
    assert (fields["Name"], fields["Namespace"]) == (a_pod, kubectl.namespace)
    assert (fields["Status"], fields["Labels"]) == ("Pending", "app=shown")
    assert "example/main:1" in text


def it_describes_deployments(kubectl: Kubectl) -> None:
    name = unique("described")
    kubectl("create", "-f", "-", input=dump(deployment(name, "example/one:1")))
    text = kubectl("describe", "deployment", name)
    assert re.search(rf"^Selector:\s+app={name}$", text, re.MULTILINE)


def it_creates_from_the_command_line(kubectl: Kubectl) -> None:
    name = unique("literal")
    kubectl("create", "configmap", name, "--from-literal=a=1")
    assert read(kubectl, "configmap", name)["data"] == {"a": "1"}
    done = kubectl.run("create", "configmap", name)
    assert f'configmaps "{name}" already exists' in done.stderr


def it_applies(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "-f", "-")
    assert "created" in kubectl(*apply, input=dump(config_map(name, a="1", b="1")))
    assert "unchanged" in kubectl(*apply, input=dump(config_map(name, a="1", b="1")))
    assert "configured" in kubectl(*apply, input=dump(config_map(name, a="2")))
    assert read(kubectl, "configmap", name)["data"] == {"a": "2"}


def it_applies_on_the_server(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "--server-side", "-f", "-")
    assert "serverside-applied" in kubectl(*apply, input=dump(config_map(name, a="1")))
    done = kubectl.run(*apply, "--field-manager=other", input=dump(config_map(name, a="2")))
    assert done.returncode == 1
    assert 'Apply failed with 1 conflict: conflict with "kubectl": .data.a' in done.stderr
    kubectl(
        *apply, "--field-manager=other", "--force-conflicts", input=dump(config_map(name, a="2"))
    )
    assert read(kubectl, "configmap", name)["data"] == {"a": "2"}


def it_applies_workloads(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "-f", "-")
    kubectl(*apply, input=dump(deployment(name, "example/zero:1", "example/one:1")))
    kubectl(*apply, input=dump(deployment(name, "example/zero:2")))
    containers = read(kubectl, "deployment", name)["spec"]["template"]["spec"]["containers"]
    assert [(c["name"], c["image"]) for c in containers] == [("c0", "example/zero:2")]


def it_shows_differences(kubectl: Kubectl, a_map: str) -> None:
    done = kubectl.run("diff", "-f", "-", input=dump(config_map(a_map, a="2")))
    assert done.returncode == 1, done.stderr
    assert '+  a: "2"' in done.stdout


def it_labels_and_annotates(kubectl: Kubectl, a_map: str) -> None:
    kubectl("label", "configmap", a_map, "colour=blue")
    kubectl("annotate", "configmap", a_map, "example.com/note=two words")
    about = read(kubectl, "configmap", a_map)["metadata"]
    assert about["labels"] == {"colour": "blue"}
    assert about["annotations"]["example.com/note"] == "two words"
    assert kubectl.run("label", "configmap", a_map, "colour=red").returncode == 1
    kubectl("label", "configmap", a_map, "colour-")
    assert "labels" not in read(kubectl, "configmap", a_map)["metadata"]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", '{"data": {"a": "2"}}'),
        ("strategic", '{"data": {"a": "2"}}'),
        ("json", '[{"op": "replace", "path": "/data/a", "value": "2"}]'),
    ],
)
def it_patches(kubectl: Kubectl, a_map: str, kind: str, patch: str) -> None:
    kubectl("patch", "configmap", a_map, f"--type={kind}", "-p", patch)
    assert read(kubectl, "configmap", a_map)["data"] == {"a": "2"}


def it_replaces(kubectl: Kubectl, a_map: str) -> None:
    kubectl("replace", "-f", "-", input=dump(config_map(a_map, b="2")))
    assert read(kubectl, "configmap", a_map)["data"] == {"b": "2"}


def it_sets_images_and_scales(kubectl: Kubectl) -> None:
    name = unique("scaled")
    kubectl("create", "-f", "-", input=dump(deployment(name, "example/one:1")))
    kubectl("set", "image", f"deployment/{name}", "c0=example/one:2")
    kubectl("scale", f"deployment/{name}", "--replicas=0")
    spec = read(kubectl, "deployment", name)["spec"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "example/one:2"


def it_deletes(kubectl: Kubectl, a_map: str) -> None:
    assert kubectl("delete", "configmap", a_map).startswith(f'configmap "{a_map}" deleted')
    assert kubectl.run("get", "configmap", a_map).returncode == 1


def it_deletes_by_label(kubectl: Kubectl, a_map: str) -> None:
    kubectl("label", "configmap", a_map, "doomed=yes")
    kubectl("delete", "configmaps", "-l", "doomed=yes")
    assert kubectl.run("get", "configmap", a_map).returncode == 1


def it_waits(kubectl: Kubectl, a_map: str) -> None:
    kubectl("delete", "configmap", a_map, "--wait=false")
    kubectl("wait", "--for=delete", f"configmap/{a_map}", "--timeout=10s")


def it_asks_what_is_allowed(kubectl: Kubectl, scrap: Scrap, namespace: str) -> None:
    name = unique("user")
    grants = Grants(scrap, namespace)
    grants.here(user(name), rule("list", "pods"))
    grants.wait(name, namespace=namespace, verb="list", resource="pods")
    assert kubectl("auth", "can-i", "delete", "nodes").strip().endswith("yes")
    assert kubectl("auth", "can-i", "list", "pods", "--as", name) == "yes\n"
    refused = kubectl.run("auth", "can-i", "delete", "pods", "--as", name)
    assert (refused.returncode, refused.stdout) == (1, "no\n")
    listed = kubectl("auth", "can-i", "--list", "--as", name)
    assert re.search(r"^pods\s+\[\]\s+\[\]\s+\[list\]$", listed, re.MULTILINE)


def it_says_who_one_is(kubectl: Kubectl) -> None:
    whoami = kubectl("auth", "whoami", "-o", "json", "--as", "ann", "--as-group", "team")
    info = json.loads(whoami)["status"]["userInfo"]
    assert info == {"username": "ann", "groups": ["team", "system:authenticated"]}


def it_lists_what_there_is(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources", "--no-headers").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert rows["pods"] == ["po", "v1", "true", "Pod"]
    assert rows["deployments"] == ["deploy", "apps/v1", "true", "Deployment"]
    assert "apps/v1" in kubectl("api-versions").split()


@pytest.fixture(scope="module")
def widgets(admin: Client, namespace: str) -> Iterator[Obj]:
    """The definition of widgets with columns, of which there is one."""
    crd = definition(
        additionalPrinterColumns=[
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]
    )
    crd["spec"]["names"] |= {"shortNames": [unique("s")], "categories": [unique("c")]}
    with ExitStack() as stack:
        where = establish(admin, Scrap(admin, stack), crd, namespace)
        admin.post(where, widget(crd, "shown", size=7)).ok()
        yield crd


def it_prints_custom_columns(kubectl: Kubectl, widgets: Obj) -> None:
    plural = widgets["metadata"]["name"]
    header, line = kubectl("get", plural).splitlines()
    assert header.split() == ["NAME", "SIZE", "AGE"]
    assert line.split()[:2] == ["shown", "7"]
    header, line = kubectl("get", plural, "-o", "wide").splitlines()
    assert header.split() == ["NAME", "SIZE", "COLOR", "AGE"]
    assert line.split()[:3] == ["shown", "7", "blue"]


def it_knows_short_names(kubectl: Kubectl, widgets: Obj) -> None:
    name = f"widget.{widgets['spec']['group']}/shown\n"
    names = widgets["spec"]["names"]
    assert kubectl("get", names["shortNames"][0], "-o", "name") == name
    assert kubectl("get", names["categories"][0], "-o", "name") == name


def it_explains(kubectl: Kubectl) -> None:
    assert "KIND:       Pod" in kubectl("explain", "pods")


def it_checks_before_it_sends(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "-f", "-", input=dump({**config_map("bad"), "dataa": {}}))
    assert done.returncode == 1
    assert 'unknown field "dataa"' in done.stderr
