"""The resource types of the core group in Kubernetes 1.36."""

from collections.abc import Iterator

from devcluster.resources import ALL_VERBS, NO_DELETECOLLECTION, ResourceType, Subresource

_READ = ("get",)
CREATE = ("create",)
_CONNECT = ("create", "get")
_PROXY = ("create", "delete", "get", "patch", "update")

_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)


def status_of(kind: str) -> Subresource:
    return Subresource("status", kind)


SCALE = Subresource("scale", "Scale", group="autoscaling", version="v1")
_POD_SUBRESOURCES = (
    Subresource("attach", "PodAttachOptions", _CONNECT),
    Subresource("binding", "Binding", CREATE),
    Subresource("ephemeralcontainers", "Pod"),
    Subresource("eviction", "Eviction", CREATE, "policy", "v1"),
    Subresource("exec", "PodExecOptions", _CONNECT),
    Subresource("log", "Pod", _READ),
    Subresource("portforward", "PodPortForwardOptions", _CONNECT),
    Subresource("proxy", "PodProxyOptions", _PROXY),
    status_of("Pod"),
)


def core_types() -> Iterator[ResourceType]:
    def kind(
        plural: str,
        name: str,
        *short: str,
        namespaced: bool = True,
        subresources: tuple[Subresource, ...] = (),
        all_category: bool = False,
        fields: tuple[str, ...] = (),
        verbs: tuple[str, ...] = ALL_VERBS,
        generation: bool = False,
    ) -> ResourceType:
        return ResourceType(
            group="",
            plural=plural,
            kind=name,
            short_names=short,
            namespaced=namespaced,
            subresources=subresources,
            categories=("all",) if all_category else (),
            fields=fields,
            verbs=verbs,
            generation=generation,
            create_on_update=plural in ("endpoints", "events", "limitranges"),
        )

    yield ResourceType(group="", plural="bindings", kind="Binding", verbs=CREATE, virtual=True)
    yield kind("configmaps", "ConfigMap", "cm")
    yield kind("endpoints", "Endpoints", "ep")
    yield kind("events", "Event", "ev", fields=EVENT_FIELDS)
    yield kind("limitranges", "LimitRange", "limits")
    yield kind(
        "namespaces",
        "Namespace",
        "ns",
        namespaced=False,
        subresources=(Subresource("finalize", "Namespace", ("update",)), status_of("Namespace")),
        fields=("status.phase",),
        verbs=NO_DELETECOLLECTION,
    )
    yield kind(
        "nodes",
        "Node",
        "no",
        namespaced=False,
        subresources=(status_of("Node"),),
        fields=("spec.unschedulable",),
    )
    yield kind(
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        "pvc",
        subresources=(status_of("PersistentVolumeClaim"),),
    )
    yield kind(
        "persistentvolumes",
        "PersistentVolume",
        "pv",
        namespaced=False,
        subresources=(status_of("PersistentVolume"),),
    )
    yield kind(
        "pods",
        "Pod",
        "po",
        subresources=_POD_SUBRESOURCES,
        all_category=True,
        fields=_POD_FIELDS,
        generation=True,
    )
    yield kind("podtemplates", "PodTemplate", generation=True)
    yield kind(
        "replicationcontrollers",
        "ReplicationController",
        "rc",
        subresources=(SCALE, status_of("ReplicationController")),
        all_category=True,
        fields=("status.replicas",),
        generation=True,
    )
    yield kind(
        "resourcequotas", "ResourceQuota", "quota", subresources=(status_of("ResourceQuota"),)
    )
    yield kind("secrets", "Secret", fields=("type",))
    token = Subresource("token", "TokenRequest", CREATE, "authentication.k8s.io", "v1")
    yield kind("serviceaccounts", "ServiceAccount", "sa", subresources=(token,))
    yield kind(
        "services",
        "Service",
        "svc",
        subresources=(Subresource("proxy", "ServiceProxyOptions", _PROXY), status_of("Service")),
        all_category=True,
        fields=("spec.clusterIP", "spec.type"),
    )
