"""The list of workspaces that the viewer may see (`/workspaces`), and the form that creates one."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import NAMESPACES, WORKSPACE_TEMPLATES, WORKSPACES
from console.kube.host_runtime import get_runtime
from console.kube.projections.tenancy import Workspace
from console.ui.core.access import Access
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from console.ui.navigation.nav import update_counts
from console.ui.navigation.projects import may_see_workspace
from console.views.back_link import Crumb
from console.views.guard import access_of
from console.views.page import page, success_redirect
from workspaces.pages.base import complete, watch_types
from workspaces.pages.forms import NewWorkspaceForm
from workspaces.pages.members import user_options
from workspaces.quotas import QuotaUsage, projects_of, workspace_usage
from workspaces.rights import MEMBERS, may_see_quota, workspace_rights
from workspaces.services import settings
from workspaces.services.actor import Actor
from workspaces.services.members import members

#: Maximum number of workspaces on the page. The list of the resource type has all of them.
MOST = 200
WORKSPACES_ENTRY = MenuEntry(("platform",), 20, gettext_lazy("Workspaces"), "building-2")


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A row in the list of workspaces."""

    name: str
    url: str
    alias: str
    manager: str
    projects: int
    members: int | None
    fullest: QuotaUsage | None
    ending: bool


@page("GET", menu=WORKSPACES_ENTRY)
async def workspaces(request: ConsoleRequest) -> HttpResponse:
    await watch_types()
    access = access_of(request)
    entries = get_runtime().informer(WORKSPACES).store.snapshot().entries.values()
    mine = sorted(
        (entry.projection for entry in entries if may_see_workspace(access, entry.key.name)),
        key=lambda found: found.name,
    )
    await update_counts(request.cluster)
    context = {
        "lines": [_line(access, found) for found in mine[:MOST]],
        "total": len(mine),
        "may_create": access.can("create", WORKSPACE_TEMPLATES),
        "who": escape_invisible(request.account or ""),
    }
    return render(request, "workspaces/list.html", context)


def _line(access: Access, found: Workspace) -> WorkspaceRow:
    """Return the row of a workspace. Counts include only what the viewer may see."""
    uses = workspace_usage(found.name) if may_see_quota(access, found.name) else []
    may_list = workspace_rights(access, found.name).is_allowed("list", MEMBERS)
    return WorkspaceRow(
        escape_invisible(found.name),
        reverse("workspace", args=(found.name,)),
        escape_invisible(found.alias),
        escape_invisible(found.manager),
        sum(access.can("get", NAMESPACES, name=one.name) for one in projects_of(found.name)),
        len(members(found.name, found.manager)) if may_list else None,
        max(uses, key=lambda use: use.share, default=None),
        found.deleted is not None,
    )


@page("GET", "POST", menu=WORKSPACES_ENTRY)
async def new(request: ConsoleRequest) -> HttpResponse:
    access = await _creator(request)
    form = NewWorkspaceForm(posted(request), initial={"manager": access.identity.name})
    form.suggest_users(reverse("workspace_new_users"))
    if form.is_valid():
        given = form.cleaned_data
        actor = Actor(request, access, given["name"])
        making = settings.create(
            actor, manager=given["manager"], alias=given["alias"], description=given["description"]
        )
        if await complete(form, making):
            text = _("Created workspace %(name)s.") % {"name": given["name"]}
            return success_redirect(request, text, reverse("workspace_list"))
    context = {
        "crumbs": [Crumb(_("Workspaces"), reverse("workspace_list"), up=True)],
        "form": form,
        "title": _("Create workspace"),
        "button": _("Create workspace"),
        "back": reverse("workspace_list"),
    }
    return render(request, "workspaces/form.html", context, status=form.page_status)


@page("GET")
async def suggest_managers(request: ConsoleRequest) -> HttpResponse:
    """Return users as options of the field `manager` of a new workspace."""
    return user_options(request, await _creator(request))


async def _creator(request: ConsoleRequest) -> Access:
    """Return the permissions of the viewer. Raise `Denied` if they don't allow new workspaces."""
    await watch_types()
    access = access_of(request)
    if not access.can("create", WORKSPACE_TEMPLATES):
        raise Denied("create", WORKSPACE_TEMPLATES)
    return access
