"""Addresses of the generic pages. Included at the root."""

from django.urls import path

from console.views.bulk import bulk_delete
from console.views.cache import cache_page
from console.views.delete import delete_page
from console.views.detail import detail_page
from console.views.health import livez, readyz
from console.views.lists import list_page
from console.views.metrics import metrics
from console.views.preferences import set_language, set_theme
from console.views.reveal import reveal
from console.views.saved import change_view, saved_views

urlpatterns = [
    path("clusters/<cluster:cluster>/cache", cache_page, name="cache"),
    path("clusters/<cluster:cluster>/<str:resource>", list_page, name="list"),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>/<str:resource>/<str:name>/delete",
        delete_page,
        name="delete",
    ),
    path(
        "clusters/<cluster:cluster>/<str:resource>/<str:name>/delete",
        delete_page,
        {"namespace": ""},
        name="delete",
    ),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>/<str:resource>/<str:name>/reveal",
        reveal,
        name="reveal",
    ),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>/<str:resource>/<str:name>",
        detail_page,
        name="detail",
    ),
    path(
        "clusters/<cluster:cluster>/projects/<str:namespace>/<str:resource>/<str:name>/<str:tab>",
        detail_page,
        name="detail",
    ),
    path(
        "clusters/<cluster:cluster>/<str:resource>/<str:name>",
        detail_page,
        {"namespace": ""},
        name="detail",
    ),
    path(
        "clusters/<cluster:cluster>/<str:resource>/<str:name>/<str:tab>",
        detail_page,
        {"namespace": ""},
        name="detail",
    ),
    path("bulk/<cluster:cluster>/<str:resource>/delete", bulk_delete, name="bulk_delete"),
    path("views", saved_views, name="views"),
    path("views/<int:number>", change_view, name="view"),
    path("settings/theme", set_theme, name="set_theme"),
    path("i18n/language", set_language, name="set_language"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
