"""The control plane fixture: it behaves like a real cluster and simulates the documented faults."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.build import TOOLS, version_of
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.component import ComponentError
from tests.controlplane.plugin import StartControlPlane
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.waiting import eventually

ROOT = Path(__file__).parents[2]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
STREAMING_LIST = (
    "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def create(cluster: ControlPlane, name: str) -> str:
    """Create a ConfigMap and return its resourceVersion."""
    answer = cluster.api.request("POST", CONFIG_MAPS, config_map(name))
    assert answer.status == 201, answer.body
    return str(answer.json()["metadata"]["resourceVersion"])


def change(cluster: ControlPlane, name: str, to: str) -> None:
    answer = cluster.api.request("PUT", f"{CONFIG_MAPS}/{name}", config_map(name, changed=to))
    assert answer.status == 200, answer.body


def watch_from(cluster: ControlPlane, version: str, path: str = CONFIG_MAPS) -> dict[str, Any]:
    """Return the first event after a resourceVersion."""
    return next(cluster.api.watch(f"{path}?watch=1&resourceVersion={version}", timeout=10))


def is_gone(event: dict[str, Any]) -> bool:
    return (event["type"], event["object"].get("code")) == ("ERROR", 410)


def running_pods(cluster: ControlPlane) -> int:
    pods = cluster.api.get("/api/v1/namespaces/default/pods").json()["items"]
    return sum(pod["status"]["phase"] == "Running" for pod in pods)


def process_runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.mark.skipif(
    "KUBEBUILDER_ASSETS" in os.environ, reason="that folder may contain another version"
)
def test_the_server_reports_the_pinned_version(control_plane: ControlPlane) -> None:
    version = control_plane.api.get("/version").json()["gitVersion"]
    assert version == version_of(TOOLS["kube-apiserver"])


def test_rbac_is_enabled(control_plane: ControlPlane) -> None:
    assert control_plane.api_with("not a token").get("/apis").status == 401
    assert control_plane.api_with(None).get(CONFIG_MAPS).status == 403
    assert control_plane.api_as("stranger").get(CONFIG_MAPS).status == 403
    assert control_plane.api_as("stranger").get("/apis").status == 200


def test_a_token_has_the_granted_permissions(control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "namespace", "granted")
    grant = ("create", "rolebinding", "w", "--clusterrole=edit", "--user=writer", "-n", "granted")
    assert control_plane.kubectl(*grant).returncode == 0
    path = "/api/v1/namespaces/granted/configmaps"
    writer = control_plane.api_as("writer")
    eventually(lambda: writer.get(path).status == 200, "the role binding takes effect")
    assert writer.request("POST", path, config_map("mine")).status == 201
    assert writer.get(CONFIG_MAPS).status == 403


def test_a_kubeconfig_can_be_created_for_any_user_and_groups(control_plane: ControlPlane) -> None:
    config = control_plane.kubeconfig_for("alice/example.org", ["crew", "captains"])
    who = control_plane.kubectl("auth", "whoami", kubeconfig=config).stdout
    assert "alice/example.org" in who
    assert "[crew captains system:authenticated]" in who
    denied = control_plane.kubectl("get", "pods", kubeconfig=config)
    assert denied.returncode == 1
    assert "Forbidden" in denied.stderr


def test_kubectl_creates_and_reads_objects(control_plane: ControlPlane) -> None:
    manifest = "{apiVersion: v1, kind: Namespace, metadata: {name: by-kubectl}}"
    assert control_plane.kubectl("create", "-f", "-", input=manifest).returncode == 0
    got = control_plane.kubectl("get", "namespace", "by-kubectl", "-o", "name")
    assert got.stdout == "namespace/by-kubectl\n"


def test_a_streaming_list_ends_with_its_bookmark(control_plane: ControlPlane) -> None:
    create(control_plane, "streamed")
    names = []
    for event in control_plane.api.watch(CONFIG_MAPS + STREAMING_LIST):
        if event["type"] == "BOOKMARK":
            annotations = event["object"]["metadata"]["annotations"]
            assert annotations["k8s.io/initial-events-end"] == "true"
            break
        assert event["type"] == "ADDED"
        names.append(event["object"]["metadata"]["name"])
    assert "streamed" in names


def test_each_request_is_in_the_audit_log_once(control_plane: ControlPlane) -> None:
    control_plane.kubectl(
        "create", "clusterrolebinding", "r", "--clusterrole=view", "--user=reader"
    )
    reader = control_plane.api_as("reader")
    eventually(lambda: reader.get("/api/v1/pods").status == 200, "the role binding takes effect")
    mark = control_plane.audit_mark()

    def asked(verb: str) -> list[int]:
        events = control_plane.audit_events(mark, user="reader", resource="events", verb=verb)
        return [event.status for event in events]

    reader.get("/api/v1/events")
    reader.get("/api/v1/events?limit=5")
    for _ in reader.watch("/api/v1/events?watch=1&timeoutSeconds=1"):
        pass
    control_plane.api_as("stranger").get("/api/v1/events")
    reader.request("DELETE", "/api/v1/namespaces/default/events/none")
    # Records are in order, so all earlier records exist when the last one does.
    eventually(lambda: asked("delete") == [403], "the last request is recorded")
    assert asked("list") == [200, 200]
    assert asked("watch") == [200]


@pytest.fixture(scope="module")
def forgetful(control_plane_programs: object) -> Iterator[ControlPlane]:
    """A control plane without controllers, with short watches and without a watch cache for
    ConfigMaps.
    """
    options = ApiserverOptions(uncached=["configmaps"], min_request_timeout=1)
    with ControlPlane(with_controllers=False, options=options) as cluster:
        yield cluster


def test_pods_are_admitted_without_controllers(forgetful: ControlPlane) -> None:
    assert set(forgetful.pids) == {"etcd", "kube-apiserver"}
    assert forgetful.kubectl("run", "alone", "--image=alone").returncode == 0


def test_a_frozen_server_responds_only_after_it_is_thawed(forgetful: ControlPlane) -> None:
    forgetful.freeze()
    with pytest.raises(TimeoutError):
        forgetful.api.get(CONFIG_MAPS, timeout=0.5)
    forgetful.thaw()
    assert forgetful.api.get(CONFIG_MAPS).status == 200


def test_compaction_expires_watches_of_uncached_resources(forgetful: ControlPlane) -> None:
    old = create(forgetful, "compacted")
    change(forgetful, "compacted", to="once")
    assert watch_from(forgetful, old)["type"] == "MODIFIED"
    newest = str(forgetful.compact())
    assert is_gone(watch_from(forgetful, old))
    change(forgetful, "compacted", to="twice")
    assert watch_from(forgetful, newest)["type"] == "MODIFIED"


def test_min_request_timeout_limits_the_duration_of_a_watch(forgetful: ControlPlane) -> None:
    for event in forgetful.api.watch(f"{CONFIG_MAPS}?watch=1", timeout=10):
        assert event["type"] == "ADDED"


def test_a_killed_server_restarts_with_the_same_port_and_data(forgetful: ControlPlane) -> None:
    """Secrets are used because the server has a watch cache for them."""
    api, body = forgetful.api, {"metadata": {"name": "kept"}}
    made = api.request("POST", SECRETS, body).json()
    before = str(made["metadata"]["resourceVersion"])
    api.request("PUT", f"{SECRETS}/kept", {**body, "data": {"changed": "b25jZQ=="}})
    assert watch_from(forgetful, before, SECRETS)["type"] == "MODIFIED"
    forgetful.kill()
    with pytest.raises(ConnectionRefusedError):
        api.get(SECRETS)
    forgetful.restart()
    assert api.get(f"{SECRETS}/kept").json()["data"] == {"changed": "b25jZQ=="}
    assert is_gone(watch_from(forgetful, before, SECRETS))


def test_compaction_does_not_affect_the_watch_cache(control_plane: ControlPlane) -> None:
    old = create(control_plane, "cached")
    change(control_plane, "cached", to="once")
    control_plane.compact()
    assert watch_from(control_plane, old)["type"] == "MODIFIED"


def test_deployments_create_running_pods_before_and_after_a_restart(
    fresh_control_plane: StartControlPlane,
) -> None:
    cluster = fresh_control_plane(with_kwok=True)
    assert cluster.add_nodes(2) == ["node-0001", "node-0002"]
    cluster.kubectl("create", "deployment", "web", "--image=web", "--replicas=3")
    eventually(lambda: running_pods(cluster) == 3, "three pods are running")
    cluster.kill()
    cluster.restart()
    cluster.kubectl("scale", "deployment", "web", "--replicas=5")
    eventually(lambda: running_pods(cluster) == 5, "five pods are running")
    cluster.kubectl("create", "job", "once", "--image=once")
    done = cluster.kubectl("wait", "--for=condition=Complete", "job/once", "--timeout=20s")
    assert done.returncode == 0, done.stderr
    # kubectl waits until kwok has terminated the pods.
    assert cluster.kubectl("delete", "pods", "--all", "--timeout=20s").returncode == 0


def test_an_error_contains_the_end_of_the_program_log(
    control_plane_programs: object,
) -> None:
    cluster = ControlPlane(options=ApiserverOptions(extra=["--no-such-flag"]))
    with pytest.raises(ComponentError, match="unknown flag: --no-such-flag"):
        cluster.start()
    assert cluster.pids == {}


# The starting thread ends immediately, which must not end the programs.
OWNER = """
import sys, threading
from tests.controlplane.cluster import ControlPlane
cluster = ControlPlane(with_controllers=False)
starter = threading.Thread(target=cluster.start)
starter.start()
starter.join()
assert cluster.api.get("/readyz").status == 200
print(*cluster.pids.values(), flush=True)
sys.stdin.read()
"""


def test_programs_end_when_the_tests_are_killed(
    control_plane_programs: object, tmp_path: Path
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        cwd=ROOT,
        # pytest removes the temporary files of the killed process.
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert len(pids) == 2
        assert all(process_runs(pid) for pid in pids)
        owner.kill()
    eventually(lambda: not any(process_runs(pid) for pid in pids), "the programs have ended")
