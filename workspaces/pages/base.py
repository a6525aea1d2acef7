"""Shared code of the workspace pages: access checks, page head, tabs, and error handling."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.users.directory import UsersNotCached
from console.kube.errors import ApiError
from console.kube.factory import UnknownKind
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
    Key,
)
from console.kube.host_runtime import get_runtime
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.menu import menu
from console.ui.core.permissions import Denied, Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import form_status, wants_status
from console.ui.core.text import escape_invisible
from console.ui.diagnosis.attention import cached_types
from console.ui.fragments.cached_fragments import render_fragment
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import LivePage, etag_of_page
from console.ui.navigation.projects import MANAGED, may_see_workspace
from console.views import problems
from console.views.back_link import Crumb
from console.views.guard import access_of
from workspaces.pages.forms import WorkspaceForm
from workspaces.rights import MEMBERS, WorkspaceRights, workspace_rights
from workspaces.services.actor import Actor, ConcurrentChange

#: Function that returns the context of a workspace page. Called with the workspace and the URL
#: arguments.
ContextCallback = Callable[..., Mapping[str, Any]]

#: Resource types that every page depends on: the workspace and the viewer's permissions in it.
_EVERYWHERE = (WORKSPACES, WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS, NAMESPACES)
#: Platform roles, which apply in every workspace.
_PLATFORM_ROLES = (GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS)

#: Resource types that the pages read (see `live_page`), and seconds that the first request waits for
#: a list that is not loaded.
WATCHED_TYPES = set(_EVERYWHERE)
FIRST_LIST_WAIT = 3.0


@dataclass(frozen=True, slots=True)
class VisibleWorkspace:
    """A workspace that exists and that the viewer may see."""

    access: Access
    workspace: Workspace

    @property
    def name(self) -> str:
        return self.workspace.name

    @property
    def rights(self) -> WorkspaceRights:
        return workspace_rights(self.access, self.name)

    def url(self, page: str, *more: str) -> str:
        return reverse(page, args=(self.name, *more))


@dataclass(frozen=True, slots=True)
class WorkspacePage(VisibleWorkspace):
    """A workspace page that handles a request."""

    request: ConsoleRequest

    @property
    def actor(self) -> Actor:
        return Actor(self.request, self.access, self.name)


async def watch_types() -> None:
    """Start to watch the resource types of the pages, and wait for the first lists. Raise
    `UsersNotCached` if the cluster does not have these types.
    """
    runtime = get_runtime()
    try:
        late = [gvr for gvr in WATCHED_TYPES if not runtime.informer(gvr).freshness.synced]
    except UnknownKind as error:
        raise UsersNotCached from error
    if late:
        waits = (runtime.wait_synced(gvr, timeout=FIRST_LIST_WAIT) for gvr in late)
        await asyncio.gather(*waits)


def live_page(values: ContextCallback, *types: GVR, in_projects: Iterable[GVR] = ()) -> LivePage:
    """Return the live page settings of a page that shows the result of `values`. `types` lists its
    resource types in addition to the workspace, its roles and its projects, and `in_projects` the
    types that the view loads itself for the workspace's projects. If there are any, the page also
    depends on the cached types of custom resources.
    """
    WATCHED_TYPES.update(types)
    every = (*_EVERYWHERE, *_PLATFORM_ROLES, *types, *in_projects)

    def check(access: Access, params: QueryDict, workspace: str, **_arguments: str) -> None:
        _check_sight(access, workspace)

    def look(access: Access, params: QueryDict, workspace: str, **arguments: str) -> object:
        seen = VisibleWorkspace(access, _find(access, workspace))
        return _content(seen, values(seen, **arguments))

    def followed(_params: QueryDict, **_arguments: str) -> tuple[GVR, ...]:
        return (*every, *cached_types(clusters.host)) if in_projects else every

    return LivePage(followed, check, look)


async def open_workspace(request: ConsoleRequest, name: str) -> WorkspacePage:
    """Return the workspace. Raise `Denied` without revealing if the workspace exists, `Http404`, or
    `UsersNotCached`.
    """
    await watch_types()
    access = access_of(request)
    return WorkspacePage(access, _find(access, name), request)


def _find(access: Access, name: str) -> Workspace:
    _check_sight(access, name)
    entry: Entry[Workspace] | None
    entry = get_runtime().informer(WORKSPACES).store.get(Key("", name))
    if entry is None:
        raise Http404
    return entry.projection


def _check_sight(access: Access, name: str) -> None:
    if not may_see_workspace(access, name):
        raise Denied("get", WORKSPACES)


async def render_live_page(
    opened: WorkspacePage,
    current: str,
    template: str,
    values: Mapping[str, Any],
    *,
    frame: str = "workspaces/live.html",
) -> HttpResponse:
    """Render a page that is refreshed when the `values` of `live_page` change. `frame` is the
    surrounding template.
    """
    request = opened.request
    etag = etag_of_page(_content(opened, values))
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    body = render_fragment(template, {**values, "workspace": escape_invisible(opened.name)})
    await update_counts(request.cluster)
    context = {**page_head(opened, current), "body": body.html(), "etag": etag}
    response = render(request, frame, context)
    response["ETag"] = etag
    return response


def _content(seen: VisibleWorkspace, values: Mapping[str, Any]) -> object:
    return {**values}, seen.workspace.alias, seen.workspace.deleted


def page_head(opened: WorkspacePage, current: str, *, inside: bool = False) -> dict[str, Any]:
    """Return the context of the page frame. `inside` is True for a form that belongs to the page
    `current`.
    """
    found, title = opened.workspace, menu().by_name[current].label
    match = opened.request.resolver_match
    namespace = match.kwargs.get("namespace", "") if match is not None else ""
    crumbs = [] if namespace else [Crumb(_("Workspaces"), reverse("workspace_list"))]
    if namespace or inside or current != "workspace":
        crumbs.append(Crumb(found.name, opened.url("workspace")))
    if namespace or inside:
        crumbs.append(Crumb(title, opened.url(current)))
    if namespace:
        title = MANAGED
    if namespace and inside:
        crumbs.append(Crumb(namespace, opened.url("workspace_project", namespace)))
    crumbs[-1] = replace(crumbs[-1], up=True)
    return {
        "crumbs": crumbs,
        "workspace": escape_invisible(found.name),
        "alias": escape_invisible(found.alias),
        "current": current,
        "page_title": title,
        "section": "" if current == "workspace" else title,
        "ending": found.deleted is not None,
    }


async def form_page(
    opened: WorkspacePage,
    current: str,
    form: WorkspaceForm,
    *,
    title: str,
    button: str,
    back: str = "",
    about: str = "",
    version: str = "",
    danger: bool = False,
    template: str = "workspaces/form.html",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> HttpResponse:
    """Render a form page.

    - `back`: URL of the cancel button. Default: the page of the current tab
    - `about`: text above the form
    - `version`: current version of the edited object, sent back with the form
    - `template`, `more`: a template that extends the default one, and its additional context

    If another user saved first, the input is kept and the form is rendered with the current
    version, so that saving again overwrites the other changes.
    """
    if form.errors and wants_status(opened.request):
        return form_status(form, form.status)
    if version and form.is_bound:
        if form.status == 409 and not danger:
            form.show_conflict()
        else:
            version = opened.request.POST.get("version", "")
    if opened.rights.is_allowed("create", MEMBERS):
        form.suggest_users(opened.url("workspace_users"))
    context = {
        **page_head(opened, current, inside=True),
        "form": form,
        "title": title,
        "button": button,
        "back": back or opened.url(current),
        "about": about,
        "version": version,
        "danger": danger,
        **more,
    }
    return render(opened.request, template, context, status=form.page_status)


async def complete(form: WorkspaceForm, doing: Coroutine[Any, Any, Any]) -> bool:
    """Await the operation and return True on success. Otherwise, add the error to the form. Raise
    `Denied` and `AuditUnavailable`.
    """
    try:
        await doing
    except ConcurrentChange as overtaken:
        form.add_error(None, str(overtaken))
        form.status = 409
    except Refused as refused:
        form.add_error(None, str(refused))
    except ApiError as error:
        problems.add_form_errors(error, form)
    return form.is_valid()
