"""What roles and bindings that the console makes are called, and of which source each is."""

from typing import NamedTuple

#: All of them; the console may write no others (manifests/admission.yaml).
PREFIX = "quarterdeck:"
GLOBAL_ROLE, GLOBAL_BINDING = "globalrole", "globalrolebinding"
WORKSPACE_ROLE = "workspacerole"
#: After a workspace role's name: its rights to the workspace itself.
ITSELF = ":workspace"


class Source(NamedTuple):
    """`level` is one of the constants, `name` the object's."""

    level: str
    name: str


def projected_name(level: str, name: str) -> str:
    return f"{PREFIX}{level}:{name}"


def source_of(projected: str) -> Source | None:
    """None for what others made. The names of sources have no colon, so that ours can be taken apart."""
    if not projected.startswith(PREFIX):
        return None
    level, _, name = projected.removeprefix(PREFIX).partition(":")
    return Source(level, name.removesuffix(ITSELF)) if name else None


def member_name(workspace: str, user: str) -> str:
    """Of a member's WorkspaceRoleBinding: after the member, whatever the role, so that two who invite the
    same person at once make one member. No workspace has a dot in its name."""
    return f"{workspace}.{user}"


def department_name(workspace: str, group: str) -> str:
    """Of the WorkspaceRoleBinding of a department, one for each. Names of users follow a single dot."""
    return f"{workspace}.group.{group}"
