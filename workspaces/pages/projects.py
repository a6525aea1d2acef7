"""Pages that create a project in a workspace and manage its quota, default limits and members."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    LIMIT_RANGES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    Key,
)
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import Namespace
from console.ui.core.clusters import HOST
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.details.detail import TabLink, object_head
from console.ui.forms.forms import posted
from console.ui.navigation.projects import MANAGED
from console.views.guard import access_of
from console.views.page import page, success_redirect
from workspaces.builtin_roles import PROJECT_RULES
from workspaces.names import SHARE
from workspaces.pages.base import (
    VisibleWorkspace,
    complete,
    form_page,
    live_page,
    open_workspace,
    render_live_page,
)
from workspaces.pages.forms import LimitsForm, MemberForm, NewProjectForm, QuotaForm
from workspaces.quotas import project_usage, quota_entry
from workspaces.rights import PROJECTS
from workspaces.services import project_members, projects
from workspaces.services.limits import defaults_of, limits_entry, set_defaults

PROJECTS_ENTRY = MenuEntry(("workspace",), 10, gettext_lazy("Projects"), "folder")
# Workspaces have no quota on other clusters yet.
PROJECT_ENTRY = MenuEntry(
    ("project",), 120, MANAGED, "users", lambda access: access.cluster.name == HOST
)


@page("GET", "POST", menu=PROJECTS_ENTRY)
async def new(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    opened.rights.require("create", PROJECTS)
    form = NewProjectForm({}, posted(request))
    if form.is_valid():
        given = form.cleaned_data
        making = projects.create(
            opened.actor,
            given["name"],
            alias=given["alias"],
            description=given["description"],
            hard=form.amounts,
        )
        if await complete(form, making):
            text = _("Created project %(name)s.") % {"name": given["name"]}
            return success_redirect(request, text, opened.url("workspace_projects"))
    return await form_page(
        opened,
        "workspace_projects",
        form,
        title=_("Create project"),
        button=_("Create project"),
        about=_(
            "This quota applies only to this project. A project without a quota shares the "
            "workspace quota."
        ),
    )


def _project(opened: VisibleWorkspace, namespace: str) -> Mapping[str, Any]:
    """Return the page context. Raise the errors of `open_project`."""
    found = open_project(opened, namespace)
    access, name = opened.access, found.name
    shows_quota = access.can("list", RESOURCE_QUOTAS, namespace=name)
    return {
        "project": escape_invisible(name),
        "alias": escape_invisible(found.alias),
        "creator": escape_invisible(found.creator),
        **_object(opened, name),
        "own": project_usage(name, name) if shows_quota else [],
        "share": project_usage(name, SHARE) if shows_quota else [],
        "limits_url": opened.url("workspace_project_limits", name)
        if access.can("update", LIMIT_RANGES, namespace=name)
        else "",
        "limits": _limits(name) if access.can("list", LIMIT_RANGES, namespace=name) else [],
        "members": _members(name) if access.can("list", ROLE_BINDINGS, namespace=name) else [],
        "member_url": opened.url("workspace_project_member", name)
        if access.can("create", ROLE_BINDINGS, namespace=name)
        else "",
    }


def _object(opened: VisibleWorkspace, name: str) -> Mapping[str, Any]:
    """Return the head and the tabs of the namespace page if the viewer may see it."""
    found = object_head(opened.access, NAMESPACES, Key("", name))
    if found is None:
        return {"object": None, "tabs": ()}
    overview, *others = found.tabs
    this = TabLink(MANAGED, opened.url("workspace_project", name), current=True, elsewhere=True)
    return {"object": found, "tabs": (replace(overview, current=False), this, *others)}


@page(
    "GET",
    follows=live_page(_project, RESOURCE_QUOTAS, LIMIT_RANGES, ROLE_BINDINGS),
    menu=PROJECT_ENTRY,
)
async def project(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    values = _project(opened, namespace)
    template, frame = "workspaces/_project.html", "workspaces/project.html"
    return await render_live_page(opened, "workspace_projects", template, values, frame=frame)


@page("GET")
async def quota_of(request: ConsoleRequest, namespace: str) -> HttpResponse:
    """Redirect to the quota form of a project in its workspace."""
    if not access_of(request).can("update", RESOURCE_QUOTAS, namespace=namespace):
        raise Denied("update", RESOURCE_QUOTAS, namespace)
    entry = get_runtime().informer(NAMESPACES).store.get(Key("", namespace))
    if entry is None or not entry.projection.workspace:
        raise Http404
    where = (entry.projection.workspace, namespace)
    return HttpResponseRedirect(reverse("workspace_project_quota", args=where))


@page("GET", "POST", menu=PROJECT_ENTRY)
async def quota(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    """Edit the project's own quota. The write uses the user's identity."""
    opened = await open_workspace(request, workspace)
    name = open_project(opened, namespace).name
    if not opened.access.can("update", RESOURCE_QUOTAS, namespace=name):
        raise Denied("update", RESOURCE_QUOTAS, name)
    entry = quota_entry(name, name)
    hard = (entry.original().get("spec") or {}).get("hard") or {} if entry is not None else {}
    form = QuotaForm({resource: str(text) for resource, text in hard.items()}, posted(request))
    if form.is_valid():
        seen = request.POST.get("version", "")
        if await complete(form, projects.set_quota(opened.actor, name, form.amounts, seen)):
            return success_redirect(
                request, _("Quota saved."), opened.url("workspace_project", name)
            )
    return await form_page(
        opened,
        "workspace_projects",
        form,
        title=_("Quota of project %(name)s") % {"name": escape_invisible(name)},
        button=_("Save quota"),
        back=opened.url("workspace_project", name),
        about=_("You can reserve the remaining workspace quota for this project."),
        version=entry.resource_version if entry is not None else "",
    )


@page("GET", "POST", menu=PROJECT_ENTRY)
async def limits(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    """Edit the default limits. The write uses the user's identity."""
    opened = await open_workspace(request, workspace)
    name = open_project(opened, namespace).name
    if not opened.access.can("update", LIMIT_RANGES, namespace=name):
        raise Denied("update", LIMIT_RANGES, name)
    entry = limits_entry(name)
    form = LimitsForm(defaults_of(entry), posted(request))
    if form.is_valid():
        seen = request.POST.get("version", "")
        if await complete(form, set_defaults(opened.actor, name, form.amounts, seen)):
            text = _("Default limits saved.")
            return success_redirect(request, text, opened.url("workspace_project", name))
    return await form_page(
        opened,
        "workspace_projects",
        form,
        title=_("Default limits of project %(name)s") % {"name": escape_invisible(name)},
        button=_("Save default limits"),
        back=opened.url("workspace_project", name),
        about=_(
            "Applies to containers that don't set requests or limits. Leave empty for no default."
        ),
        version=entry.resource_version if entry is not None else "",
    )


@page("GET", "POST", menu=PROJECT_ENTRY)
async def member(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    """Set or remove a user's role in the project. The write uses the user's identity."""
    opened = await open_workspace(request, workspace)
    name = open_project(opened, namespace).name
    if not opened.access.can("create", ROLE_BINDINGS, namespace=name):
        raise Denied("create", ROLE_BINDINGS, name)
    roles = [("", _("none")), *((role, role) for role in PROJECT_RULES)]
    initial = {"user": escape_invisible(request.GET.get("user", ""))}
    form = MemberForm(posted(request), choices={"role": roles}, initial=initial)
    if form.is_valid():
        user, role = form.cleaned_data["user"], form.cleaned_data["role"]
        if await complete(form, project_members.set_role(opened.actor, name, user, role)):
            text = _("Changed the role of %(name)s.") % {"name": user}
            return success_redirect(request, text, opened.url("workspace_project", name))
    return await form_page(
        opened,
        "workspace_projects",
        form,
        title=_("Member of project %(name)s") % {"name": escape_invisible(name)},
        button=_("Save member"),
        back=opened.url("workspace_project", name),
        about=_(
            "Select one role for the user in this project, or none to remove the user. Roles in "
            "the workspace stay unchanged."
        ),
    )


def open_project(opened: VisibleWorkspace, name: str) -> Namespace:
    """Return the project. Raise `Denied` without revealing if the project exists, or `Http404`."""
    if not opened.access.can("get", PROJECTS, name=name):
        raise Denied("get", NAMESPACES)
    entry = get_runtime().informer(NAMESPACES).store.get(Key("", name))
    if entry is None or entry.projection.workspace != opened.name:
        raise Http404
    found: Namespace = entry.projection
    return found


def _limits(name: str) -> list[tuple[str, str]]:
    """Return the default requests and limits of each LimitRange, formatted for display."""
    found = indexes_of(get_runtime().informer(LIMIT_RANGES).store).by_namespace.get(name)
    return [
        (
            escape_invisible(", ".join(one.projection.default_requests)),
            escape_invisible(", ".join(one.projection.default_limits)),
        )
        for one in found
        if one.projection.default_requests or one.projection.default_limits
    ]


def _members(name: str) -> list[tuple[str, str]]:
    """Return the users and their roles that are defined in the project."""
    return sorted(
        (escape_invisible(user), escape_invisible(entry.projection.role))
        for entry in project_members.bindings(name)
        for user in entry.projection.users
    )
