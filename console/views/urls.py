"""Addresses of the generic pages. Included at the root."""

from django.urls import path

from console.views.cache import cache_page
from console.views.delete import delete_page
from console.views.health import livez, readyz
from console.views.lists import list_page
from console.views.metrics import metrics
from console.views.preferences import set_language, set_theme

urlpatterns = [
    path("clusters/<str:cluster>/cache", cache_page, name="cache"),
    path("clusters/<str:cluster>/<str:resource>", list_page, name="list"),
    path(
        "clusters/<str:cluster>/projects/<str:namespace>/<str:resource>/<str:name>/delete",
        delete_page,
        name="delete",
    ),
    path(
        "clusters/<str:cluster>/<str:resource>/<str:name>/delete",
        delete_page,
        {"namespace": ""},
        name="delete",
    ),
    path("settings/theme", set_theme, name="set_theme"),
    path("i18n/language", set_language, name="set_language"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
