"""Parsing of server versions, translation of API versions, and the limitations of old servers."""

import json

import pytest

from console.kube.compatibility import (
    ADMISSION_POLICIES,
    LIMITATIONS,
    NEWEST,
    OLDEST,
    ApiVersions,
    Release,
    ServerVersion,
    limitations,
    read_version,
)
from console.kube.gvr import CRON_JOBS, GVR, HORIZONTAL_POD_AUTOSCALERS
from tests.controlplane.build import TOOLS, version_of

V2, V2BETA2 = HORIZONTAL_POD_AUTOSCALERS, GVR("autoscaling", "v2beta2", "horizontalpodautoscalers")


def server(minor: int) -> ServerVersion:
    return ServerVersion((1, minor), f"v1.{minor}.0")


@pytest.mark.parametrize(
    ("git", "minor", "release"),
    [
        ("v1.24.17", "24", (1, 24)),
        ("v1.21.14-eks-ba74326", "21+", (1, 21)),
        ("v1.26.5+k3s1", "26", (1, 26)),
        # Built without version information.
        ("", "24+", (1, 24)),
        ("v0.0.0-master+$Format:%H$", "", (0, 0)),
        ("nonsense", "", None),
        ("v1." + "9" * 5000, "", None),
    ],
)
def test_version_is_parsed(git: str, minor: str, release: Release | None) -> None:
    found = read_version(json.dumps({"major": "1", "minor": minor, "gitVersion": git}).encode())
    assert (found.release if found is not None else None) == release


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"gitVersion": 1}', b"<html>", b"[" * 100_000]
)
def test_invalid_version_is_unknown(body: bytes) -> None:
    assert read_version(body) is None


def test_releases_since_the_oldest_are_supported() -> None:
    assert [server(minor).supported for minor in (20, 21, 36, 40)] == [False, True, True, True]


def test_documentation_names_the_supported_releases() -> None:
    """The newest release is the one of the tests."""
    tested = version_of(TOOLS["kube-apiserver"]).removeprefix("v").split(".")
    assert (int(tested[0]), int(tested[1])) == NEWEST
    assert OLDEST == (1, 21)


def test_autoscalers_are_translated_for_servers_without_v2() -> None:
    versions = ApiVersions.of(server(22), lambda gvr: gvr == V2BETA2)
    assert (versions.served(V2), versions.served(CRON_JOBS)) == (V2BETA2, CRON_JOBS)
    body = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"a": 1}}
    sent = {**body, "apiVersion": "autoscaling/v2beta2"}
    assert versions.sent(body) == sent and versions.received(sent) == body
    assert versions.served_version("autoscaling", "v2") == "v2beta2"
    for other in ([body], {"apiVersion": "autoscaling/v1"}, {}, "text"):
        assert versions.sent(other) == other


@pytest.mark.parametrize("types", [{V2, V2BETA2}, {V2}, set()])
def test_current_versions_are_preferred(types: set[GVR]) -> None:
    assert ApiVersions.of(server(24), types.__contains__) == ApiVersions()


@pytest.mark.parametrize(
    ("version", "eviction"),
    [(server(21), "policy/v1beta1"), (server(22), "policy/v1"), (None, "policy/v1")],
)
def test_version_of_evictions_depends_on_the_server(
    version: ServerVersion | None, eviction: str
) -> None:
    assert ApiVersions.of(version, lambda _gvr: True).eviction == eviction


@pytest.mark.parametrize(("minor", "count"), [(21, 5), (22, 4), (23, 3), (24, 1), (25, 0), (36, 0)])
def test_limitations_depend_on_the_version(minor: int, count: int) -> None:
    assert len(limitations(server(minor), lambda _gvr: True)) == count
    assert limitations(None, lambda _gvr: None) == ()


@pytest.mark.parametrize(("served", "missing"), [(True, False), (False, True), (None, False)])
def test_protections_require_admission_policies(served: bool | None, missing: bool) -> None:
    found = limitations(server(36), lambda gvr: served if gvr == ADMISSION_POLICIES else None)
    assert list(found) == [one for one in LIMITATIONS if one.since == (1, 30) and missing]
