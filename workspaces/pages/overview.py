"""Overview, project list and quota page of a workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    GVR,
    PODS,
    RESOURCE_QUOTAS,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.host_runtime import get_runtime
from console.kube.projections.namespace import Namespace
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.menu import OVERVIEW, MenuEntry
from console.ui.core.page_data import current_page_data, load_page_data
from console.ui.core.permissions import Denied, readable
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate
from console.ui.details.detail import object_head
from console.ui.diagnosis.attention import (
    Attention,
    attention,
    checked_types,
    dependent_types,
    update_problem_indexes,
)
from console.ui.diagnosis.problems import problems_of
from console.ui.forms.forms import posted
from console.views.guard import access_of
from console.views.page import page
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


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A row in the list of projects. `failing` is the number of objects with problems that the
    viewer may see.
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
        url = _template_url(access_of(request), workspace)
        if not url:
            raise
        return HttpResponseRedirect(url)
    await _bring_up(opened, checked_types(in_projects=True))
    return await render_live_page(
        opened, "workspace", "workspaces/_overview.html", _overview(opened)
    )


def _template_url(access: Access, workspace: str) -> str:
    """Return the URL of the template's page if the viewer may see it, else "". Used if the
    Workspace does not exist or the viewer may not see it.
    """
    found = object_head(access, WORKSPACE_TEMPLATES, Key("", workspace))
    return found.details_url if found is not None else ""


def _projects(seen: VisibleWorkspace) -> Mapping[str, Any]:
    may_create = seen.rights.is_allowed("create", PROJECTS)
    return {
        "lines": _lines(seen),
        "new_url": seen.url("workspace_project_new") if may_create else "",
    }


@page(
    "GET", follows=live_page(_projects, RESOURCE_QUOTAS, in_projects=(PODS,)), menu=PROJECTS_ENTRY
)
async def projects(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    await _bring_up(opened, (PODS,))
    return await render_live_page(
        opened, "workspace_projects", "workspaces/_projects.html", _projects(opened)
    )


def _lines(seen: VisibleWorkspace) -> list[ProjectRow]:
    """Return the rows, projects with problems first."""
    failing = _failing(seen)
    lines = [
        _line(seen, project, failing.get(project.name, 0))
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


async def _bring_up(opened: VisibleWorkspace, types: Sequence[GVR]) -> None:
    """Load the objects of the workspace's projects without blocking other requests."""
    names = _names(opened)
    if names:
        await update_problem_indexes(await load_page_data(opened.access, types, namespaces=names))


def _failing(opened: VisibleWorkspace) -> dict[str, int]:
    kind = kinds.by_type(PODS)
    if kind is None:
        return {}
    try:
        allowed = readable(kind, opened.access)
    except Denied:
        return {}
    return dict(problems_of(kind, get_runtime().informer(PODS)).failing(allowed))


def _attention(opened: VisibleWorkspace) -> Attention | None:
    """Return the problems in the workspace's projects, or None if the viewer may not see any of
    their objects.
    """
    names = _names(opened)
    sight = (
        current_page_data(opened.access, checked_types(in_projects=True), namespaces=names)
        if names
        else None
    )
    return attention(sight) if sight is not None and not sight.nothing_visible else None


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
