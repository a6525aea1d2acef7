"""The scheduling panel of pods and workloads, and the configuration panel of jobs."""

from console.kube.gvr import CRON_JOBS, DEPLOYMENTS, GVR, JOBS, PODS
from tests.ui.details.descriptions.described import described, objects

FOUND = objects("""
metadata: {name: everything, namespace: shop}
spec:
  template:
    spec:
      containers: [{name: app, image: nginx}]
      nodeSelector: {disktype: ssd, arch: arm64}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{key: zone, operator: In, values: [a, b]}]
            - matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 50
            preference: {matchExpressions: [{key: gpu, operator: Exists}]}
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector: {matchLabels: {app: cache}}
            topologyKey: topology.kubernetes.io/zone
          - labelSelector: {matchLabels: {app: db}}
            matchLabelKeys: [tier]
            namespaces: [data, other]
            namespaceSelector: {matchLabels: {team: store}}
            topologyKey: rack
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector: {matchLabels: {app: web}}
            topologyKey: kubernetes.io/hostname
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 10
            podAffinityTerm:
              labelSelector: {}
              namespaceSelector: {}
              topologyKey: topology.kubernetes.io/region
          - weight: 1
            podAffinityTerm: {topologyKey: kubernetes.io/hostname}
      topologySpreadConstraints:
      - labelSelector: {matchLabels: {app: web}}
        maxSkew: 1
        minDomains: 3
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
      - labelSelector: {matchLabels: {app: web}}
        maxSkew: 2
        topologyKey: rack
        whenUnsatisfiable: ScheduleAnyway
      tolerations:
      - {key: dedicated, value: gpu, effect: NoSchedule}
      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
      - {operator: Exists, effect: NoExecute, tolerationSeconds: 60}
      - {operator: Exists, effect: NoExecute}
      - {operator: Exists}
---
metadata: {name: plain, namespace: shop}
spec: {containers: [{name: app, image: nginx}]}
---
metadata: {name: tolerant, namespace: shop}
spec:
  containers: [{name: app, image: nginx}]
  nodeSelector: {disktype: ssd}
---
metadata: {name: nightly, namespace: shop}
spec:
  schedule: '0 0 * * *'
  jobTemplate:
    spec: {template: {spec: {containers: [{name: app}], nodeSelector: {disktype: ssd}}}}
---
metadata: {name: wrong, namespace: shop}
spec:
  template:
    spec:
      containers: [{name: app}]
      affinity:
        nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: x}]}
        podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}, 1, {labelSelector: 3}]}
      topologySpreadConstraints: [{minDomains: true}]
      tolerations: [{key: 1}, x]
---
metadata: {name: indexed, namespace: shop}
spec:
  completionMode: Indexed
  completions: 9
  parallelism: 3
  backoffLimit: 6
  backoffLimitPerIndex: 1
  activeDeadlineSeconds: 3600
  ttlSecondsAfterFinished: 90
  template: {spec: {containers: [{name: app}]}}
status: {completedIndexes: '0-3,5', failedIndexes: '4'}
---
metadata: {name: begun, namespace: shop}
spec: {completionMode: Indexed, template: {spec: {containers: [{name: app}]}}}
---
metadata: {name: single, namespace: shop}
spec: {parallelism: 1, backoffLimit: 6, template: {spec: {containers: [{name: app}]}}}
status: {succeeded: 1}
""")


def scheduling_of(name: str, gvr: GVR = DEPLOYMENTS) -> str:
    return described(gvr, FOUND[name], "scheduling")


def test_node_selector_and_node_affinity_are_described() -> None:
    found = scheduling_of("everything")
    assert "Runs only on nodes with disktype=ssd, arch=arm64." in found
    assert "Runs only on nodes with zone in (a, b) or metadata.name in (node-1)." in found
    assert "Prefers nodes with gpu (weight 50)." in found


def test_pod_affinity_names_pods_and_places() -> None:
    found = scheduling_of("everything")
    assert "Runs only in the same zone as pods with app=cache in this project." in found
    assert (
        "Runs only on nodes with the same label rack as pods with app=db, the same tier in projects "
        "data, other or pods with app=db, the same tier in projects with team=store." in found
    )
    assert "Never runs on the same node as pods with app=web in this project." in found
    assert (
        "Preferably does not run in the same region as all pods in all projects (weight 10)."
        in found
    )


def test_term_without_label_selector_matches_no_pods() -> None:
    assert "as pods with no labels (no pod matches) in this project" in scheduling_of("everything")


def test_spread_constraints_are_described() -> None:
    found = scheduling_of("everything")
    assert (
        "Spreads pods with app=web in this project over zones, with a difference of at most 1."
        in found
    )
    assert "With fewer than 3 zones, each can run at most 1 of these pods." in found
    assert (
        "Preferably spreads pods with app=web in this project over groups of nodes with the same "
        "label rack, with a difference of at most 2." in found
    )


def test_tolerations_are_described() -> None:
    found = scheduling_of("everything")
    assert "Tolerates the taint dedicated=gpu:NoSchedule." in found
    assert "Tolerates the taint node.kubernetes.io/not-ready:NoExecute for 5m." in found
    assert "Tolerates all taints with the effect NoExecute for 1m." in found
    assert "Tolerates all taints with the effect NoExecute. Tolerates all taints." in found


def test_panel_is_hidden_without_scheduling_fields() -> None:
    assert scheduling_of("plain", PODS) == ""


def test_pods_and_cron_jobs_have_the_panel() -> None:
    assert scheduling_of("tolerant", PODS) == "Runs only on nodes with disktype=ssd."
    assert scheduling_of("nightly", CRON_JOBS) == "Runs only on nodes with disktype=ssd."


def test_malformed_scheduling_fields_are_rendered() -> None:
    assert "internal error" not in scheduling_of("wrong")
    assert "an invalid selector" in scheduling_of("wrong")


def test_indexed_job_shows_completed_and_failed_indexes() -> None:
    found = described(JOBS, FOUND["indexed"])
    assert "Completed indexes 0-3,5 Failed indexes 4 Parallel pods 3 Retry limit 6" in found
    assert "Retry limit per index 1" in found
    assert "Time limit 1h Kept after completion 1m30s" in found
    assert "Completed indexes none yet" in described(JOBS, FOUND["begun"])


def test_job_without_indexes_shows_its_limits() -> None:
    assert described(JOBS, FOUND["single"]) == "Parallel pods 1 Retry limit 6"
