"""Roles that are not people's to change: the platform is built on them, or somebody else keeps them."""

from collections.abc import Mapping
from enum import StrEnum

from rbac.levels import Level
from rbac.names import PREFIX

#: Without these nobody can administer the platform, or log in to it; KubeSphere offers no deletion.
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
#: Those of the console's own identities among them: without these it sees and does nothing.
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
#: Of each workspace, after its name; made for it when it is.
WORKSPACE_ROLES = frozenset({"admin", "regular", "self-provisioner", "viewer"})
PROJECT_ROLES = frozenset({"admin", "operator", "viewer"})
#: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
BOOTSTRAPPING = ("kubernetes.io/bootstrapping", "rbac-defaults")


class Origin(StrEnum):
    BUILT_IN = "built-in"
    KUBERNETES = "kubernetes"
    #: Made by the controllers of another role.
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
    """Where a role comes from. People change those of their own alone."""
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
