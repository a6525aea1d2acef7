"""Pages that create a project in a workspace and manage its quota, default limits and members."""

from collections.abc import Iterator, Mapping
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
from console.kube.quantity import Amounts
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.details.detail import TabLink, object_head
from console.ui.forms.forms import posted
from console.ui.navigation.projects import MANAGED
from console.ui.usage.quota_previews import QuotaLimits, limits_source
from console.views.guard import access_of
from console.views.page import page
from workspaces.builtin_roles import PROJECT_RULES
from workspaces.names import SHARE
from workspaces.pages.base import VisibleWorkspace, WorkspacePage
from workspaces.pages.forms import LimitsForm, MemberForm, NewProjectForm, QuotaForm
from workspaces.pages.views import FormPage, Live, form_view, live_view, open_project
from workspaces.quotas import project_usage, quota_entry, workspace_hard, workspace_usage
from workspaces.rights import PROJECTS, may_see_quota
from workspaces.services import project_members, projects
from workspaces.services.limits import defaults_of, limits_entry, set_defaults

PROJECTS_ENTRY = MenuEntry(("workspace",), 10, gettext_lazy("Projects"), "folder")
# Workspaces have no quota on other clusters yet.
PROJECT_ENTRY = MenuEntry(
    ("project",), 120, MANAGED, "users", lambda access: access.cluster.name == HOST
)


@form_view("workspace_projects", "create", PROJECTS, menu=PROJECTS_ENTRY)
def new(opened: WorkspacePage) -> FormPage:
    form = NewProjectForm({}, posted(opened.request), **_quota_amounts(opened))
    about = _(
        "This quota applies only to this project. A project without a quota shares the workspace "
        "quota."
    )
    return FormPage(
        form,
        lambda given, _version: projects.create(
            opened.actor,
            given["name"],
            alias=given["alias"],
            description=given["description"],
            hard=form.amounts,
        ),
        title=_("Create project"),
        button=_("Create project"),
        done=_("Created project %(name)s."),
        named_by="name",
        options={"about": about, "more": _summary(opened)},
    )


def _summary(opened: WorkspacePage) -> Mapping[str, Any]:
    """Return the summary of a new project, and the objects that are created."""
    who = escape_invisible(opened.access.identity.name)
    creates = [_("Project (namespace)"), _("Role binding for %(user)s") % {"user": who}]
    if workspace_hard(opened.name):
        creates.insert(1, _("Resource quota: the share of the workspace quota"))
    return {
        "summary": [
            (_("Workspace"), escape_invisible(opened.name)),
            (_("Cluster"), HOST),
            (_("Administrator"), who),
        ],
        "creates": creates,
    }


def _quota_amounts(opened: WorkspacePage, namespace: str = "") -> Mapping[str, Amounts]:
    """Return the limits of the workspace quota (`total`) and the amounts that a project can still
    use (`left`). Return {} if the viewer may not see the workspace quota.
    """
    if not may_see_quota(opened.access, opened.name):
        return {}
    left = projects.quota_left(opened.name, namespace)
    return {"left": left, "total": workspace_hard(opened.name)}


@limits_source
def _shared_limits(access: Access, namespace: str) -> Iterator[QuotaLimits]:
    """Yield the quota of the project's workspace if the viewer may see it. The project's share
    follows this quota.
    """
    here = access.cluster.name == HOST
    entry = get_runtime().informer(NAMESPACES).store.get(Key("", namespace)) if here else None
    workspace = entry.projection.workspace if entry is not None else ""
    if workspace and may_see_quota(access, workspace):
        uses = workspace_usage(workspace)
        yield QuotaLimits(
            _("Quota of workspace %(name)s") % {"name": escape_invisible(workspace)},
            {use.resource: use.hard for use in uses},
            {use.resource: use.used for use in uses},
            SHARE,
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


project = live_view(
    "workspace_projects",
    Live(
        "workspaces/_project.html",
        _project,
        (RESOURCE_QUOTAS, LIMIT_RANGES, ROLE_BINDINGS),
        "workspaces/project.html",
    ),
    menu=PROJECT_ENTRY,
)


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


@form_view("workspace_projects", "update", RESOURCE_QUOTAS, menu=PROJECT_ENTRY)
def quota(opened: WorkspacePage, namespace: str) -> FormPage:
    """Edit the project's own quota. The write uses the user's identity."""
    entry = quota_entry(namespace, namespace)
    hard = (entry.original().get("spec") or {}).get("hard") or {} if entry is not None else {}
    form = QuotaForm(
        {resource: str(text) for resource, text in hard.items()},
        posted(opened.request),
        **_quota_amounts(opened, namespace),
    )
    return FormPage(
        form,
        lambda _given, seen: projects.set_quota(opened.actor, namespace, form.amounts, seen),
        title=_("Quota of project %(name)s"),
        button=_("Save quota"),
        done=_("Quota saved."),
        name=namespace,
        back=opened.url("workspace_project", namespace),
        options={
            "about": _("You can reserve the remaining workspace quota for this project."),
            "version": entry.resource_version if entry is not None else "",
        },
    )


@form_view("workspace_projects", "update", LIMIT_RANGES, menu=PROJECT_ENTRY)
def limits(opened: WorkspacePage, namespace: str) -> FormPage:
    """Edit the default limits. The write uses the user's identity."""
    entry = limits_entry(namespace)
    form = LimitsForm(defaults_of(entry), posted(opened.request))
    about = _(
        "Applies to containers that don't set requests or limits. Leave empty for no default."
    )
    return FormPage(
        form,
        lambda _given, seen: set_defaults(opened.actor, namespace, form.amounts, seen),
        title=_("Default limits of project %(name)s"),
        button=_("Save default limits"),
        done=_("Default limits saved."),
        name=namespace,
        back=opened.url("workspace_project", namespace),
        options={"about": about, "version": entry.resource_version if entry is not None else ""},
    )


@form_view("workspace_projects", "create", ROLE_BINDINGS, menu=PROJECT_ENTRY)
def member(opened: WorkspacePage, namespace: str) -> FormPage:
    """Set or remove a user's role in the project. The write uses the user's identity."""
    roles = [("", _("none")), *((role, role) for role in PROJECT_RULES)]
    initial = {"user": escape_invisible(opened.request.GET.get("user", ""))}
    about = _(
        "Select one role for the user in this project, or none to remove the user. Roles in the "
        "workspace stay unchanged."
    )
    return FormPage(
        MemberForm(posted(opened.request), choices={"role": roles}, initial=initial),
        lambda given, _version: project_members.set_role(
            opened.actor, namespace, given["user"], given["role"]
        ),
        title=_("Member of project %(name)s"),
        button=_("Save member"),
        done=_("Changed the role of %(name)s."),
        name=namespace,
        named_by="user",
        back=opened.url("workspace_project", namespace),
        options={"about": about},
    )


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
