"""URL patterns of pages that show several kinds. Included at the root, before the generic resource
pages.
"""

from django.urls import path

from console.pages.audit import platform_audit, project_audit
from console.pages.overview import cluster_list, cluster_overview, dashboard, home, project_overview
from console.pages.palette import palette
from console.pages.search import search_page

urlpatterns = [
    path("", home, name="home"),
    path("dashboard", dashboard, name="dashboard"),
    path("clusters", cluster_list, name="clusters"),
    path("clusters/<cluster:cluster>", cluster_overview, name="cluster_overview"),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>",
        project_overview,
        name="project_overview",
    ),
    path(
        "workspaces/<str:workspace>/clusters/<cluster:cluster>/projects/<str:namespace>",
        project_overview,
        name="workspace_cluster_project",
    ),
    path("audit", platform_audit, name="audit"),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>/audit",
        project_audit,
        name="project_audit",
    ),
    path("search", search_page, name="search"),
    path("palette", palette, name="palette"),
]
