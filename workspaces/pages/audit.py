"""Audit trail of a workspace, and the page of one record, which may belong to a workspace."""

from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from console.audit.models import AuditRecord
from console.kube.gvr import WORKSPACES, Key
from console.kube.host_runtime import get_runtime
from console.ui.core.access import EVERYTHING, Access, may_list_everything
from console.ui.core.clusters import clusters
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest, is_fragment, vary_on_htmx
from console.ui.navigation.projects import host_access
from console.views.audit.export import FORMATS
from console.views.audit.record import record_row
from console.views.audit.request import AuditRequest
from console.views.audit.scope import (
    AuditScope,
    access_in,
    check_records,
    may_see_records,
    platform_scope,
    project_scope,
    since,
)
from console.views.audit.trail import ICON, LABEL, TITLE, trail_page
from console.views.back_link import Crumb
from console.views.guard import access_of
from console.views.page import page
from workspaces.pages.base import open_workspace
from workspaces.rights import workspace_rights


def _may_see_workspace_records(access: Access, workspace: str) -> bool:
    """Return True if the viewer's roles in the workspace, or platform roles, include every type."""
    if may_list_everything(access):
        return True
    return workspace_rights(access, workspace).is_allowed("list", EVERYTHING)


@page(
    "GET",
    formats=FORMATS,
    menu=MenuEntry(("workspace",), 55, LABEL, ICON, may_here=_may_see_workspace_records),
)
async def workspace_audit(request: ConsoleRequest, workspace: str) -> HttpResponseBase:
    """GET /workspaces/{workspace}/audit: the records of the workspace and its projects."""
    opened = await open_workspace(request, workspace)
    scope = _workspace_scope(opened.access, workspace)
    crumbs = [Crumb(workspace, opened.url("workspace"), up=True)]
    return await trail_page(request, scope, title=TITLE, crumbs=crumbs)


def _workspace_scope(access: Access, workspace: str) -> AuditScope:
    """Return the scope of a workspace. Raise `Denied`."""
    if not _may_see_workspace_records(access, workspace):
        raise Denied("list", EVERYTHING)
    url = reverse("workspace_audit", args=(workspace,))
    own = Q()
    if not may_list_everything(access):
        own = since(get_runtime().informer(WORKSPACES).store.get(Key("", workspace)))
    return AuditScope(Q(workspace=workspace) & own, url, hidden=frozenset({"workspace"}))


@page("GET")
async def record_page(request: ConsoleRequest, audit_id: str) -> HttpResponse:
    """GET /audit/records/{id}: one record with its change. As a fragment: only the change."""
    access = access_of(request)
    record = await AuditRecord.objects.filter(audit_id=audit_id).afirst()
    scope = _scope_of(access, record) if record is not None else None
    if scope is not None:
        record = await AuditRecord.objects.filter(scope.condition, audit_id=audit_id).afirst()
    if record is None or scope is None:
        # Records that the viewer may not see look like records that don't exist.
        raise Http404
    asked = AuditRequest.parse(scope, request.GET)
    row = await record_row(record, host_access(access), asked, whole=True)
    if is_fragment(request):
        response = HttpResponse(render_to_string("ui/audit/_body.html", {"row": row}))
    else:
        crumbs = [Crumb(TITLE, scope.url, up=True)]
        context = {"row": row, "crumbs": crumbs, "title": _("Audit record")}
        response = render(request, "console/audit_record.html", context)
    vary_on_htmx(response)
    return response


def _scope_of(access: Access, record: AuditRecord) -> AuditScope | None:
    """Return the widest scope that contains the record and that the viewer may see, or None."""
    cluster = clusters.get(record.cluster)
    there = access_in(access, cluster) if cluster is not None else None
    try:
        scope = platform_scope(access)
        if there is not None:
            check_records(there)
        return scope
    except Denied:
        pass
    if record.workspace and _may_see_workspace_records(host_access(access), record.workspace):
        return _workspace_scope(host_access(access), record.workspace)
    if there is None or not record.namespace or not may_see_records(there, record.namespace):
        return None
    return project_scope(there, record.namespace)
