"""Lifecycle of the embedded cluster: start, restart, kill, files and errors."""

import http.client
import socket
import stat
import threading
from pathlib import Path

import pytest

from devcluster.cluster import Cluster
from devcluster.server import DevCluster, DevClusterError
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api
from tests.support.ports import free_port

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "data": {"a": "b"}}


def test_objects_and_tokens_persist_across_a_restart(tmp_path: Path) -> None:
    with DevCluster(tmp_path) as cluster:
        api = Api.of(cluster)
        made = api.post(CONFIG_MAPS, config_map("kept"))
        api.post(CONFIG_MAPS, config_map("removed"))
        assert api.call("DELETE", f"{CONFIG_MAPS}/removed")[0] == 200
        before = int(api.get(CONFIG_MAPS)["metadata"]["resourceVersion"])
    with DevCluster(tmp_path) as cluster:
        # The token remains valid and is reused for the same user.
        again = Api(cluster, api.token)
        assert Api.of(cluster).token == api.token
        assert again.get(f"{CONFIG_MAPS}/kept") == made
        assert again.call("GET", f"{CONFIG_MAPS}/removed")[0] == 404
        later = again.post(CONFIG_MAPS, config_map("later"))
        assert int(later["metadata"]["resourceVersion"]) > before


def test_custom_types_persist_across_a_restart(tmp_path: Path) -> None:
    crd = {
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    with DevCluster(tmp_path) as cluster:
        api = Api.of(cluster)
        api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        body = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "one"}}
        made = api.post("/apis/example.com/v1/gadgets", body)
    with DevCluster(tmp_path) as cluster:
        assert Api.of(cluster).get("/apis/example.com/v1/gadgets/one") == made


def test_a_killed_cluster_restarts_with_the_same_url_and_data(
    cluster: DevCluster, api: Api
) -> None:
    made = api.post(CONFIG_MAPS, config_map("kept"))
    url = cluster.url
    with api.open("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=0") as watching:
        assert watching.readline()
        cluster.kill()
        # The connection is aborted without the final chunk of a complete response.
        with pytest.raises((OSError, http.client.IncompleteRead)):
            watching.read()
    with pytest.raises(OSError, match=r"refused"):
        api.open("GET", CONFIG_MAPS)
    cluster.start()
    assert cluster.url == url
    assert api.get(f"{CONFIG_MAPS}/kept") == made


def test_a_slow_watcher_is_disconnected_without_logged_errors(
    cluster: DevCluster, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    def burst(parts: Cluster) -> None:
        # More changes than the watch queue holds, so that the watcher is disconnected.
        for number in range(2_100):
            meta = {"name": f"many-{number}", "namespace": "default", "uid": f"many-{number}"}
            parts.store.put(parts.registry.get("configmaps").storage, {"metadata": meta})

    api.post(CONFIG_MAPS, config_map("first"))
    with api.open("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=0") as watching:
        assert watching.readline()
        cluster.run(burst)
        with pytest.raises((OSError, http.client.IncompleteRead)):
            watching.read()
    assert len(api.get(CONFIG_MAPS)["items"]) > 2_100
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_a_watch_from_before_a_restart_returns_410(cluster: DevCluster, api: Api) -> None:
    start = api.post(CONFIG_MAPS, config_map("one"))["metadata"]["resourceVersion"]
    last = api.post(CONFIG_MAPS, config_map("two"))["metadata"]["resourceVersion"]
    cluster.kill()
    cluster.start()
    with api.open("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion={start}") as response:
        assert b'"code":410' in response.readline()
    # No object changed since the last resourceVersion, so a watch can resume from it.
    with api.open(
        "GET", f"{CONFIG_MAPS}?watch=1&resourceVersion={last}&timeoutSeconds=1"
    ) as response:
        assert response.read() == b""


def test_compaction_expires_watches_and_continue_tokens(cluster: DevCluster, api: Api) -> None:
    start = api.post(CONFIG_MAPS, config_map("one"))["metadata"]["resourceVersion"]
    api.post(CONFIG_MAPS, config_map("two"))
    page = api.get(f"{CONFIG_MAPS}?limit=1")["metadata"]["continue"]
    api.post(CONFIG_MAPS, config_map("three"))
    cluster.compact()
    with api.open("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion={start}") as response:
        assert b'"reason":"Expired"' in response.readline()
    status, expired = api.call("GET", f"{CONFIG_MAPS}?limit=1&continue={page}")
    assert (status, expired["reason"]) == (410, "Expired")
    rest = api.get(f"{CONFIG_MAPS}?continue={expired['metadata']['continue']}")
    assert [item["metadata"]["name"] for item in rest["items"]] == ["one", "three", "two"]


def test_an_occupied_port_is_reported_at_the_start(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        cluster = DevCluster(tmp_path, port)
        with pytest.raises(
            DevClusterError, match=rf"^Port {port} on 127\.0\.0\.1 is already in use\.$"
        ):
            cluster.start()
    cluster.start()
    assert cluster.url == f"https://127.0.0.1:{port}"
    cluster.stop()


def test_an_unwritable_data_directory_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DevClusterError, match=r"^The embedded cluster cannot write to \S+: .+\.$"):
        DevCluster(tmp_path / "file" / "data").start()


def test_a_corrupt_database_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "cluster.sqlite3").write_bytes(b"this is not a database" * 100)
    with pytest.raises(DevClusterError, match=r"^The embedded cluster cannot write to"):
        DevCluster(tmp_path).start()


def test_files_with_credentials_are_readable_only_by_their_owner(
    cluster: DevCluster, tmp_path: Path
) -> None:
    cluster.issue_token("somebody", [])
    copy = tmp_path / "elsewhere" / "config"
    cluster.write_kubeconfig(copy)
    assert copy.read_bytes() == cluster.kubeconfig.read_bytes()
    private = [cluster.kubeconfig, copy, *cluster.data_dir.glob("tokens*")]
    private += list((cluster.data_dir / "pki").iterdir())
    assert len(private) > 5
    for path in private:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_the_audit_log_records_each_request(cluster: DevCluster, api: Api) -> None:
    mark = cluster.audit.mark()
    api.get(CONFIG_MAPS)
    with api.open("GET", f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1") as response:
        response.read()
    found = cluster.audit.requests_since(mark, user="tester", resource="configmaps")
    assert [(r.verb, r.namespace) for r in found] == [("list", "default"), ("watch", "default")]
    eventually(
        lambda: [r.code for r in cluster.audit.requests_since(mark, user="tester")] == [200, 200],
        "both requests are logged with their status code",
    )
    assert cluster.audit.requests_since(cluster.audit.mark()) == []


def test_stopping_releases_all_threads_and_the_port(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with DevCluster(tmp_path) as cluster:
        port = cluster.port
        own = set(threading.enumerate()) - before
        assert own
    assert not [thread for thread in own if thread.is_alive()]
    with socket.create_server(("127.0.0.1", port)):
        pass
