"""Names and labels of workspace objects: KubeSphere's, and some that only the console uses."""

from console.kube.apply import Manifest
from console.kube.gvr import WORKSPACES
from console.kube.projections.namespace import WORKSPACE_LABEL

NAMESPACE_LABEL = "kubesphere.io/namespace"
#: Finalizer on a template whose projects are kept when the workspace is deleted.
KEEP_FINALIZER = "orphan.finalizers.kubesphere.io"
TEMPLATE_FINALIZER = "finalizers.workspacetemplate.kubesphere.io"
#: Finalizers left by a KubeSphere installation. Its controllers would remove them.
OLD_FINALIZERS = frozenset(
    {"finalizers.tenant.kubesphere.io", "finalizers.kubesphere.io/namespaces"}
)

#: The workspace that always exists. The cluster's system namespaces have its label but no other
#: properties of a project.
SYSTEM_WORKSPACE = "system-workspace"
#: Names and labels of the objects in projects that the console reconciles
#: (manifests/admission.yaml).
SHARE = "quarterdeck-workspace"
ISOLATION = "quarterdeck-isolation"

MANAGED = {"app.kubernetes.io/managed-by": "quarterdeck"}


def owner_of(workspace: str, uid: str) -> Manifest:
    """Return the owner reference to a Workspace."""
    return {
        "apiVersion": WORKSPACES.group_version,
        "kind": "Workspace",
        "name": workspace,
        "uid": uid,
        "controller": True,
    }


def workspace_metadata(name: str, workspace: str, uid: str, **labels: str) -> Manifest:
    """Return the metadata of a cluster-scoped object that is deleted with its workspace."""
    return {
        "name": name,
        "labels": {WORKSPACE_LABEL: workspace, **labels},
        "ownerReferences": [owner_of(workspace, uid)],
    }
