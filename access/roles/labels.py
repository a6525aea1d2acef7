"""Labels and descriptions on the role pages."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from access.roles.lookup import ScopedRole
from console.ui.core.text import escape_invisible
from rbac.builtin import Origin
from rbac.levels import Level

ORIGINS: dict[Origin, str | Promise] = {
    Origin.BUILT_IN: gettext_lazy("Built in"),
    Origin.KUBERNETES: gettext_lazy("Kubernetes"),
    Origin.PROJECTED: gettext_lazy("Derived"),
    Origin.TEMPLATE: gettext_lazy("Template"),
    Origin.OWN: gettext_lazy("Custom"),
}
KINDS: dict[Level, str | Promise] = {
    Level.GLOBAL: gettext_lazy("platform role"),
    Level.WORKSPACE: gettext_lazy("workspace role"),
    Level.CLUSTER: gettext_lazy("cluster role"),
    Level.PROJECT: gettext_lazy("project role"),
}
SUBJECTS: dict[str, str | Promise] = {
    "User": gettext_lazy("User"),
    "Group": gettext_lazy("Group"),
    "ServiceAccount": gettext_lazy("Service account"),
}
#: Descriptions of built-in roles. KubeSphere describes them in English only. Workspace roles are
#: listed without the workspace prefix.
_BUILT_IN: dict[Level, dict[str, str | Promise]] = {
    Level.GLOBAL: {
        "platform-admin": gettext_lazy("Can do everything on the platform."),
        "platform-self-provisioner": gettext_lazy(
            "Can create workspaces and manage the created workspaces."
        ),
        "platform-regular": gettext_lazy(
            "Has no permissions outside the workspaces that the user is invited to."
        ),
        "authenticated": gettext_lazy("Permissions of all users who are signed in."),
        "anonymous": gettext_lazy("Permissions of visitors who are not signed in."),
        "pre-registration": gettext_lazy("Permissions of users who sign in for the first time."),
    },
    Level.CLUSTER: {
        "cluster-admin": gettext_lazy("Can do everything in the cluster."),
        "cluster-viewer": gettext_lazy("Can view everything in the cluster."),
    },
    Level.WORKSPACE: {
        "admin": gettext_lazy("Can do everything in the workspace."),
        "self-provisioner": gettext_lazy("Can create projects and manage the created projects."),
        "viewer": gettext_lazy("Can view everything in the workspace."),
        "regular": gettext_lazy("Can view the workspace. Project roles grant further permissions."),
    },
    Level.PROJECT: {
        "admin": gettext_lazy("Can do everything in the project."),
        "operator": gettext_lazy(
            "Can manage the resources in the project, but not its members and quota."
        ),
        "viewer": gettext_lazy("Can view everything in the project."),
    },
}


def description_of(role: ScopedRole) -> str:
    """Return the description of a role. Descriptions of built-in roles are translated."""
    if role.origin is Origin.BUILT_IN:
        workspace = role.entry.projection.workspace
        name = role.name.removeprefix(f"{workspace}-") if workspace else role.name
        found = _BUILT_IN[role.place.level].get(name)
        if found is not None:
            return str(found)
    return escape_invisible(role.entry.projection.description)
