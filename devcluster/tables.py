"""Columns of `kubectl get` for built-in types. Custom types declare their columns."""

from collections.abc import Iterator, Mapping

from devcluster.columns import (
    AGE,
    IMAGES,
    NAME,
    Column,
    address_of,
    age,
    event_object,
    external_address,
    field_text,
    job_duration,
    job_status,
    json_path_getter,
    last_seen,
    node_roles,
    node_status,
    number,
    param_kind,
    ports_text,
    ratio,
    restarts_text,
    role_text,
    selector_text,
    size_of,
)
from devcluster.custom_types import CustomVersion
from devcluster.objects import dig
from devcluster.podstatus import pod_ready, pod_status
from devcluster.resources import ResourceType

_CREATED = (NAME, Column("Created At", field_text("metadata.creationTimestamp")))
_TABLES: Mapping[str, tuple[Column, ...]] = {
    "pods": (
        NAME,
        Column("Ready", pod_ready),
        Column("Status", pod_status),
        Column("Restarts", restarts_text),
        AGE,
        Column("IP", field_text("status.podIP", "<none>"), priority=1),
        Column("Node", field_text("spec.nodeName", "<none>"), priority=1),
        Column("Nominated Node", field_text("status.nominatedNodeName", "<none>"), priority=1),
        Column("Readiness Gates", lambda _: "<none>", priority=1),
    ),
    "nodes": (
        NAME,
        Column("Status", node_status),
        Column("Roles", node_roles),
        AGE,
        Column("Version", field_text("status.nodeInfo.kubeletVersion")),
        Column("Internal-IP", address_of("InternalIP"), priority=1),
        Column("External-IP", address_of("ExternalIP"), priority=1),
        Column("OS-Image", field_text("status.nodeInfo.osImage", "<unknown>"), priority=1),
        Column(
            "Kernel-Version", field_text("status.nodeInfo.kernelVersion", "<unknown>"), priority=1
        ),
        Column(
            "Container-Runtime",
            field_text("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
            priority=1,
        ),
    ),
    "namespaces": (NAME, Column("Status", field_text("status.phase")), AGE),
    "deployments.apps": (
        NAME,
        Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
        Column("Up-to-date", field_text("status.updatedReplicas", 0)),
        Column("Available", field_text("status.availableReplicas", 0)),
        AGE,
        *IMAGES,
    ),
    "replicasets.apps": (
        NAME,
        number("Desired", "spec.replicas"),
        number("Current", "status.replicas"),
        number("Ready", "status.readyReplicas"),
        AGE,
        *IMAGES,
    ),
    "statefulsets.apps": (
        NAME,
        Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
        AGE,
        *IMAGES[:2],
    ),
    "daemonsets.apps": (
        NAME,
        number("Desired", "status.desiredNumberScheduled"),
        number("Current", "status.currentNumberScheduled"),
        number("Ready", "status.numberReady"),
        number("Up-to-date", "status.updatedNumberScheduled"),
        number("Available", "status.numberAvailable"),
        Column("Node Selector", selector_text("spec.template.spec.nodeSelector")),
        AGE,
        *IMAGES,
    ),
    "jobs.batch": (
        NAME,
        Column("Status", job_status),
        Column("Completions", ratio("status.succeeded", "spec.completions")),
        Column("Duration", job_duration),
        AGE,
        *IMAGES,
    ),
    "cronjobs.batch": (
        NAME,
        Column("Schedule", field_text("spec.schedule")),
        Column("Timezone", field_text("spec.timeZone", "<none>")),
        Column("Suspend", lambda obj: str(bool(dig(obj, "spec.suspend")))),
        Column("Active", size_of("status.active"), "integer"),
        Column(
            "Last Schedule",
            lambda o: age(t) if (t := dig(o, "status.lastScheduleTime")) else "<none>",
        ),
        AGE,
    ),
    "services": (
        NAME,
        Column("Type", field_text("spec.type")),
        Column("Cluster-IP", field_text("spec.clusterIP", "<none>")),
        Column("External-IP", external_address),
        Column("Port(s)", ports_text),
        AGE,
        Column("Selector", selector_text("spec.selector"), priority=1),
    ),
    "events": (
        Column("Last Seen", last_seen),
        Column("Type", field_text("type")),
        Column("Reason", field_text("reason")),
        Column("Object", event_object),
        Column("Subobject", field_text("involvedObject.fieldPath"), priority=1),
        Column("Source", field_text("source.component"), priority=1),
        Column("Message", field_text("message")),
        Column("First Seen", lambda obj: age(obj.get("firstTimestamp")), priority=1),
        Column("Count", field_text("count", 1), priority=1),
        Column("Name", field_text("metadata.name"), priority=1, format="name"),
    ),
    "configmaps": (
        NAME,
        Column("Data", lambda o: len(o.get("data") or ()) + len(o.get("binaryData") or ())),
        AGE,
    ),
    "secrets": (
        NAME,
        Column("Type", field_text("type")),
        Column("Data", size_of("data"), "integer"),
        AGE,
    ),
    "persistentvolumeclaims": (
        NAME,
        Column("Status", field_text("status.phase")),
        Column("Volume", field_text("spec.volumeName")),
        Column("Capacity", field_text("status.capacity.storage")),
        Column("Access Modes", lambda o: ",".join(dig(o, "status.accessModes") or ())),
        Column("StorageClass", field_text("spec.storageClassName")),
        Column("VolumeAttributesClass", lambda _: "<unset>"),
        AGE,
    ),
    "leases.coordination.k8s.io": (NAME, Column("Holder", field_text("spec.holderIdentity")), AGE),
    "validatingadmissionpolicies.admissionregistration.k8s.io": (
        NAME,
        Column("Validations", size_of("spec.validations"), "integer"),
        Column("ParamKind", param_kind),
        AGE,
    ),
    "csidrivers.storage.k8s.io": (
        NAME,
        Column("AttachRequired", lambda o: dig(o, "spec.attachRequired") is not False, "boolean"),
        Column("PodInfoOnMount", lambda o: bool(dig(o, "spec.podInfoOnMount")), "boolean"),
        AGE,
    ),
    "flowschemas.flowcontrol.apiserver.k8s.io": (
        NAME,
        Column("PriorityLevel", field_text("spec.priorityLevelConfiguration.name")),
        Column("MatchingPrecedence", field_text("spec.matchingPrecedence")),
        AGE,
    ),
    "customresourcedefinitions.apiextensions.k8s.io": _CREATED,
    "clusterroles.rbac.authorization.k8s.io": _CREATED,
    "roles.rbac.authorization.k8s.io": _CREATED,
    "rolebindings.rbac.authorization.k8s.io": (NAME, Column("Role", role_text), AGE),
    "clusterrolebindings.rbac.authorization.k8s.io": (NAME, Column("Role", role_text), AGE),
}


def columns_for(declared: ResourceType, custom: CustomVersion | None) -> tuple[Column, ...]:
    """Return the columns of the type. The default is name and age."""
    if custom and custom.columns:
        return (NAME, *_custom_columns(custom))
    return _TABLES.get(declared.storage, (NAME, AGE))


def _custom_columns(custom: CustomVersion) -> Iterator[Column]:
    for found in custom.columns:
        yield Column(
            found["name"],
            json_path_getter(found["jsonPath"], found["type"]),
            found["type"],
            int(found.get("priority", 0)),
            found.get("format", ""),
            found.get("description", ""),
        )
