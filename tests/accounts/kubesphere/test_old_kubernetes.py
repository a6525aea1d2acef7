"""The installed console on Kubernetes 1.24."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.accounts.kubesphere.world import World, world_in
from tests.controlplane.build import OLD, TOOLS, version_of

VERSION = version_of(TOOLS[f"kube-apiserver{OLD}"])


@pytest.fixture(scope="module")
def old(
    old_control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("old"), old=True) as found:
        yield found


def test_doctor_reports_the_version_and_the_missing_protections(old: World) -> None:
    said = old.manage("doctor", "--questions", "50")
    assert f"Kubernetes {VERSION} is supported" in said and "decisions are identical" in said
    assert said.count("Missing protection before Kubernetes 1.30: ") == 4
    assert said.count("Limitation before ") == 1


def test_page_of_the_cluster_shows_the_missing_protections(old: World) -> None:
    status, text = old.visitor("admin").get("/clusters/host")
    assert status == 200 and f"Kubernetes {VERSION}" in text
    assert "can act as the console" in text


def test_downloaded_kubeconfig_works(old: World) -> None:
    text = old.visitor("admin").kubeconfig()
    first = text.partition("\n")[0].removeprefix("# The certificate expires on ")
    until = datetime.strptime(first, "%Y-%m-%d %H:%M:%S UTC.").replace(tzinfo=UTC)
    assert until - datetime.now(UTC) <= timedelta(days=1)
    path = old.folder / "admin.kubeconfig"
    path.write_text(text)
    done = old.cluster.kubectl("get", "namespaces", "--output=name", kubeconfig=path)
    assert "namespace/default" in done.stdout, done.stderr
