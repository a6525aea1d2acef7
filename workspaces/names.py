"""How objects of workspaces are called and labelled: KubeSphere's names, and a few of our own."""

from typing import Any

from console.kube.gvr import WORKSPACES
from console.kube.projections.namespace import WORKSPACE_LABEL

Manifest = dict[str, Any]

NAMESPACE_LABEL = "kubesphere.io/namespace"
#: On a template: its projects stay when it is deleted.
KEEP_FINALIZER = "orphan.finalizers.kubesphere.io"
TEMPLATE_FINALIZER = "finalizers.workspacetemplate.kubesphere.io"
#: What an installation of KubeSphere has left on objects; its controllers would take them away.
OLD_FINALIZERS = frozenset(
    {"finalizers.tenant.kubesphere.io", "finalizers.kubesphere.io/namespaces"}
)

#: The workspace that is always there. The cluster's own namespaces carry its label and nothing else.
SYSTEM_WORKSPACE = "system-workspace"
#: Of the objects in projects that the console keeps as they should be (manifests/admission.yaml).
SHARE = "quarterdeck-workspace"
ISOLATION = "quarterdeck-isolation"

MANAGED = {"app.kubernetes.io/managed-by": "quarterdeck"}


def owner_of(workspace: str, uid: str) -> Manifest:
    """The owner reference to a Workspace."""
    return {
        "apiVersion": WORKSPACES.group_version,
        "kind": "Workspace",
        "name": workspace,
        "uid": uid,
        "controller": True,
    }


def of_workspace(name: str, workspace: str, uid: str, **labels: str) -> Manifest:
    """The metadata of a cluster-scoped object that goes with its workspace."""
    return {
        "name": name,
        "labels": {WORKSPACE_LABEL: workspace, **labels},
        "ownerReferences": [owner_of(workspace, uid)],
    }
