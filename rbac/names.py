"""Names of the roles and bindings that the console creates, and the source object of each."""

from typing import NamedTuple

#: Prefix of all created names. The console may not write other native roles and bindings
#: (manifests/admission.yaml).
PREFIX = "quarterdeck:"
GLOBAL_ROLE, GLOBAL_BINDING = "globalrole", "globalrolebinding"
WORKSPACE_ROLE = "workspacerole"
#: Suffix for the role that a workspace role has on the workspace object.
WORKSPACE_SUFFIX = ":workspace"


class ProjectionSource(NamedTuple):
    """The source of a created object. `level` is one of the constants above, `name` is the name of
    the source object.
    """

    level: str
    name: str


def projected_name(level: str, name: str) -> str:
    return f"{PREFIX}{level}:{name}"


def source_of(projected: str) -> ProjectionSource | None:
    """Return the source of a created object, or None for other objects. Source names contain no
    colon, so the name can be split.
    """
    if not projected.startswith(PREFIX):
        return None
    level, _, name = projected.removeprefix(PREFIX).partition(":")
    return ProjectionSource(level, name.removesuffix(WORKSPACE_SUFFIX)) if name else None


def member_name(workspace: str, user: str) -> str:
    """Return the name of a member's WorkspaceRoleBinding. It does not contain the role, so that
    concurrent invitations of the same user create one member. Workspace names contain no dot.
    """
    return f"{workspace}.{user}"


def department_name(workspace: str, group: str) -> str:
    """Return the name of a department's WorkspaceRoleBinding. The second dot distinguishes it from
    the name for a user.
    """
    return f"{workspace}.group.{group}"
