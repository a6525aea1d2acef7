"""Labels and descriptions on the role pages."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from access.roles.places import Role
from console.ui.text import visible
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
        "platform-admin": gettext_lazy("May do everything on the platform."),
        "platform-self-provisioner": gettext_lazy("May create workspaces and manages those."),
        "platform-regular": gettext_lazy(
            "Has no rights beyond those of the workspaces that it is invited to."
        ),
        "authenticated": gettext_lazy("What everybody who is signed in may do."),
        "anonymous": gettext_lazy("What whoever is not signed in may do."),
        "pre-registration": gettext_lazy("For whoever signs in for the first time."),
    },
    Level.CLUSTER: {
        "cluster-admin": gettext_lazy("May do everything in the cluster."),
        "cluster-viewer": gettext_lazy("May view everything in the cluster."),
    },
    Level.WORKSPACE: {
        "admin": gettext_lazy("May do everything in the workspace."),
        "self-provisioner": gettext_lazy("May create projects and manages those."),
        "viewer": gettext_lazy("May view everything in the workspace."),
        "regular": gettext_lazy("May view the workspace. Its projects give further rights."),
    },
    Level.PROJECT: {
        "admin": gettext_lazy("May do everything in the project."),
        "operator": gettext_lazy(
            "May manage what runs in the project, but not its members and quota."
        ),
        "viewer": gettext_lazy("May view everything in the project."),
    },
}


def description_of(role: Role) -> str:
    """Return the description of a role. Descriptions of built-in roles are translated."""
    if role.origin is Origin.BUILT_IN:
        workspace = role.entry.projection.workspace
        name = role.name.removeprefix(f"{workspace}-") if workspace else role.name
        found = _BUILT_IN[role.place.level].get(name)
        if found is not None:
            return str(found)
    return visible(role.entry.projection.description)
