"""The pages of volumes, claims and storage classes."""

from console.kube.gvr import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
)
from tests.ui.details.descriptions.described import described, objects

FOUND = objects("""
metadata: {name: topo}
provisioner: csi.example.org
mountOptions: [noatime]
parameters: {type: gp3, csi.storage.k8s.io/fstype: xfs}
allowedTopologies:
- matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eu-1a, eu-1b]}]
---
metadata: {name: local-block}
spec:
  capacity: {storage: 100Gi}
  local: {path: /dev/nvme1n1}
  mountOptions: [ro]
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-0001]}]
  claimRef: {namespace: cases-a, name: raw}
---
metadata: {name: old-iscsi}
spec: {iscsi: {targetPortal: '192.0.2.1:3260', iqn: iqn.2001-04.org.example:disk, lun: 0}}
---
metadata: {name: csi}
spec:
  csi:
    driver: csi.example.org
    volumeHandle: vol-1
    readOnly: true
    volumeAttributes: {tier: fast}
    nodePublishSecretRef: {name: s, namespace: n}
---
metadata: {name: from-snapshot, namespace: cases-a}
spec:
  dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: before-upgrade}
  selector: {matchLabels: {tier: fast}}
---
metadata: {name: plain, namespace: cases-a}
spec: {}
---
metadata: {name: snap-class}
driver: csi.example.org
parameters: {incremental: 'true'}
---
metadata: {name: content}
spec: {source: {volumeHandle: vol-9}}
status: {snapshotHandle: snap-9}
""")


def test_local_volume_shows_its_source_and_nodes() -> None:
    text = described(PERSISTENT_VOLUMES, FOUND["local-block"])
    assert text.startswith("Source: local disk of a node path /dev/nvme1n1")
    assert "Usable on nodes with kubernetes.io/hostname in (node-0001)" in text
    assert "Mount options ro" in text


def test_summary_of_a_volume_shows_its_type() -> None:
    assert "Driver iscsi" in described(PERSISTENT_VOLUMES, FOUND["old-iscsi"], "summary")


def test_every_field_of_a_volume_source_is_shown() -> None:
    text = described(PERSISTENT_VOLUMES, FOUND["old-iscsi"])
    assert (
        "Source: iSCSI disk targetPortal 192.0.2.1:3260 iqn iqn.2001-04.org.example:disk lun 0"
        in text
    )
    text = described(PERSISTENT_VOLUMES, FOUND["csi"])
    assert "volumeHandle vol-1 readOnly true volumeAttributes.tier fast" in text
    assert "nodePublishSecretRef.name s" in text


def test_storage_class_shows_parameters_and_topologies() -> None:
    text = described(STORAGE_CLASSES, FOUND["topo"])
    assert "Mount options noatime" in text
    assert "Allowed topologies topology.kubernetes.io/zone in (eu-1a, eu-1b)" in text
    assert "Parameters type gp3 csi.storage.k8s.io/fstype xfs" in text


def test_claim_shows_its_data_source_and_selector() -> None:
    text = described(PERSISTENT_VOLUME_CLAIMS, FOUND["from-snapshot"])
    assert "Filled with data of VolumeSnapshot.snapshot.storage.k8s.io/before-upgrade" in text
    assert "Accepts volumes with tier=fast" in text
    assert described(PERSISTENT_VOLUME_CLAIMS, FOUND["plain"]) == ""


def test_snapshot_classes_and_contents_are_described() -> None:
    text = described(VOLUME_SNAPSHOT_CLASSES, FOUND["snap-class"])
    assert text == "Parameters incremental true"
    text = described(VOLUME_SNAPSHOT_CONTENTS, FOUND["content"])
    assert text == "Volume handle vol-9 Snapshot handle snap-9"
