"""Names and labels of workspace objects: KubeSphere's, and some that only the console uses."""

from console.kube.apply import Manifest
from console.kube.group_kind import group_of
from console.kube.gvr import WORKSPACES
from console.kube.projections.namespace import WORKSPACE_LABEL
from rbac.projection import owner_reference

NAMESPACE_LABEL = "kubesphere.io/namespace"
#: Finalizer on a template whose projects are kept when the workspace is deleted.
KEEP_FINALIZER = "orphan.finalizers.kubesphere.io"
TEMPLATE_FINALIZER = "finalizers.workspacetemplate.kubesphere.io"
#: Finalizers left by a KubeSphere installation. Its controllers would remove them.
OLD_FINALIZERS = frozenset(
    {"finalizers.tenant.kubesphere.io", "finalizers.kubesphere.io/namespaces"}
)

#: Names and labels of the objects in projects that the console reconciles
#: (manifests/admission.yaml).
SHARE = "quarterdeck-workspace"
ISOLATION = "quarterdeck-isolation"


def owner_of(workspace: str, uid: str) -> Manifest:
    """Return the owner reference to a Workspace."""
    return owner_reference(WORKSPACES, "Workspace", workspace, uid)


def is_workspace(owner: Manifest) -> bool:
    """Return True if an owner reference refers to a Workspace."""
    group = group_of(owner.get("apiVersion") or "")
    return (group, owner.get("kind")) == (WORKSPACES.group, "Workspace")


def workspace_metadata(name: str, workspace: str, uid: str, **labels: str) -> Manifest:
    """Return the metadata of a cluster-scoped object that is deleted with its workspace."""
    return {
        "name": name,
        "labels": {WORKSPACE_LABEL: workspace, **labels},
        "ownerReferences": [owner_of(workspace, uid)],
    }
