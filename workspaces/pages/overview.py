"""Overview, project list and quota page of a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    GVR,
    RESOURCE_QUOTAS,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.projections.namespace import Namespace
from console.ui.core.clusters import HOST
from console.ui.core.menu import OVERVIEW, MenuEntry
from console.ui.core.page_data import current_page_data, load_page_data
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate
from console.ui.details.detail import object_head
from console.ui.diagnosis.attention import (
    Attention,
    attention,
    cached_types,
    checked_types,
    dependent_types,
    update_problem_indexes,
)
from console.ui.forms.forms import posted
from console.ui.navigation.nav import level_problems, update_counts
from console.views.guard import access_of
from console.views.page import page
from workspaces.builtin_roles import ADMIN, workspace_role_name
from workspaces.names import SHARE
from workspaces.pages.base import (
    VisibleWorkspace,
    WorkspacePage,
    live_page,
    open_workspace,
    render_live_page,
)
from workspaces.pages.forms import QuotaForm
from workspaces.pages.projects import PROJECTS_ENTRY
from workspaces.pages.views import FormPage, Live, form_view
from workspaces.quotas import (
    QuotaUsage,
    project_usage,
    projects_of,
    workspace_quota,
    workspace_usage,
)
from workspaces.rights import MEMBERS, PROJECTS, may_see_quota
from workspaces.services import settings
from workspaces.services.members import members

#: Maximum number of administrators named to a viewer who sees no project.
MOST_CONTACTS = 5


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A row in the list of projects. `failing` is the number of failing objects that the viewer may
    see.
    """

    name: str
    url: str
    manage_url: str
    alias: str
    creator: str
    state: str
    severity: str
    failing: int
    fullest: QuotaUsage | None


def _overview(seen: VisibleWorkspace) -> Mapping[str, Any]:
    shows_quota = may_see_quota(seen.access, seen.name)
    manager = seen.workspace.manager
    may_list = seen.rights.is_allowed("list", MEMBERS)
    return {
        **_projects(seen),
        **_object(seen),
        "shows_quota": shows_quota,
        "uses": workspace_usage(seen.name) if shows_quota else [],
        "attention": _attention(seen),
        "manager": escape_invisible(manager),
        "description": escape_invisible(seen.workspace.description),
        "member_count": len(members(seen.name, manager)) if may_list else None,
        "isolated": seen.workspace.isolated,
        "members_url": seen.url("workspace_members"),
        "quota_url": seen.url("workspace_quota"),
    }


def _object(seen: VisibleWorkspace) -> Mapping[str, Any]:
    """Return the page head of the WorkspaceTemplate or, if the viewer may not see it, of the
    Workspace.
    """
    key = Key("", seen.name)
    heads = (object_head(seen.access, gvr, key) for gvr in (WORKSPACE_TEMPLATES, WORKSPACES))
    return {"object": next(filter(None, heads), None)}


@page(
    "GET",
    follows=live_page(
        _overview,
        *(WORKSPACE_QUOTAS, WORKSPACE_TEMPLATES),
        in_projects=dependent_types(in_projects=True),
    ),
    menu=MenuEntry(("workspace",), *OVERVIEW),
)
async def overview(request: ConsoleRequest, workspace: str) -> HttpResponse:
    try:
        opened = await open_workspace(request, workspace)
    except (Denied, Http404):
        # The template's page exists if the viewer may see the template.
        head = object_head(access_of(request), WORKSPACE_TEMPLATES, Key("", workspace))
        if head is None:
            raise
        return HttpResponseRedirect(head.details_url)
    await _bring_up(opened)
    return await render_live_page(
        opened, "workspace", "workspaces/_overview.html", _overview(opened)
    )


def _projects(seen: VisibleWorkspace) -> Mapping[str, Any]:
    may_create = seen.rights.is_allowed("create", PROJECTS)
    lines = _lines(seen)
    return {
        "lines": lines,
        "new_url": seen.url("workspace_project_new") if may_create else "",
        "contacts": [] if lines else _contacts(seen),
        "sees_all": _sees_all_projects(seen),
    }


def _sees_all_projects(seen: VisibleWorkspace) -> bool:
    """Return True if the viewer may see every project of the workspace, including future ones."""
    return seen.access.can("get", PROJECTS) or seen.rights.is_allowed("get", PROJECTS)


def _contacts(seen: VisibleWorkspace) -> list[str]:
    """Return the users who can add the viewer to a project: the workspace's manager and, if the
    viewer may list members, the members with the administrator role.
    """
    manager = seen.workspace.manager
    found = dict.fromkeys([manager] if manager else ())
    if seen.rights.is_allowed("list", MEMBERS):
        role = workspace_role_name(seen.name, ADMIN)
        found |= dict.fromkeys(
            member.name for member in members(seen.name, manager) if role in member.roles
        )
    return [escape_invisible(name) for name in list(found)[:MOST_CONTACTS]]


@page(
    "GET",
    follows=live_page(_projects, RESOURCE_QUOTAS, in_projects=checked_types(in_projects=True)),
    menu=PROJECTS_ENTRY,
)
async def projects(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    await _bring_up(opened)
    return await render_live_page(
        opened, "workspace_projects", "workspaces/_projects.html", _projects(opened)
    )


def _lines(seen: VisibleWorkspace) -> list[ProjectRow]:
    """Return the rows, projects with problems first."""
    failing = level_problems(seen.access).failing
    lines = [
        _line(seen, project, failing["project", project.name])
        for project in projects_of(seen.name)
        if seen.access.can("get", PROJECTS, name=project.name)
    ]
    return sorted(lines, key=lambda line: (-line.failing, line.name))


def _line(opened: VisibleWorkspace, project: Namespace, failing: int) -> ProjectRow:
    uses = _share(opened, project.name)
    state = _("Preparing") if project.preparing else translate(project.status.word)
    return ProjectRow(
        escape_invisible(project.name),
        reverse("project_overview", args=(HOST, project.name)),
        opened.url("workspace_project", project.name),
        escape_invisible(project.alias),
        escape_invisible(project.creator),
        str(state),
        "progress" if project.preparing else project.status.severity.value,
        failing,
        max(uses, key=lambda use: use.share, default=None),
    )


def _share(opened: VisibleWorkspace, project: str) -> list[QuotaUsage]:
    """Return the usage of the project's quota share if the viewer may read it."""
    may_read = opened.access.can("list", RESOURCE_QUOTAS, namespace=project)
    return project_usage(project, SHARE) if may_read else []


async def _bring_up(opened: VisibleWorkspace) -> None:
    """Load the objects of the workspace's projects without blocking other requests."""
    names, types = _names(opened), _checked_types(opened)
    if names:
        await update_problem_indexes(await load_page_data(opened.access, types, namespaces=names))
        await update_counts(opened.access.cluster)


def _attention(opened: VisibleWorkspace) -> Attention | None:
    """Return the problems in the workspace's projects, or None if the viewer may not see any of
    their objects.
    """
    names = _names(opened)
    sight = (
        current_page_data(opened.access, _checked_types(opened), namespaces=names)
        if names
        else None
    )
    return attention(sight) if sight is not None and not sight.nothing_visible else None


def _checked_types(opened: VisibleWorkspace) -> list[GVR]:
    return [*checked_types(in_projects=True), *cached_types(opened.access.cluster)]


def _names(opened: VisibleWorkspace) -> tuple[str, ...]:
    return tuple(project.name for project in projects_of(opened.name))


def _quota(seen: VisibleWorkspace) -> Mapping[str, Any]:
    """Return the page context. Raise `Denied`."""
    if not may_see_quota(seen.access, seen.name):
        raise Denied("get", WORKSPACE_QUOTAS)
    may_edit = seen.access.can("update", WORKSPACE_QUOTAS, name=seen.name)
    return {
        "uses": workspace_usage(seen.name),
        "shares": [
            (escape_invisible(project.name), _share(seen, project.name))
            for project in projects_of(seen.name)
            if seen.access.can("get", PROJECTS, name=project.name)
        ],
        "edit_url": f"{seen.url('workspace_quota')}?edit" if may_edit else "",
    }


_QUOTA = Live("workspaces/_quota.html", _quota, (RESOURCE_QUOTAS, WORKSPACE_QUOTAS))


@form_view(
    "workspace_quota",
    "update",
    WORKSPACE_QUOTAS,
    menu=MenuEntry(("workspace",), 50, gettext_lazy("Quota"), "scale"),
    live=_QUOTA,
)
def quota(opened: WorkspacePage) -> FormPage:
    """Edit the quota of the workspace."""
    entry = workspace_quota(opened.name)
    form = QuotaForm(entry.projection.hard if entry else {}, posted(opened.request))
    return FormPage(
        form,
        lambda _given, seen: settings.set_quota(opened.actor, form.amounts, seen),
        title=_("Quota of workspace %(name)s"),
        button=_("Save quota"),
        done=_("Quota saved."),
        name=opened.name,
        options={
            "about": _("Maximum for all projects combined. Leave empty for no limit."),
            "version": entry.resource_version if entry else "",
        },
    )
