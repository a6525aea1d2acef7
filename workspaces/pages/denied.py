"""What a workspace does not let somebody do: whom to ask, and a request that can be sent to them.

Kubernetes' own rights have no words for it (`workspaces.rights`), so no role of the cluster is proposed.
It depends on the address and on the viewer's rights alone, never on what exists.
"""

from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.kube.gvr import GVR, WORKSPACE_ROLES, WORKSPACES
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.ui.registry import kinds
from console.ui.text import visible
from console.views.denial import denied_page
from console.views.guard import access_of
from workspaces.rights import DEPARTMENTS, ITSELF, MEMBERS, PROJECTS, may_see

#: What only a workspace's roles give.
_ABOUT = (DEPARTMENTS, ITSELF, MEMBERS, PROJECTS, WORKSPACE_ROLES)


def refused_page(request: ConsoleRequest, denied: Denied, workspace: str) -> HttpResponse:
    """The page for a refusal. `workspace`: the one of the address, "" for none."""
    if not workspace or denied.namespace or denied.gvr not in _ABOUT:
        return denied_page(request, denied, kinds.of(WORKSPACES))
    access = access_of(request)
    inside = may_see(access, workspace)
    words = {
        "who": visible(access.identity.name),
        "workspace": visible(workspace),
        "url": settings.BASE_URL + quote(request.path),
        "what": _action(denied.verb, denied.gvr),
    }
    context: dict[str, Any] = {
        **words,
        "inside": inside,
        "wanted": _(
            "Please let me %(what)s in the workspace %(workspace)s: %(url)s. My user name is %(who)s."
        )
        % words
        if inside
        else _("Please invite me to the workspace %(workspace)s: %(url)s. My user name is %(who)s.")
        % words,
    }
    return render(request, "workspaces/denied.html", context, status=403)


def _action(verb: str, about: GVR) -> str:
    """As it goes on after "let me"."""
    actions = {
        ("create", PROJECTS): _("create projects"),
        ("get", PROJECTS): _("see this project"),
        ("list", MEMBERS): _("see the members"),
        ("create", MEMBERS): _("invite members"),
        ("update", MEMBERS): _("change the roles of members"),
        ("delete", MEMBERS): _("remove members"),
        ("list", DEPARTMENTS): _("see the departments"),
        ("create", DEPARTMENTS): _("create departments"),
        ("update", DEPARTMENTS): _("change departments"),
        ("delete", DEPARTMENTS): _("delete departments"),
        ("update", ITSELF): _("change the settings"),
        ("list", WORKSPACE_ROLES): _("see the roles"),
    }
    return actions.get((verb, about)) or f"{verb} {about.qualified}"
