"""URLs of roles and permissions, included at the site root."""

from django.http import Http404, HttpResponseBase
from django.urls import path

from access.new_user import new as new_account
from access.rights.views import own_permissions, user_permissions
from access.rights.who_may import who_may_page
from access.roles.detail import role
from access.roles.editing import edit, new
from access.roles.granting import grant, revoke
from access.roles.listing import roles, workspace_roles
from access.roles.undo_change import undo
from console.ui.core.kind import segment_of
from console.ui.core.requests import ConsoleRequest
from console.views.actions import redirect_old_url
from rbac.levels import TYPES, Level

app_name = "access"
_ACTS = {"edit": edit, "grant": grant, "revoke": revoke}


async def act_on_role(
    request: ConsoleRequest, level: str, name: str, act: str, namespace: str = ""
) -> HttpResponseBase:
    view = _ACTS.get(act)
    if view is None:
        raise Http404
    return await view(request, level=level, name=name, namespace=namespace)


_OF_PROJECT = {"level": "project"}
_WHERE = {Level.PROJECT: "/<str:namespace>"}

urlpatterns = [
    path("access/accounts/new", new_account, name="new_account"),
    path("access/rights", own_permissions, name="own_rights"),
    path("access/rights/<str:name>", user_permissions, name="rights"),
    path("access/who-may", who_may_page, name="who_may"),
    path("access/roles", roles, name="roles"),
    path("access/roles/undo", undo, name="undo"),
    path("access/roles/new/<str:level>", new, name="new_role"),
    path("workspaces/<str:workspace>/roles", workspace_roles, name="workspace_roles"),
    *(
        path(
            f"access/roles/{level}{_WHERE.get(level, '')}/<str:name>/delete",
            redirect_old_url,
            {"resource": segment_of(types.roles), "action": "delete"},
        )
        for level, types in TYPES.items()
    ),
    # Must come before the generic patterns, because project roles also have a namespace in the URL.
    path("access/roles/project/<str:namespace>/<str:name>", role, _OF_PROJECT, name="project_role"),
    path(
        "access/roles/project/<str:namespace>/<str:name>/<str:act>",
        act_on_role,
        _OF_PROJECT,
        name="project_role",
    ),
    path("access/roles/<str:level>/<str:name>", role, name="role"),
    path("access/roles/<str:level>/<str:name>/<str:act>", act_on_role, name="role"),
]
