"""Manifests of the sample data, generated from the catalog."""

from collections.abc import Iterator

from devcluster.controllers.behaviour import ANNOTATION, IMAGE_ANNOTATION
from devcluster.objects import Obj
from devcluster.sample.catalog import Workload, catalog
from devcluster.sample.workspaces import WORKSPACES

COLLECTIONS = {
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "DaemonSet": "daemonsets.apps",
    "CronJob": "cronjobs.batch",
}
_WORKSPACE_OF = {project: home for home, projects in WORKSPACES.items() for project in projects}

#: Registry whose images need an image pull secret in each project.
REGISTRY = "registry.shop.example"


def namespaces() -> Iterator[Obj]:
    for name, home in catalog().namespaces.items():
        labels = {"team": home.team, "kubesphere.io/workspace": _WORKSPACE_OF[name]}
        yield {"metadata": {"name": name, "labels": labels}}


def workspaces() -> dict[str, str]:
    """Return the workspaces with their description."""
    return {
        "platform": "What every team builds on: pipelines, data, monitoring",
        "shop": "The shop, from the storefront to the parcel",
    }


def labels_for(work: Workload) -> dict[str, str]:
    version = work.image.rpartition(":")[2]
    return {
        "app.kubernetes.io/name": work.name,
        "app.kubernetes.io/part-of": work.namespace,
        "app.kubernetes.io/version": version,
    }


def _container(work: Workload) -> Obj:
    port: Obj = {"containerPort": work.port, "name": "http"}
    found: Obj = {
        "name": work.name,
        "image": work.image,
        "ports": [port],
        "resources": {
            "requests": {"cpu": work.cpu, "memory": work.memory},
            "limits": {"memory": work.memory},
        },
    }
    if not work.schedule:
        found["readinessProbe"] = {"httpGet": {"path": "/healthz", "port": work.port}}
        found["env"] = [{"name": "LOG_LEVEL", "value": "info"}]
    if work.claim:
        found["volumeMounts"] = [{"name": "data", "mountPath": "/var/lib/data"}]
    return found


def pod_template(work: Workload) -> Obj:
    spec: Obj = {"containers": [_container(work)]}
    if work.sidecar:
        proxy = {"name": work.sidecar, "image": "docker.io/envoyproxy/envoy:v1.36.2"}
        spec["containers"].append(
            {**proxy, "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}}}
        )
    if work.image.startswith(f"{REGISTRY}/"):
        spec["imagePullSecrets"] = [{"name": "registry"}]
    if work.init:
        spec["initContainers"] = [{"name": work.init, "image": "docker.io/library/busybox:1.37"}]
    if work.everywhere:
        spec["tolerations"] = [{"operator": "Exists"}]
        spec["hostNetwork"] = True
        spec["priorityClassName"] = "system-node-critical"
    if work.role:
        spec["nodeSelector"] = {f"node-role.kubernetes.io/{work.role}": ""}
    if work.schedule:
        spec["restartPolicy"] = "Never"
    labels = labels_for(work)
    if work.kind == "StatefulSet":
        # Without the version label, the selector of a StatefulSet never has to change.
        labels.pop("app.kubernetes.io/version")
    about: Obj = {"labels": labels}
    if work.behaviour:
        about["annotations"] = {ANNOTATION: work.behaviour, IMAGE_ANNOTATION: work.image}
    return {"metadata": about, "spec": spec}


def workload(work: Workload) -> Obj:
    """Return the workload object that creates the pods."""
    about = {"name": work.name, "namespace": work.namespace, "labels": labels_for(work)}
    template = pod_template(work)
    if work.schedule:
        job = {"spec": {"template": template, "backoffLimit": 2}}
        return {"metadata": about, "spec": {"schedule": work.schedule, "jobTemplate": job}}
    selector = {"app.kubernetes.io/name": work.name}
    spec: Obj = {"selector": {"matchLabels": selector}, "template": template}
    if work.kind != "DaemonSet":
        spec["replicas"] = work.replicas
    if work.kind == "StatefulSet":
        spec["serviceName"] = work.name
    if work.claim:
        request = {"requests": {"storage": work.claim}}
        claim = {"accessModes": ["ReadWriteOnce"], "resources": request}
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    return {"metadata": about, "spec": spec}


def service(work: Workload) -> Obj:
    spec: Obj = {
        "selector": {"app.kubernetes.io/name": work.name},
        "ports": [{"name": "http", "port": work.port}],
    }
    if work.kind == "StatefulSet":
        spec["clusterIP"] = "None"
    if work.name.startswith("ingress-nginx"):
        spec["type"] = "LoadBalancer"
    about = {"name": work.name, "namespace": work.namespace, "labels": labels_for(work)}
    return {"metadata": about, "spec": spec}


def other_objects() -> Iterator[tuple[str, Obj]]:
    """Yield the collection and object of storage classes, settings, ingresses and quotas."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    yield (
        "storageclasses.storage.k8s.io",
        {
            "metadata": {"name": "fast", "annotations": default},
            "provisioner": "simulated.csi.local",
            "allowVolumeExpansion": True,
        },
    )
    for namespace in catalog().namespaces:
        about = {"name": "settings", "namespace": namespace}
        yield "configmaps", {"metadata": about, "data": {"region": "eu-central", "tier": "prod"}}
        secret = {"name": "registry", "namespace": namespace}
        yield (
            "secrets",
            {"metadata": secret, "stringData": {"user": "deploy", "password": "sample"}},
        )
    for namespace, host, name, port in (
        ("web", "shop.example", "storefront", 3000),
        ("checkout", "api.shop.example", "checkout-api", 8080),
        ("payments", "pay.shop.example", "payments-api", 8080),
    ):
        backend = {"service": {"name": name, "port": {"number": port}}}
        path = {"path": "/", "pathType": "Prefix", "backend": backend}
        rule = {"host": host, "http": {"paths": [path]}}
        about = {"name": name, "namespace": namespace}
        tls = {"hosts": [host], "secretName": f"{name}-tls"}
        spec = {"ingressClassName": "nginx", "rules": [rule], "tls": [tls]}
        yield "ingresses.networking.k8s.io", {"metadata": about, "spec": spec}
    for namespace in ("checkout", "payments"):
        hard = {"pods": "40", "requests.cpu": "20", "requests.memory": "40Gi"}
        yield (
            "resourcequotas",
            {"metadata": {"name": "team", "namespace": namespace}, "spec": {"hard": hard}},
        )


def static_pods() -> Iterator[Obj]:
    """Yield the static pods of the control plane, which have no controller."""
    for node in ("control-1", "control-2", "control-3"):
        for name, image in (
            ("etcd", "registry.k8s.io/etcd:3.6.6-0"),
            ("kube-apiserver", "registry.k8s.io/kube-apiserver:v1.36.2"),
            ("kube-controller-manager", "registry.k8s.io/kube-controller-manager:v1.36.2"),
            ("kube-scheduler", "registry.k8s.io/kube-scheduler:v1.36.2"),
        ):
            labels = {"component": name, "tier": "control-plane"}
            container = {"name": name, "image": image}
            container |= {"resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}  # type: ignore[dict-item]
            spec = {"nodeName": node, "hostNetwork": True, "containers": [container]}
            spec["tolerations"] = [{"operator": "Exists"}]
            about = {"name": f"{name}-{node}", "namespace": "kube-system", "labels": labels}
            yield {"metadata": about, "spec": spec}
