"""The pages of pods and workloads show the settings of the pod and of its containers."""

from pathlib import Path

import pytest

from console.kube.gvr import CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, PODS, STATEFUL_SETS
from tests.ui.details.descriptions.described import described, html_of, objects

POD = objects(Path(__file__).with_name("rich_pod.yaml").read_text())["rich"]


@pytest.mark.parametrize(
    "shown",
    [
        "Service account robot, without a token",
        "Started 2026-01-02 03:04:05 UTC",
        "Quality of service Burstable",
        "Restart policy always restart",
        "Grace period 1m30s",
        "Image pull secrets registry",
        "Readiness gates example.org/balanced: False",
        "Priority 1000, from priority class high",
        "Preemption Never",
        "Scheduler packer",
        "Runtime class gvisor",
        "Pod overhead cpu=10m",
        "Scheduling gates example.org/budget",
        "Nominated node node-9",
        "IP addresses 10.0.0.1 fd00::1",
        "IP addresses of the node 192.0.2.11",
        "Shared with the node network",
        "DNS None nameservers: 192.0.2.53 options: ndots=1",
        "Additional hosts 192.0.2.7 db db.example.org",
        "runAsUser 1000 seccompProfile.type RuntimeDefault",
    ],
)
def test_page_of_a_pod_shows_its_settings(shown: str) -> None:
    assert shown in described(PODS, POD, "podspec")


@pytest.mark.parametrize(
    "shown",
    [
        "cache empty directory (emptyDir) medium: Memory sizeLimit: 64Mi app:/cache",
        "scratch empty directory (emptyDir) —",
        "conf ConfigMap name: app-conf optional: true items: key=a, path=b app:/etc/app",
        "keys Secret secretName: app-keys defaultMode: 256",
        "data persistent volume claim claimName: app-data readOnly: true app:/dev/xvda",
        "host directory of a node (hostPath) path: /var/log type: Directory",
        "about fields of the pod (downward API) labels: metadata.labels cpu: limits.cpu",
        "token of the service account (path: token, audience: vault, expirationSeconds: 3600)",
        "ConfigMap (name: ca) fields of the pod (downward API) (ns: metadata.namespace)",
        "tmp claim created with the pod (ephemeral) accessModes: ReadWriteOnce storageClassName: fast",
        "tools container image reference: example/tools:2 pullPolicy: Always",
        "share NFS share server: files.example.org path: /data",
        "disk CSI volume driver: csi.example.org volumeAttributes.tier: fast",
    ],
)
def test_page_of_a_pod_shows_its_volumes(shown: str) -> None:
    assert shown in described(PODS, POD, "podspec")


@pytest.mark.parametrize(
    "shown",
    [
        "Ports 8080/TCP web (on the node: 192.0.2.1:80)",
        "Command sh -c set -e exec app",
        "Arguments --verbose",
        "Working directory /srv",
        "Image pull policy pull if the node does not have the image",
        "Image ID example/app@sha256:12",
        "Container ID containerd://34",
        "Debugged container app",
        "Environment from all keys of Secret db, with prefix DB_ all keys of ConfigMap app (optional)",
        "PLAIN yes",
        "PASSWORD key password of Secret db (optional)",
        "LEVEL key level of ConfigMap app",
        "NODE pod field spec.nodeName",
        "CPUS limits.cpu of container mesh",
        "LATER somethingNew.path: x",
        "Resource claims gpu/one",
        "/etc/app app in conf read only",
        "/cache cache read and write, Bidirectional",
        "/dev/xvda data block device",
        "allowPrivilegeEscalation false capabilities.drop ALL",
        "preStop.exec.command sleep 5",
        "Liveness probe gRPC :9090 live · every 10s",
        "succeeds after 2 consecutive successes · starts after 7s · timeout: 4s",
    ],
)
def test_page_of_a_pod_shows_the_settings_of_its_containers(shown: str) -> None:
    assert shown in described(PODS, POD, "containers")


def test_values_of_variables_are_escaped() -> None:
    containers = [{"name": "app", "env": [{"name": "A", "value": "<b>\u202e"}]}]
    obj = {
        "metadata": {"name": "p", "namespace": "a", "uid": "u"},
        "spec": {"containers": containers},
    }
    html = html_of(PODS, obj, "containers")
    assert "&lt;b&gt;⟨U+202E⟩" in html and "<b>" not in html


WORKLOADS = objects("""
metadata: {name: web, namespace: a}
spec:
  minReadySeconds: 20
  progressDeadlineSeconds: 600
  revisionHistoryLimit: 3
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 2}}
  template:
    metadata: {labels: {app: web}, annotations: {example.org/checksum: '12'}}
    spec: {serviceAccountName: robot, containers: [{name: c, image: i}]}
---
metadata: {name: db, namespace: a}
spec:
  podManagementPolicy: Parallel
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Delete}
  ordinals: {start: 5}
  volumeClaimTemplates:
  - metadata: {name: data, labels: {tier: gold}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}
  template: {spec: {containers: [{name: c, image: i}]}}
---
metadata: {name: agent, namespace: a}
spec:
  updateStrategy: {type: OnDelete}
  template: {spec: {containers: [{name: c, image: i}]}}
---
metadata: {name: nightly, namespace: a}
spec:
  startingDeadlineSeconds: 120
  successfulJobsHistoryLimit: 4
  failedJobsHistoryLimit: 0
  jobTemplate:
    spec:
      completions: 6
      parallelism: 2
      template: {spec: {runtimeClassName: kata, containers: [{name: c, image: i}]}}
""")


def test_page_of_a_deployment_shows_how_it_replaces_pods() -> None:
    text = described(DEPLOYMENTS, WORKLOADS["web"])
    assert "Pod replacement RollingUpdate Max unavailable 25% Max surge 2" in text
    assert "Minimum ready time 20s Progress deadline 10m Kept revisions 3" in text


def test_page_of_a_deployment_shows_its_pod_template() -> None:
    text = described(DEPLOYMENTS, WORKLOADS["web"], "podspec")
    assert text.startswith("Labels app=web Annotations example.org/checksum=12")
    assert "Service account robot" in text


def test_page_of_a_stateful_set_shows_its_claims_and_partition() -> None:
    text = described(STATEFUL_SETS, WORKLOADS["db"])
    assert "Partition 2" in text and "Pod management Parallel" in text and "First ordinal 5" in text
    assert "of the StatefulSet: Retain of a replica: Delete" in text
    assert "data 8Gi ReadWriteOnce the default class tier=gold" in text


def test_pages_of_other_workloads_show_their_settings() -> None:
    assert "Pod replacement OnDelete" in described(DAEMON_SETS, WORKLOADS["agent"])
    text = described(CRON_JOBS, WORKLOADS["nightly"])
    assert (
        "Starting deadline 2m Kept successful jobs 4 Kept failed jobs 0 Completions 6 Parallel pods 2"
        in text
    )
    assert "Runtime class kata" in described(CRON_JOBS, WORKLOADS["nightly"], "podspec")
