"""Writes with an unmodified kubectl."""

import pytest

from tests.contract.client import Client
from tests.contract.cluster import Kubectl
from tests.contract.objects import config_map, deployment, dump, path, unique


@pytest.fixture
def a_map(admin: Client, namespace: str) -> str:
    name = unique("map")
    admin.post(path(namespace, "configmaps"), config_map(name, a="1")).ok()
    return name


def test_create_from_literals(kubectl: Kubectl) -> None:
    name = unique("literal")
    kubectl("create", "configmap", name, "--from-literal=a=1")
    assert kubectl.read("configmap", name)["data"] == {"a": "1"}
    done = kubectl.run("create", "configmap", name)
    assert f'configmaps "{name}" already exists' in done.stderr


def test_apply_creates_updates_and_detects_no_change(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "-f", "-")
    assert "created" in kubectl(*apply, input=dump(config_map(name, a="1", b="1")))
    assert "unchanged" in kubectl(*apply, input=dump(config_map(name, a="1", b="1")))
    assert "configured" in kubectl(*apply, input=dump(config_map(name, a="2")))
    assert kubectl.read("configmap", name)["data"] == {"a": "2"}


def test_server_side_apply_reports_conflicts(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "--server-side", "-f", "-")
    assert "serverside-applied" in kubectl(*apply, input=dump(config_map(name, a="1")))
    done = kubectl.run(*apply, "--field-manager=other", input=dump(config_map(name, a="2")))
    assert done.returncode == 1
    assert 'Apply failed with 1 conflict: conflict with "kubectl": .data.a' in done.stderr
    kubectl(
        *apply, "--field-manager=other", "--force-conflicts", input=dump(config_map(name, a="2"))
    )
    assert kubectl.read("configmap", name)["data"] == {"a": "2"}


def test_apply_updates_workloads(kubectl: Kubectl) -> None:
    name = unique("applied")
    apply = ("apply", "-f", "-")
    kubectl(*apply, input=dump(deployment(name, "example/zero:1", "example/one:1")))
    kubectl(*apply, input=dump(deployment(name, "example/zero:2")))
    containers = kubectl.read("deployment", name)["spec"]["template"]["spec"]["containers"]
    assert [(c["name"], c["image"]) for c in containers] == [("c0", "example/zero:2")]


def test_diff_prints_changes(kubectl: Kubectl, a_map: str) -> None:
    done = kubectl.run("diff", "-f", "-", input=dump(config_map(a_map, a="2")))
    assert done.returncode == 1, done.stderr
    assert '+  a: "2"' in done.stdout


def test_label_and_annotate_change_metadata(kubectl: Kubectl, a_map: str) -> None:
    kubectl("label", "configmap", a_map, "colour=blue")
    kubectl("annotate", "configmap", a_map, "example.com/note=two words")
    about = kubectl.read("configmap", a_map)["metadata"]
    assert about["labels"] == {"colour": "blue"}
    assert about["annotations"]["example.com/note"] == "two words"
    assert kubectl.run("label", "configmap", a_map, "colour=red").returncode == 1
    kubectl("label", "configmap", a_map, "colour-")
    assert "labels" not in kubectl.read("configmap", a_map)["metadata"]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", '{"data": {"a": "2"}}'),
        ("strategic", '{"data": {"a": "2"}}'),
        ("json", '[{"op": "replace", "path": "/data/a", "value": "2"}]'),
    ],
)
def test_patch_applies_each_patch_type(kubectl: Kubectl, a_map: str, kind: str, patch: str) -> None:
    kubectl("patch", "configmap", a_map, f"--type={kind}", "-p", patch)
    assert kubectl.read("configmap", a_map)["data"] == {"a": "2"}


def test_replace_replaces_the_object(kubectl: Kubectl, a_map: str) -> None:
    kubectl("replace", "-f", "-", input=dump(config_map(a_map, b="2")))
    assert kubectl.read("configmap", a_map)["data"] == {"b": "2"}


def test_set_image_and_scale_change_a_deployment(kubectl: Kubectl) -> None:
    name = unique("scaled")
    kubectl("create", "-f", "-", input=dump(deployment(name, "example/one:1")))
    kubectl("set", "image", f"deployment/{name}", "c0=example/one:2")
    kubectl("scale", f"deployment/{name}", "--replicas=0")
    spec = kubectl.read("deployment", name)["spec"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "example/one:2"


def test_delete_removes_the_object(kubectl: Kubectl, a_map: str) -> None:
    assert kubectl("delete", "configmap", a_map).startswith(f'configmap "{a_map}" deleted')
    assert kubectl.run("get", "configmap", a_map).returncode == 1


def test_delete_by_label_removes_matching_objects(kubectl: Kubectl, a_map: str) -> None:
    kubectl("label", "configmap", a_map, "doomed=yes")
    kubectl("delete", "configmaps", "-l", "doomed=yes")
    assert kubectl.run("get", "configmap", a_map).returncode == 1


def test_wait_for_delete_returns_after_deletion(kubectl: Kubectl, a_map: str) -> None:
    kubectl("delete", "configmap", a_map, "--wait=false")
    kubectl("wait", "--for=delete", f"configmap/{a_map}", "--timeout=10s")


def test_create_rejects_unknown_fields(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "-f", "-", input=dump({**config_map("bad"), "dataa": {}}))
    assert done.returncode == 1
    assert 'unknown field "dataa"' in done.stderr


def test_create_and_apply_process_items_of_a_list(kubectl: Kubectl) -> None:
    names = [unique("item") for _ in range(2)]
    maps = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [config_map(name, a="1") for name in names],
    }
    kubectl("create", "-f", "-", input=dump(maps))
    maps["items"] = [config_map(name, a="2") for name in names]
    kubectl("apply", "-f", "-", input=dump(maps))
    assert [kubectl.read("configmap", name)["data"] for name in names] == [{"a": "2"}] * 2
    wrong = {**maps, "items": [{**config_map(names[0]), "dataa": {}}]}
    done = kubectl.run("apply", "-f", "-", input=dump(wrong))
    assert done.returncode == 1
    assert 'unknown field "dataa"' in done.stderr
