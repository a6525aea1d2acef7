"""Roles that users cannot change, because the platform depends on them or another component manages
them.
"""

from collections.abc import Mapping
from enum import StrEnum

from rbac.levels import Level
from rbac.names import PREFIX

#: The platform cannot be administered or signed in to without these roles. KubeSphere does not
#: allow deleting them.
PLATFORM_ROLES = frozenset(
    {
        "anonymous",
        "authenticated",
        "platform-admin",
        "platform-regular",
        "platform-self-provisioner",
        "pre-registration",
    }
)
#: Includes the roles of the console's own identities. Without these, the console can neither read
#: nor write.
CLUSTER_ROLES = frozenset(
    {
        "cluster-admin",
        "cluster-viewer",
        "quarterdeck-console",
        "quarterdeck-reader",
        "quarterdeck-reader-custom",
        "quarterdeck-writer",
    }
)
#: Roles that are created with each workspace. Their names have the workspace name as a prefix.
WORKSPACE_ROLES = frozenset({"admin", "regular", "self-provisioner", "viewer"})
PROJECT_ROLES = frozenset({"admin", "operator", "viewer"})
#: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
BOOTSTRAPPING = ("kubernetes.io/bootstrapping", "rbac-defaults")


class Origin(StrEnum):
    BUILT_IN = "built-in"
    KUBERNETES = "kubernetes"
    #: Created by the controllers from another role.
    PROJECTED = "projected"
    TEMPLATE = "template"
    OWN = "own"


def origin_of(
    level: Level,
    name: str,
    labels: Mapping[str, str],
    *,
    template: bool = False,
    workspace: str = "",
) -> Origin:
    """Return the origin of a role. Users can change only roles with origin `OWN`."""
    if template:
        return Origin.TEMPLATE
    if name.startswith(PREFIX):
        return Origin.PROJECTED
    if _is_built_in(level, name, workspace):
        return Origin.BUILT_IN
    label, value = BOOTSTRAPPING
    if labels.get(label) == value or name.startswith("system:"):
        return Origin.KUBERNETES
    return Origin.OWN


def _is_built_in(level: Level, name: str, workspace: str) -> bool:
    if level is Level.GLOBAL:
        return name in PLATFORM_ROLES
    if level is Level.CLUSTER:
        return name in CLUSTER_ROLES
    if level is Level.PROJECT:
        return name in PROJECT_ROLES
    prefix = f"{workspace}-"
    return bool(workspace) and name.startswith(prefix) and name[len(prefix) :] in WORKSPACE_ROLES
