"""Values that the cluster changes in a new object."""

from copy import deepcopy
from typing import Any

from console.kinds.secrets import SecretKind
from console.ui.editing.server_changes import server_changes

SENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "containers": [
                    {"name": "web", "image": "a:1", "resources": {"limits": {"cpu": "0.5"}}}
                ]
            }
        },
    },
}


def stored() -> dict[str, Any]:
    found = deepcopy(SENT)
    found["metadata"]["uid"] = "1"
    found["spec"]["revisionHistoryLimit"] = 10
    pod = found["spec"]["template"]["spec"]
    pod["dnsPolicy"] = "ClusterFirst"
    pod["containers"][0]["resources"] = {"limits": {"cpu": "500m"}}
    pod["containers"][0]["imagePullPolicy"] = "IfNotPresent"
    return found


def listed(after: dict[str, Any]) -> list[tuple[str, str, str]]:
    found = server_changes(None, SENT, after)
    return [(one.path, one.before, one.after) for one in found.changes]


def test_defaults_and_equal_quantities_are_no_changes() -> None:
    found = server_changes(None, SENT, stored())
    assert found.changes == ()
    assert any(one.sign == "+" and "dnsPolicy" in one.text for one in found.difference.lines)


def test_changed_values_labels_and_added_containers_are_listed() -> None:
    after = stored()
    pod = after["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "mirror/a:1"
    pod["containers"].insert(0, {"name": "proxy", "image": "p:1"})
    pod["tolerations"] = [{"key": "gpu"}]
    after["metadata"]["labels"]["team"] = "x"
    after["metadata"]["annotations"] = {"seen": "yes"}
    after["spec"]["replicas"] = 3
    pod_path = "spec.template.spec"
    assert listed(after) == [
        ("metadata.labels.team", "", "x"),
        ("metadata.annotations", "", 'seen: "yes"'),
        ("spec.replicas", "2", "3"),
        (f"{pod_path}.containers[0]", "", "name: proxy image: p:1"),
        (f"{pod_path}.containers[1].image", "a:1", "mirror/a:1"),
        (f"{pod_path}.tolerations", "", "- key: gpu"),
    ]


def test_removed_values_are_listed() -> None:
    after = stored()
    del after["spec"]["template"]["spec"]["containers"][0]["image"]
    assert listed(after) == [("spec.template.spec.containers[0].image", "a:1", "")]


def test_values_of_secrets_are_hidden() -> None:
    sent = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "YQ=="}}
    after = {**sent, "data": {"k": "Yg==", "more": "Yw=="}, "type": "Opaque"}
    found = server_changes(SecretKind(), sent, after)
    texts = [*(one.text for one in found.difference.lines), *(one.after for one in found.changes)]
    assert not any("Yg==" in one or "Yw==" in one for one in texts)


def test_labels_and_annotations_that_kube_apiserver_sets_are_no_changes() -> None:
    after = stored()
    after["spec"]["template"]["metadata"] = {"labels": {"job-name": "web"}}
    after["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "1"}
    after["metadata"]["labels"]["batch.kubernetes.io/job-name"] = "web"
    assert listed(after) == []


def test_values_of_string_data_are_expected_in_data() -> None:
    sent = {"kind": "Secret", "data": {"a": "MQ=="}, "stringData": {"b": "2"}}
    after = {"kind": "Secret", "data": {"a": "MQ==", "b": "Mg=="}}
    assert server_changes(SecretKind(), sent, after).changes == ()
    after["data"]["c"] = "Mw=="  # type: ignore[index]
    assert [one.path for one in server_changes(SecretKind(), sent, after).changes] == ["data.c"]
