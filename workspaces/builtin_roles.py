"""The built-in roles of every workspace and project, with KubeSphere's names.

Their rules are used if the cluster has no RoleBases (`workspaces.role_bases`).
"""

from collections.abc import Mapping

from console.kube.apply import Manifest
from rbac.levels import TYPES, Level
from rbac.projection import IAM, LABELS, READS, TENANT
from workspaces.names import workspace_metadata

ADMIN, VIEWER, REGULAR, SELF_PROVISIONER = "admin", "viewer", "regular", "self-provisioner"
OPERATOR = "operator"

_EVERYTHING: Manifest = {"apiGroups": ["*"], "resources": ["*"]}
_MEMBERSHIP: list[Manifest] = [
    {"apiGroups": [TENANT], "resources": ["workspaces"], "verbs": [*READS]},
    {"apiGroups": [IAM], "resources": ["workspacemembers"], "verbs": [*READS]},
]
#: Keys are role names without the prefix of workspace name and hyphen.
WORKSPACE_RULES: dict[str, list[Manifest]] = {
    ADMIN: [{**_EVERYTHING, "verbs": ["*"]}],
    VIEWER: [{**_EVERYTHING, "verbs": [*READS]}],
    REGULAR: _MEMBERSHIP,
    SELF_PROVISIONER: [
        *_MEMBERSHIP,
        {"apiGroups": ["*"], "resources": ["namespaces", "devops"], "verbs": ["create"]},
    ],
}
#: Resources that run in a project. Quotas, limits and roles are reserved for project
#: administrators.
_WORK = (
    ("", "configmaps endpoints events persistentvolumeclaims pods pods/attach pods/eviction pods/exec"
     " pods/log pods/portforward pods/proxy replicationcontrollers replicationcontrollers/scale"
     " secrets services services/proxy"),
    ("apps", "*"),
    ("autoscaling", "*"),
    ("batch", "*"),
    ("networking.k8s.io", "ingresses networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("app.k8s.io", "*"),
    ("monitoring.coreos.com", "*"),
    ("snapshot.storage.k8s.io", "volumesnapshots"),
)  # fmt: skip
PROJECT_RULES: dict[str, list[Manifest]] = {
    ADMIN: [{**_EVERYTHING, "verbs": ["*"]}],
    OPERATOR: [
        {**_EVERYTHING, "verbs": [*READS]},
        *(
            {"apiGroups": [group], "resources": resources.split(), "verbs": ["*"]}
            for group, resources in _WORK
        ),
    ],
    VIEWER: [{**_EVERYTHING, "verbs": [*READS]}],
}


def workspace_role_name(workspace: str, role: str) -> str:
    """Return the name of the WorkspaceRole. WorkspaceRoles are cluster-scoped, so the name includes
    the workspace.
    """
    return f"{workspace}-{role}"


#: Rules by role name.
RoleRules = Mapping[str, list[Manifest]]


def workspace_roles(
    workspace: str, uid: str, says: RoleRules = WORKSPACE_RULES
) -> dict[str, Manifest]:
    """Return the manifests of the workspace's built-in roles by name."""
    return {
        (name := workspace_role_name(workspace, role)): TYPES[Level.WORKSPACE].role(
            workspace_metadata(name, workspace, uid, **LABELS), rules
        )
        for role, rules in says.items()
    }


def project_roles(namespace: str, says: RoleRules = PROJECT_RULES) -> dict[str, Manifest]:
    """Return the manifests of the project's built-in roles by name."""
    return {
        role: TYPES[Level.PROJECT].role(
            {"name": role, "namespace": namespace, "labels": LABELS}, rules
        )
        for role, rules in says.items()
    }
