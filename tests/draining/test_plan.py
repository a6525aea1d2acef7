"""Effect of a drain on the pods of a node."""

import pytest

from console.draining.plan import Disposition, node_pod_of


@pytest.mark.parametrize(
    ("api_version", "expected"),
    [
        ("apps/v1", Disposition.DAEMON),
        ("apps/v1beta2", Disposition.DAEMON),
        ("apps.advanced.example.org/v1", Disposition.MOVES),
    ],
)
def test_only_pods_of_built_in_daemon_sets_stay_on_the_node(
    api_version: str, expected: Disposition
) -> None:
    owner = {"apiVersion": api_version, "kind": "DaemonSet", "name": "agent", "controller": True}
    pod = {"metadata": {"name": "agent-x", "namespace": "shop", "ownerReferences": [owner]}}
    assert node_pod_of(pod).fate is expected
