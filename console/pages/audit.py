"""Audit trail of the platform and of a project. `workspaces.pages.audit` has the other pages."""

from dataclasses import replace

from django.http import HttpResponseBase

from console.ui.core.clusters import Cluster
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.navigation.projects import host_access
from console.views.audit.export import FORMATS
from console.views.audit.scope import may_see_records, platform_scope, project_scope
from console.views.audit.trail import ICON, LABEL, TITLE, trail_page
from console.views.back_link import place_crumbs
from console.views.guard import access_of
from console.views.page import page


@page(
    "GET",
    formats=FORMATS,
    menu=MenuEntry(
        ("platform",), 70, LABEL, ICON, lambda access: may_see_records(host_access(access))
    ),
)
async def platform_audit(request: ConsoleRequest) -> HttpResponseBase:
    """GET /audit: all records of the clusters in which the viewer may list every type."""
    return await trail_page(request, platform_scope(access_of(request)), title=TITLE)


@page(
    "GET",
    formats=FORMATS,
    menu=MenuEntry(("project",), 135, LABEL, ICON, may_here=may_see_records),
)
async def project_audit(
    request: ConsoleRequest, cluster: Cluster, namespace: str
) -> HttpResponseBase:
    """GET /clusters/{cluster}/projects/{namespace}/audit"""
    access = access_of(request)
    scope, crumbs = project_scope(access, namespace), place_crumbs(access, "", namespace)
    crumbs = [*crumbs[:-1], *(replace(one, up=True) for one in crumbs[-1:])]
    return await trail_page(request, scope, title=TITLE, crumbs=crumbs)
