"""Page for requests that require a workspace permission: shows a message that the user can send to
a workspace administrator.

Workspace permissions don't exist in Kubernetes (`workspaces.rights`), so unlike
`console.views.denial` no RBAC role is suggested. The page depends only on the URL and the
viewer's permissions, so it doesn't reveal which objects exist.
"""

from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.kube.gvr import WORKSPACES
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.views.denial import denied_page
from console.views.guard import access_of


def workspace_denied_page(request: ConsoleRequest, denied: Denied, workspace: str) -> HttpResponse:
    """Return the 403 page. `workspace` is the workspace named in the URL, or ""."""
    access = access_of(request)
    inside = access.can("get", WORKSPACES, name=workspace)
    what = _actions().get((denied.verb, denied.gvr.resource), "")
    if not workspace or denied.namespace or (inside and not what):
        return denied_page(request, denied, kinds.by_type(WORKSPACES))
    words = {
        "who": escape_invisible(access.identity.name),
        "workspace": escape_invisible(workspace),
        "url": settings.BASE_URL + quote(request.path),
        "what": what,
    }
    context: dict[str, Any] = {
        **words,
        "inside": inside,
        "wanted": _(
            "Please give me permission to %(what)s in the workspace %(workspace)s: %(url)s. My "
            "username is %(who)s."
        )
        % words
        if inside
        else _("Please invite me to the workspace %(workspace)s: %(url)s. My user name is %(who)s.")
        % words,
    }
    return render(request, "console/asking.html", context, status=403)


def _actions() -> dict[tuple[str, str], str]:
    """Return the actions that require a workspace role, as text that continues "let me"."""
    return {
        ("create", "namespaces"): _("create projects"),
        ("get", "namespaces"): _("see this project"),
        ("list", "workspacemembers"): _("see the members"),
        ("create", "workspacemembers"): _("invite members"),
        ("update", "workspacemembers"): _("change the roles of members"),
        ("delete", "workspacemembers"): _("remove members"),
        ("list", "groups"): _("see the departments"),
        ("create", "groups"): _("create departments"),
        ("update", "groups"): _("change departments"),
        ("delete", "groups"): _("delete departments"),
        ("list", "workspaceroles"): _("see the roles"),
        ("update", "workspaces"): _("change the settings"),
    }
