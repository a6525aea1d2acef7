"""Addresses of the overviews. Included at the root, before the generic pages."""

from django.urls import path

from console.pages.overview import cluster_overview, dashboard, home, project_overview

urlpatterns = [
    path("", home),
    path("dashboard", dashboard, name="dashboard"),
    path("clusters/<str:cluster>", cluster_overview, name="cluster_overview"),
    path(
        "clusters/<str:cluster>/projects/<str:namespace>",
        project_overview,
        name="project_overview",
    ),
]
