"""The built-in resource types of Kubernetes 1.36."""

from collections.abc import Iterator

from devcluster.conversion import (
    from_autoscaling_v1,
    from_events_v1,
    to_autoscaling_v1,
    to_events_v1,
)
from devcluster.coretypes import CREATE, EVENT_FIELDS, SCALE, core_types, status_of
from devcluster.metrics import metrics_types
from devcluster.resources import (
    ResourceType,
    Subresource,
    Version,
)

_NEW_EVENT_FIELDS = tuple(
    {"source": "deprecatedSource.component", "reportingComponent": "reportingController"}.get(
        name, name.replace("involvedObject", "regarding")
    )
    for name in EVENT_FIELDS
)


def _apps_and_batch() -> Iterator[ResourceType]:
    def kind(group: str, plural: str, name: str, *short: str, scale: bool) -> ResourceType:
        return ResourceType(
            group=group,
            plural=plural,
            kind=name,
            short_names=short,
            subresources=(SCALE, status_of(name)) if scale else (status_of(name),),
            categories=("all",),
            generation=True,
            fields=_WORKLOAD_FIELDS.get(plural, ()),
        )

    yield ResourceType(group="apps", plural="controllerrevisions", kind="ControllerRevision")
    yield kind("apps", "daemonsets", "DaemonSet", "ds", scale=False)
    yield kind("apps", "deployments", "Deployment", "deploy", scale=True)
    yield kind("apps", "replicasets", "ReplicaSet", "rs", scale=True)
    yield kind("apps", "statefulsets", "StatefulSet", "sts", scale=True)
    yield kind("batch", "cronjobs", "CronJob", "cj", scale=False)
    yield kind("batch", "jobs", "Job", scale=False)
    yield ResourceType(
        group="autoscaling",
        plural="horizontalpodautoscalers",
        kind="HorizontalPodAutoscaler",
        versions=(Version("v2"), Version("v1", to_autoscaling_v1, from_autoscaling_v1)),
        short_names=("hpa",),
        subresources=(status_of("HorizontalPodAutoscaler"),),
        categories=("all",),
    )


_WORKLOAD_FIELDS = {"replicasets": ("status.replicas",), "jobs": ("status.successful",)}


def _events_and_leases() -> Iterator[ResourceType]:
    yield ResourceType(
        group="events.k8s.io",
        plural="events",
        kind="Event",
        versions=(Version("v1", to_events_v1, from_events_v1),),
        short_names=("ev",),
        fields=_NEW_EVENT_FIELDS,
        stored_as="events",
        create_on_update=True,
    )
    yield ResourceType(
        group="coordination.k8s.io", plural="leases", kind="Lease", create_on_update=True
    )
    yield ResourceType(
        group="discovery.k8s.io", plural="endpointslices", kind="EndpointSlice", generation=True
    )


def _rbac() -> Iterator[ResourceType]:
    for plural, kind, namespaced in (
        ("clusterrolebindings", "ClusterRoleBinding", False),
        ("clusterroles", "ClusterRole", False),
        ("rolebindings", "RoleBinding", True),
        ("roles", "Role", True),
    ):
        yield ResourceType(
            group="rbac.authorization.k8s.io",
            plural=plural,
            kind=kind,
            namespaced=namespaced,
            create_on_update=True,
        )


def _reviews() -> Iterator[ResourceType]:
    for group, plural, kind, namespaced in (
        ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", False),
        ("authentication.k8s.io", "tokenreviews", "TokenReview", False),
        ("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", True),
        ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False),
        ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", False),
        ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", False),
    ):
        yield ResourceType(
            group=group,
            plural=plural,
            kind=kind,
            namespaced=namespaced,
            verbs=CREATE,
            virtual=True,
        )


def _without_behaviour() -> Iterator[ResourceType]:
    rows: tuple[tuple[str, str, str, bool, tuple[str, ...], bool, bool], ...] = (
        # group, plural, kind, namespaced, short names, status subresource, generation
        ("networking.k8s.io", "ingressclasses", "IngressClass", False, (), False, True),
        ("networking.k8s.io", "ingresses", "Ingress", True, ("ing",), True, True),
        ("networking.k8s.io", "networkpolicies", "NetworkPolicy", True, ("netpol",), False, True),
        ("storage.k8s.io", "storageclasses", "StorageClass", False, ("sc",), False, False),
        ("storage.k8s.io", "csidrivers", "CSIDriver", False, (), False, False),
        ("storage.k8s.io", "csinodes", "CSINode", False, (), False, False),
        ("storage.k8s.io", "volumeattachments", "VolumeAttachment", False, (), True, False),
        ("policy", "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",), True, True),
        ("scheduling.k8s.io", "priorityclasses", "PriorityClass", False, ("pc",), False, True),
        ("node.k8s.io", "runtimeclasses", "RuntimeClass", False, (), False, False),
        ("networking.k8s.io", "ipaddresses", "IPAddress", False, ("ip",), False, True),
        ("networking.k8s.io", "servicecidrs", "ServiceCIDR", False, (), True, True),
        ("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity", True, (), False, False),
        (
            "storage.k8s.io",
            "volumeattributesclasses",
            "VolumeAttributesClass",
            False,
            ("vac",),
            False,
            False,
        ),
        ("flowcontrol.apiserver.k8s.io", "flowschemas", "FlowSchema", False, (), True, True),
        (
            "flowcontrol.apiserver.k8s.io",
            "prioritylevelconfigurations",
            "PriorityLevelConfiguration",
            False,
            (),
            True,
            True,
        ),
        ("resource.k8s.io", "deviceclasses", "DeviceClass", False, (), False, True),
        ("resource.k8s.io", "resourceclaims", "ResourceClaim", True, (), True, False),
        (
            "resource.k8s.io",
            "resourceclaimtemplates",
            "ResourceClaimTemplate",
            True,
            (),
            False,
            False,
        ),
        ("resource.k8s.io", "resourceslices", "ResourceSlice", False, (), False, True),
        ("apiregistration.k8s.io", "apiservices", "APIService", False, (), True, False),
    )
    for group, plural, kind, namespaced, short, status, generation in rows:
        yield ResourceType(
            group=group,
            plural=plural,
            kind=kind,
            namespaced=namespaced,
            short_names=short,
            subresources=(status_of(kind),) if status else (),
            generation=generation,
        )
    for kind in (
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
        *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ):
        plural = kind.lower().removesuffix("y")
        yield ResourceType(
            group="admissionregistration.k8s.io",
            plural=f"{kind.lower()}s" if plural == kind.lower() else f"{plural}ies",
            kind=kind,
            namespaced=False,
            categories=("api-extensions",),
            generation=True,
        )
    kind = "CertificateSigningRequest"
    yield ResourceType(
        group="certificates.k8s.io",
        plural="certificatesigningrequests",
        kind=kind,
        namespaced=False,
        short_names=("csr",),
        subresources=(Subresource("approval", kind), status_of(kind)),
        fields=("spec.signerName",),
    )
    yield ResourceType(
        group="apiextensions.k8s.io",
        plural="customresourcedefinitions",
        kind="CustomResourceDefinition",
        namespaced=False,
        short_names=("crd", "crds"),
        subresources=(status_of("CustomResourceDefinition"),),
        categories=("api-extensions",),
        generation=True,
    )


def builtin_types() -> Iterator[ResourceType]:
    """Yield all built-in types, the core group first."""
    yield from core_types()
    yield from _events_and_leases()
    yield from _apps_and_batch()
    yield from _rbac()
    yield from _reviews()
    yield from _without_behaviour()
    yield from metrics_types()
