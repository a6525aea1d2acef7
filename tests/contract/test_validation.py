"""Validation of objects before they are stored, and handling of unknown fields."""

import re

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Answer, Client, Obj
from tests.contract.objects import config_map, create_pod, deployment, path, pod, unique
from tests.controlplane.waiting import eventually

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


@pytest.fixture
def where(namespace: str) -> str:
    return path(namespace, "configmaps")


def causes(client: Client, where: str, body: Obj) -> list[tuple[str, str]]:
    """Return field and reason of each validation error."""
    answer = client.post(where, body)
    assert (answer.status, answer.reason) == (422, "Invalid")
    return [(c["field"], c["reason"]) for c in answer.json["details"]["causes"]]


def with_unknown(name: str) -> Obj:
    return {**config_map(name), "dataa": {"a": "b"}}


def test_strict_validation_rejects_unknown_fields(admin: Client, where: str) -> None:
    answer = admin.post(where, with_unknown("unknown"), fieldValidation="Strict")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert 'strict decoding error: unknown field "dataa"' in answer.json["message"]


def test_strict_validation_rejects_unknown_nested_fields(admin: Client, namespace: str) -> None:
    body = deployment(unique("deep"), "example/one:1")
    body["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"
    where = path(namespace, "deployments", group="apps/v1")
    answer = admin.post(where, body, fieldValidation="Strict")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    field = 'unknown field "spec.template.spec.containers[0].imagee"'
    assert field in answer.json["message"]


@pytest.mark.parametrize("field", ["lastTimestamp", "eventTime"])
@pytest.mark.parametrize("moment", ["yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", 7])
def test_invalid_timestamps_are_rejected(
    admin: Client, namespace: str, field: str, moment: object
) -> None:
    event = {
        "metadata": {"name": unique("odd")},
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "a"},
        field: moment,
    }
    answer = admin.post(path(namespace, "events"), event)
    assert (answer.status, answer.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("not base64", 3), ("YQ", 0), ("YWJjZA", 4), ("YQ=", 3), ("YQ==x", 4), ("YQ=x", 2),
        ("YWI=YWI=", 4), ("=", 0), ("Y===", 1), ("YWJj\nZ", 5), ("é", 0), ("YW-_", 2),
    ],
)  # fmt: skip
def test_invalid_base64_is_rejected(admin: Client, namespace: str, text: str, at: int) -> None:
    said = f"illegal base64 data at input byte {at}"
    for plural, field in (("secrets", "data"), ("configmaps", "binaryData")):
        body = {"metadata": {"name": unique("odd")}, field: {"a": text}}
        answer = admin.post(path(namespace, plural), body)
        assert (answer.status, answer.reason) == (400, "BadRequest")
        assert said in answer.json["message"]


@pytest.mark.parametrize("text", ["", "YQ==", "YWI=", "YWJj", "YWJj\nYQ==\n", "YR=="])
def test_valid_base64_is_accepted(admin: Client, namespace: str, text: str) -> None:
    body = {"metadata": {"name": unique("fine")}, "data": {"a": text}}
    assert admin.post(path(namespace, "secrets"), body).status == 201


def test_strict_validation_rejects_duplicate_fields(admin: Client, where: str) -> None:
    text = b'{"metadata": {"name": "double"}, "data": {"a": "1"}, "data": {"b": "2"}}'
    answer = admin.post(where, text, fieldValidation="Strict")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert 'duplicate field "data"' in answer.json["message"]


def test_warn_validation_warns_about_unknown_fields(admin: Client, where: str) -> None:
    answer = admin.post(where, with_unknown(unique("warned")), fieldValidation="Warn")
    assert answer.status == 201
    assert answer.headers["warning"] == '299 - "unknown field \\"dataa\\""'
    assert "dataa" not in answer.json


def test_ignore_validation_drops_unknown_fields(admin: Client, where: str) -> None:
    answer = admin.post(where, with_unknown(unique("ignored")), fieldValidation="Ignore")
    assert answer.status == 201
    assert "warning" not in answer.headers
    assert "dataa" not in answer.json


def test_strict_validation_applies_to_patches(admin: Client, where: str) -> None:
    name = admin.post(where, config_map(unique("patched"))).ok()["metadata"]["name"]
    answer = admin.patch(
        f"{where}/{name}", {"dataa": {"a": "b"}}, MERGE_PATCH, fieldValidation="Strict"
    )
    assert (answer.status, answer.reason) == (422, "Invalid")


def test_values_of_a_wrong_type_are_rejected(admin: Client, where: str) -> None:
    answer = admin.post(where, {**config_map("typed"), "data": {"a": 1}})
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_a_pod_requires_containers(admin: Client, namespace: str) -> None:
    body = pod("empty", containers=[])
    assert causes(admin, path(namespace, "pods"), body) == [
        ("spec.containers", "FieldValueRequired")
    ]


def test_containers_require_image_and_name(admin: Client, namespace: str) -> None:
    create_pod(admin, namespace, pod(unique("first")))
    found = causes(admin, path(namespace, "pods"), pod("nameless", containers=[{}]))
    assert ("spec.containers[0].name", "FieldValueRequired") in found
    assert ("spec.containers[0].image", "FieldValueRequired") in found


def test_selectors_must_match_the_pod_template(admin: Client, namespace: str) -> None:
    body = deployment("unfit", "example/one:1")
    body["spec"]["template"]["metadata"]["labels"] = {"other": "label"}
    where = path(namespace, "deployments", group="apps/v1")
    assert causes(admin, where, body) == [("spec.template.metadata.labels", "FieldValueInvalid")]


def test_selectors_are_immutable(admin: Client, namespace: str) -> None:
    name = unique("kept")
    where = path(namespace, "deployments", group="apps/v1")
    admin.post(where, deployment(name, "example/one:1")).ok()
    labels = {"app": name, "more": "1"}
    body = {
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    }
    answer = admin.patch(f"{where}/{name}", body, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "spec.selector"


def test_most_pod_fields_are_immutable(admin: Client, namespace: str) -> None:
    name = unique("kept")
    create_pod(admin, namespace, pod(name))
    where = path(namespace, "pods", name)
    answer = admin.patch(where, {"spec": {"restartPolicy": "Never"}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert "pod updates may not change fields other than" in answer.json["message"]
    image = {"spec": {"containers": [{"name": "main", "image": "example/main:2"}]}}
    changed = admin.patch(where, image, "application/strategic-merge-patch+json").ok()
    assert changed["spec"]["containers"][0]["image"] == "example/main:2"


def test_pod_defaults_are_filled_in(admin: Client, namespace: str) -> None:
    made = create_pod(admin, namespace, pod(unique("default")))
    spec, (container,) = made["spec"], made["spec"]["containers"]
    assert spec["restartPolicy"] == "Always"
    assert spec["dnsPolicy"] == "ClusterFirst"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert spec["serviceAccountName"] == "default"
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert made["status"]["phase"] == "Pending"
    assert made["status"]["qosClass"] == "BestEffort"


def test_deployment_defaults_are_filled_in(admin: Client, namespace: str) -> None:
    body = deployment(unique("default"), "example/one")
    del body["spec"]["replicas"]
    body["spec"]["paused"] = True
    made = admin.post(path(namespace, "deployments", group="apps/v1"), body).ok()
    spec = made["spec"]
    assert (spec["replicas"], spec["revisionHistoryLimit"]) == (1, 10)
    assert spec["progressDeadlineSeconds"] == 600
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    (container,) = spec["template"]["spec"]["containers"]
    assert container["imagePullPolicy"] == "Always"


def test_immutable_config_maps_cannot_be_changed(admin: Client, where: str) -> None:
    name = unique("immutable")
    admin.post(where, {**config_map(name, a="1"), "immutable": True}).ok()
    answer = admin.patch(f"{where}/{name}", {"data": {"a": "2"}}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "data"


def test_services_get_a_cluster_ip(admin: Client, namespace: str) -> None:
    ports = [{"port": 80}]
    body: Obj = {"metadata": {"name": unique("svc")}, "spec": {"ports": ports}}
    spec = admin.post(path(namespace, "services"), body).ok()["spec"]
    assert spec["type"] == "ClusterIP"
    assert spec["clusterIP"] == spec["clusterIPs"][0]
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_limits_must_not_be_lower_than_requests(admin: Client, namespace: str) -> None:
    resources = {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}
    body = pod("greedy", containers=[{"name": "c", "image": "i", "resources": resources}])
    answer = admin.post(path(namespace, "pods"), body)
    (cause,) = answer.json["details"]["causes"]
    assert (answer.status, cause["field"]) == (422, "spec.containers[0].resources.requests")
    assert cause["message"] == (
        'Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi'
    )


def test_resource_quotas_are_enforced(admin: Client, namespace: str) -> None:
    hard = {"count/secrets": "1"}
    quotas = path(namespace, "resourcequotas")
    few = unique("few")
    admin.post(quotas, {"metadata": {"name": few}, "spec": {"hard": hard}}).ok()
    # Set the status as the quota controller would, in case it is not running.
    status = {"status": {"hard": hard, "used": {"count/secrets": "0"}}}
    admin.patch(f"{quotas}/{few}/status", status, MERGE_PATCH).ok()
    where = path(namespace, "secrets")

    def refused() -> tuple[str, Answer] | None:
        """Return an object that was rejected. kube-apiserver watches quotas, so one more object may
        be accepted first.
        """
        name = unique("one")
        answer = admin.post(where, {"metadata": {"name": name}})
        return (name, answer) if answer.status == 403 else None

    found = eventually(refused, "the quota is full")
    assert found is not None
    name, answer = found
    assert answer.reason == "Forbidden"
    # The quota controller may have counted the namespace's other Secrets meanwhile.
    told = re.sub(r"used: count/secrets=[1-9]\d*", "used: some", answer.json["message"])
    assert told == (
        f'secrets "{name}" is forbidden: exceeded quota: {few}, requested: count/secrets=1, '
        "used: some, limited: count/secrets=1"
    )


def test_resource_quotas_are_enforced_on_expansion(
    admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    """A claim is expanded. The error reports the requested and the available amount."""
    expands = {"metadata": {"name": unique("grows")}, "allowVolumeExpansion": True}
    made = cleanup.create(CLASSES, {**expands, "provisioner": "example.com/nobody"})
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": made["metadata"]["name"],
        "hostPath": {"path": "/nowhere"},
    }
    about = {"name": unique("volume")}
    cleanup.create("/api/v1/persistentvolumes", {"metadata": about, "spec": volume})
    claims = path(namespace, "persistentvolumeclaims")
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": made["metadata"]["name"],
        "volumeName": about["name"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    name = unique("claim")
    admin.post(claims, {"metadata": {"name": name}, "spec": spec}).ok()
    where = f"{claims}/{name}"
    eventually(lambda: admin.get(where).ok()["status"]["phase"] == "Bound", "the claim is bound")
    hard = {"requests.storage": "3Gi"}
    quotas = path(namespace, "resourcequotas")
    admin.post(quotas, {"metadata": {"name": "space"}, "spec": {"hard": hard}}).ok()
    status = {"status": {"hard": hard, "used": {"requests.storage": "1Gi"}}}
    admin.patch(f"{quotas}/space/status", status, MERGE_PATCH).ok()
    # kube-apiserver watches quotas, so a new quota takes effect with a short delay.
    tried = f"{where}?dryRun=All"
    eventually(lambda: admin.patch(tried, grown("4Gi"), MERGE_PATCH).status == 403, "it counts")
    answer = admin.patch(where, grown("4Gi"), MERGE_PATCH)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.json["message"] == (
        f'persistentvolumeclaims "{name}" is forbidden: exceeded quota: space, requested: '
        "requests.storage=3Gi, used: requests.storage=1Gi, limited: requests.storage=3Gi"
    )
    admin.patch(where, grown("2Gi"), MERGE_PATCH).ok()
    admin.patch(where, {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH).ok()


def grown(size: str) -> Obj:
    return {"spec": {"resources": {"requests": {"storage": size}}}}
