"""A cluster with two workspaces and users with different permissions."""

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    NAMESPACES,
    RESOURCE_QUOTAS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from tests.rbac.objects import (
    IAM,
    TENANT,
    Manifest,
    binding,
    global_role,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.workspaces.fakes import template, workspace_quota

READ, QUOTA = "get list watch", "quota.kubesphere.io"


def department(name: str, parent: str = "") -> Manifest:
    labels = {"kubesphere.io/workspace": "acme"}
    if parent:
        labels["iam.kubesphere.io/group-parent"] = parent
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", "labels": labels}
    return {"metadata": meta}


def membership(name: str, group: str) -> Manifest:
    labels = {"kubesphere.io/workspace": "acme"}
    meta = {"name": f"{group}-{name}", "uid": "u", "resourceVersion": "1", "labels": labels}
    return {"metadata": meta, "groupRef": {"kind": "Group", "name": group}, "users": [name]}


def objects() -> dict[GVR, list[Manifest]]:
    """Return the objects of the test cluster.

    In `acme`: `boss` is the manager, `ivo` a keeper, `ann` and members of department `heads`
    (`zoe`) are administrators, `max` is a viewer. `cleo` is no member, `dan` is disabled, `pia`
    manages departments of all workspaces, and department `crew` has a permission outside the
    workspace.
    """
    keeper = (
        rule("*", "workspacemembers groups", IAM),
        rule("create", "namespaces"),
        rule("update", "workspaces", TENANT),
        rule(READ, "*", "*"),
    )
    bound = {"ivo": "keeper", "ann": "admin", "zoe": "viewer", "max": "viewer", "boss": "admin"}
    inside = {"name": "shop", "namespace": "shop", "uid": "u-shop", "resourceVersion": "1"}
    home = workspace("acme")
    home["spec"] = {"manager": "boss"}
    return {
        USERS: [
            *map(user, (*bound, "cleo", "pia", "ned")),
            user("dan", state="Disabled"),
        ],
        WORKSPACES: [home, workspace("dark")],
        WORKSPACE_TEMPLATES: [template("acme", "boss")],
        WORKSPACE_QUOTAS: [workspace_quota("acme", pods="10")],
        WORKSPACE_ROLES: [
            workspace_role("acme-admin", "acme", rule("*", "*", "*")),
            workspace_role("acme-keeper", "acme", *keeper),
            workspace_role("acme-viewer", "acme", rule(READ, "*", "*")),
            workspace_role("dark-viewer", "dark", rule("list", "workspacemembers", IAM)),
        ],
        WORKSPACE_ROLE_BINDINGS: [
            *(
                workspace_binding(who, "acme", f"acme-{of}", f"User {who}")
                for who, of in bound.items()
            ),
            workspace_binding("heads", "acme", "acme-admin", "Group heads"),
            workspace_binding("dark", "dark", "dark-viewer", "User ivo", "User cleo"),
        ],
        GROUPS: [department("heads"), department("crew"), department("cubs", "crew")],
        GROUP_BINDINGS: [membership("zoe", "heads")],
        NAMESPACES: [project("shop", "acme")],
        RESOURCE_QUOTAS: [{"metadata": inside, "spec": {"hard": {"pods": "5"}}}],
        GLOBAL_ROLES: [global_role("keeper", rule("*", "groups", IAM))],
        GLOBAL_ROLE_BINDINGS: [binding("pia", ("User", "pia"), role="keeper")],
        CLUSTER_ROLES: [
            native_role("reads-nodes", rule("get", "nodes")),
            native_role("makes", rule("create", "workspacetemplates", TENANT)),
        ],
        CLUSTER_ROLE_BINDINGS: [
            native_binding("crew", "reads-nodes", "Group crew"),
            native_binding("pia", "makes", "User pia"),
        ],
    }
