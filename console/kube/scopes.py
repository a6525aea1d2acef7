"""Scopes of resource types, and the namespaces that the console is restricted to.

A console without cluster-wide list permission sets `NAMESPACES` to a comma-separated list.
"""

import os
from collections.abc import Mapping

from console.kube.credentials import NoCluster
from console.kube.custom_types import CustomTypes
from console.kube.gvr import GVR
from console.kube.names import is_dns_label

VARIABLE = "NAMESPACES"

#: Cluster-scoped plurals by group. All other types in these groups are namespaced.
_CLUSTER_SCOPED: Mapping[str, frozenset[str]] = {
    "": frozenset({"componentstatuses", "namespaces", "nodes", "persistentvolumes"}),
    "admissionregistration.k8s.io": frozenset(
        {
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "validatingwebhookconfigurations",
        }
    ),
    "apiextensions.k8s.io": frozenset({"customresourcedefinitions"}),
    "apiregistration.k8s.io": frozenset({"apiservices"}),
    "certificates.k8s.io": frozenset({"certificatesigningrequests", "clustertrustbundles"}),
    "flowcontrol.apiserver.k8s.io": frozenset({"flowschemas", "prioritylevelconfigurations"}),
    "metrics.k8s.io": frozenset({"nodes"}),
    "networking.k8s.io": frozenset({"ingressclasses", "ipaddresses", "servicecidrs"}),
    "node.k8s.io": frozenset({"runtimeclasses"}),
    "rbac.authorization.k8s.io": frozenset({"clusterrolebindings", "clusterroles"}),
    "resource.k8s.io": frozenset({"deviceclasses", "resourceslices"}),
    "scheduling.k8s.io": frozenset({"priorityclasses"}),
    "storage.k8s.io": frozenset(
        {"csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"}
    ),
}
#: Cluster-scoped custom types known to the console, for when it may not list their definitions.
_CUSTOM: Mapping[str, frozenset[str]] = {
    "gateway.networking.k8s.io": frozenset({"gatewayclasses"}),
    "iam.kubesphere.io": frozenset(
        {
            "globalrolebindings",
            "globalroles",
            "groupbindings",
            "groups",
            "loginrecords",
            "rolebases",
            "users",
            "workspacerolebindings",
            "workspaceroles",
        }
    ),
    "snapshot.storage.k8s.io": frozenset({"volumesnapshotclasses", "volumesnapshotcontents"}),
    "tenant.kubesphere.io": frozenset({"workspaces", "workspacetemplates"}),
}


def is_namespaced(gvr: GVR, types: CustomTypes) -> bool:
    custom = types.get(gvr)
    if custom is not None:
        return custom.namespaced
    known = _CLUSTER_SCOPED.get(gvr.group) or _CUSTOM.get(gvr.group) or frozenset()
    return gvr.resource not in known


def is_builtin_cluster_scoped(gvr: GVR) -> bool:
    """Return True for built-in cluster-scoped types, which a namespaced Role cannot grant."""
    return gvr.resource in _CLUSTER_SCOPED.get(gvr.group, frozenset())


def configured_namespaces() -> tuple[str, ...]:
    """Return the namespaces from the environment; empty means the whole cluster. Raise `NoCluster`."""
    given = [item.strip() for item in os.environ.get(VARIABLE, "").split(",")]
    names = tuple(dict.fromkeys(item for item in given if item))
    for name in names:
        if not is_dns_label(name):
            raise NoCluster(
                f"{VARIABLE} must be a comma-separated list of namespaces; {name!r} is not valid"
            )
    return names
