"""The embedded cluster as an older Kubernetes release."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster.releases import Release
from devcluster.server import DevCluster
from tests.devcluster.conftest import Api

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Api]:
    with DevCluster(tmp_path, release=Release(21)) as cluster:
        yield Api.of(cluster)


def test_missing_types_and_versions_are_not_served(old: Api) -> None:
    assert old.get("/version")["gitVersion"] == "v1.21.0"
    groups = {one["name"]: one for one in old.get("/apis")["groups"]}
    versions = [one["version"] for one in groups["autoscaling"]["versions"]]
    assert versions == ["v1", "v2beta2"]
    assert "resource.k8s.io" not in groups
    for path in (
        "/apis/autoscaling/v2/horizontalpodautoscalers",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        "/openapi/v3",
    ):
        assert old.call("GET", path)[0] == 404
    found = {one["name"]: one for one in old.get("/api/v1")["resources"]}
    assert found["pods/eviction"]["version"] == "v1beta1"
    assert "pods/ephemeralcontainers" not in found


def test_requested_duration_of_certificates_is_dropped(old: Api) -> None:
    spec = {"request": "eA==", "signerName": "example.com/x", "usages": ["client auth"]}
    body = {"metadata": {"name": "x"}, "spec": {**spec, "expirationSeconds": 600}}
    assert "expirationSeconds" not in old.post(CSRS, body)["spec"]


def test_evictions_of_the_new_version_are_rejected(old: Api) -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    old.post("/api/v1/namespaces/default/pods", pod)
    eviction = {"kind": "Eviction", "metadata": {"name": "a"}}
    for version, code in (("policy/v1", 400), ("policy/v1beta1", 201)):
        path = "/api/v1/namespaces/default/pods/a/eviction"
        assert old.call("POST", path, {**eviction, "apiVersion": version})[0] == code
