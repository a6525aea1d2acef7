import pytest

from console.ui.core.text import split_name

HASHED = {"pod-template-hash": "7f9c8d6b5"}


@pytest.mark.parametrize(
    ("name", "owner", "labels", "stem", "suffix"),
    [
        ("web-7f9c8d6b5-x2x9q", "ReplicaSet/web-7f9c8d6b5", HASHED, "web", "-7f9c8d6b5-x2x9q"),
        ("db-0", "StatefulSet/db", {}, "db", "-0"),
        ("db-12", "StatefulSet/db", {}, "db", "-12"),
        ("backup-28411-vx9wz", "Job/backup-28411", {}, "backup-28411", "-vx9wz"),
        ("agent-vx9wz", "DaemonSet/agent", {}, "agent", "-vx9wz"),
        # The object has no owner, so a user chose its name, even if it looks generated.
        ("web-7f9c8d6b5-x2x9q", "", HASHED, "web-7f9c8d6b5-x2x9q", ""),
        # The owner's name is not a prefix, or the rest is not a suffix that a controller appends.
        ("other-0", "StatefulSet/db", {}, "other-0", ""),
        ("etcd-node-1", "Node/etcd", {}, "etcd-node-1", ""),
        ("web-7f9c8d6b5", "ReplicaSet/web-7f9c8d6b5", HASHED, "web-7f9c8d6b5", ""),
    ],
)
def test_generated_suffix_is_split_from_the_name(
    name: str, owner: str, labels: dict[str, str], stem: str, suffix: str
) -> None:
    assert split_name(name, owner, labels) == (stem, suffix)
