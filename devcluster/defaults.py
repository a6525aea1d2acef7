"""Default values of built-in types that the server sets if a client omits them."""

import base64
from collections.abc import Callable, Mapping

from devcluster.objects import Obj, clone, dicts, dig, meta

Defaulter = Callable[[Obj], None]


def _set(obj: Obj, **values: object) -> None:
    for name, value in values.items():
        obj.setdefault(name, value)


def pod_spec(spec: Obj) -> None:
    _set(
        spec,
        restartPolicy="Always",
        dnsPolicy="ClusterFirst",
        terminationGracePeriodSeconds=30,
        securityContext={},
        schedulerName="default-scheduler",
    )
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for container in dicts(spec.get(field)):
            _container(container)


def _container(container: Obj) -> None:
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    _set(
        container,
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy="Always" if latest else "IfNotPresent",
    )
    for port in dicts(container.get("ports")):
        _set(port, protocol="TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(probe := container.get(name), dict):
            _set(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            if isinstance(request := probe.get("httpGet"), dict):
                _set(request, path="/", scheme="HTTP")


def _pod(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    _set(
        spec,
        enableServiceLinks=True,
        serviceAccountName="default",
        preemptionPolicy="PreemptLowerPriority",
        priority=0,
    )
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    if not any(
        t.get("key") == "node.kubernetes.io/not-ready" for t in dicts(spec.get("tolerations"))
    ):
        tolerations = spec.setdefault("tolerations", [])
        for problem in ("not-ready", "unreachable"):
            toleration = {"key": f"node.kubernetes.io/{problem}", "operator": "Exists"}
            tolerations.append({**toleration, "effect": "NoExecute", "tolerationSeconds": 300})


def _template(obj: Obj) -> Obj:
    """Set the defaults of the pod template of a workload and return the workload's spec."""
    spec: Obj = obj.setdefault("spec", {})
    if isinstance(found := dig(spec, "template.spec"), dict):
        pod_spec(found)
    if isinstance(template := spec.get("template"), dict):
        meta(template)
    return spec


def _deployment(obj: Obj) -> None:
    spec = _template(obj)
    strategy = spec.setdefault("strategy", {})
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")


def _replica_set(obj: Obj) -> None:
    _set(_template(obj), replicas=1)


def _stateful_set(obj: Obj) -> None:
    spec = _template(obj)
    _set(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    _rolling(spec, partition=0)
    retention = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    _set(spec, persistentVolumeClaimRetentionPolicy=retention)


def _daemon_set(obj: Obj) -> None:
    spec = _template(obj)
    _set(spec, revisionHistoryLimit=10)
    _rolling(spec, maxUnavailable=1, maxSurge=0)


def _rolling(spec: Obj, **values: object) -> None:
    strategy = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), **values)


def _job(obj: Obj) -> None:
    spec = _template(obj)
    _set(spec, backoffLimit=6, completionMode="NonIndexed", suspend=False)
    _set(spec, podReplacementPolicy="TerminatingOrFailed", manualSelector=False)
    if not spec["manualSelector"] and "completions" not in spec and "parallelism" not in spec:
        _set(spec, completions=1, parallelism=1)
    _set(spec, parallelism=1)
    if not spec["manualSelector"] and "selector" not in spec and "uid" in meta(obj):
        _select_own_pods(spec, meta(obj))


def _select_own_pods(spec: Obj, about: Obj) -> None:
    """Set a selector with the job's UID, so that two jobs never select the same pods."""
    labels = meta(spec.setdefault("template", {})).setdefault("labels", {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels[f"{prefix}controller-uid"] = about["uid"]
        labels[f"{prefix}job-name"] = about.get("name", "")
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": about["uid"]}}


def _cron_job(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _set(spec, concurrencyPolicy="Allow", suspend=False)
    _set(spec, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    if isinstance(found := dig(spec, "jobTemplate.spec.template.spec"), dict):
        pod_spec(found)


def _service(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _set(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] != "ExternalName":
        _set(
            spec, internalTrafficPolicy="Cluster", ipFamilyPolicy="SingleStack", ipFamilies=["IPv4"]
        )
    if spec["sessionAffinity"] == "ClientIP":
        _set(spec, sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}})
    elif spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    for port in dicts(spec.get("ports")):
        _set(port, protocol="TCP")
        if "port" in port:
            _set(port, targetPort=port["port"])


def _secret(obj: Obj) -> None:
    _set(obj, type="Opaque")
    plain = obj.pop("stringData", None)
    if isinstance(plain, dict):
        data = obj.setdefault("data", {})
        for name, value in plain.items():
            data[name] = base64.b64encode(str(value).encode()).decode()


def _namespace(obj: Obj) -> None:
    labels = meta(obj).setdefault("labels", {})
    if "name" in meta(obj):
        labels["kubernetes.io/metadata.name"] = meta(obj)["name"]
    _set(obj.setdefault("spec", {}), finalizers=["kubernetes"])
    obj.setdefault("status", {"phase": "Active"})


def _role_reference(obj: Obj) -> None:
    if isinstance(ref := obj.get("roleRef"), dict):
        _set(ref, apiGroup="rbac.authorization.k8s.io")
    for subject in dicts(obj.get("subjects")):
        if subject.get("kind") in ("User", "Group"):
            _set(subject, apiGroup="rbac.authorization.k8s.io")


def _role(obj: Obj) -> None:
    # The field has no omitempty, so the API returns null.
    _set(obj, rules=None)


def _claim(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _set(spec, volumeMode="Filesystem")
    source = spec.get("dataSource")
    if source:
        source.setdefault("apiGroup", None)
        _set(spec, dataSourceRef=clone(source))


def _volume(obj: Obj) -> None:
    _set(
        obj.setdefault("spec", {}), volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain"
    )


def _storage_class(obj: Obj) -> None:
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


DEFAULTS: Mapping[str, Defaulter] = {
    "pods": _pod,
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "services": _service,
    "secrets": _secret,
    "namespaces": _namespace,
    "roles.rbac.authorization.k8s.io": _role,
    "clusterroles.rbac.authorization.k8s.io": _role,
    "rolebindings.rbac.authorization.k8s.io": _role_reference,
    "clusterrolebindings.rbac.authorization.k8s.io": _role_reference,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "storageclasses.storage.k8s.io": _storage_class,
}

# Initial status of new objects. A status sent by the client is replaced.
INITIAL_STATUS: Mapping[str, Obj] = {
    "certificatesigningrequests.certificates.k8s.io": {},
    "namespaces": {"phase": "Active"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "persistentvolumes": {"phase": "Pending"},
    "services": {"loadBalancer": {}},
    "ingresses.networking.k8s.io": {"loadBalancer": {}},
    "deployments.apps": {},
    "replicasets.apps": {"replicas": 0},
    "statefulsets.apps": {"replicas": 0, "availableReplicas": 0},
    "daemonsets.apps": {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    "jobs.batch": {},
    "cronjobs.batch": {},
}


def quality_of_service(spec: Obj) -> str:
    """Return the QoS class of a pod.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
    """
    containers = [*dicts(spec.get("containers")), *dicts(spec.get("initContainers"))]
    parts = [container.get("resources") or {} for container in containers]
    if not any(part.get("requests") or part.get("limits") for part in parts):
        return "BestEffort"
    for part in parts:
        limits, requests = part.get("limits") or {}, part.get("requests") or {}
        for name in ("cpu", "memory"):
            if name not in limits or requests.get(name, limits[name]) != limits[name]:
                return "Burstable"
    return "Guaranteed"
