"""URL patterns of the console, most frequently requested first, because Django tries them in order."""

from django.urls import include, path

from console.draining.progress import drain_progress
from console.files.views import files_page
from console.gateway.kapis.reference import reference_page
from console.logs.views import log_page
from console.pages.kubesphere.urls import IN_CLUSTERS
from console.terminals.views import terminal_page
from console.views.actions import action_page, redirect_old_url
from console.views.audit.events import receive_events
from console.views.bulk import bulk_page
from console.views.cache import cache_page
from console.views.container_startup import starting_page
from console.views.creating import create_page
from console.views.detail import detail_page
from console.views.edit import draft_page, edit_page
from console.views.health import livez, metrics, readyz
from console.views.imports import import_draft, import_page
from console.views.lists import list_page
from console.views.openapi import openapi_schema
from console.views.preferences import set_language, set_theme
from console.views.proposals import proposal_page
from console.views.resources import resources_page
from console.views.saved import change_view, saved_views
from console.views.wizards import edit_form_page, new_page, wizard_page

#: An object in a project, and a cluster-scoped object.
_INSIDE = "clusters/<cluster:cluster>/projects/<str:namespace>/<str:resource>/<str:name>"
_OUTSIDE = "clusters/<cluster:cluster>/<str:resource>/<str:name>"

#: Pages of objects and of the console itself.
PAGES = [
    path("clusters/<cluster:cluster>/cache", cache_page, name="cache"),
    path("clusters/<cluster:cluster>/resources", resources_page, name="resources"),
    path("clusters/<cluster:cluster>/import", import_page, name="import"),
    path("clusters/<cluster:cluster>/import/draft", import_draft, name="import_draft"),
    path("clusters/<cluster:cluster>/new", create_page, name="create"),
    path("clusters/<cluster:cluster>/<str:resource>", list_page, name="list"),
    path("clusters/<cluster:cluster>/new/<str:resource>", new_page, name="new"),
    path(
        "clusters/<cluster:cluster>/new/<str:resource>/<str:draft>/<str:step>",
        wizard_page,
        name="wizard",
    ),
    path(
        "clusters/<cluster:cluster>/openapi/<str:group>/<str:version>/<str:kind>",
        openapi_schema,
        name="openapi",
    ),
    path(f"{_INSIDE}/actions/<str:action>", action_page, name="action"),
    path(f"{_OUTSIDE}/actions/<str:action>", action_page, {"namespace": ""}, name="action"),
    path(f"{_OUTSIDE}/actions/drain/progress", drain_progress, name="drain_progress"),
    path(f"{_INSIDE}/delete", redirect_old_url, {"action": "delete"}),
    path(f"{_OUTSIDE}/delete", redirect_old_url, {"action": "delete"}),
    path(f"{_OUTSIDE}/account", detail_page, {"namespace": ""}),
    path(f"{_INSIDE}/reveal", redirect_old_url, {"action": "reveal"}),
    path(f"{_INSIDE}/edit", edit_page, name="edit"),
    path(f"{_OUTSIDE}/edit", edit_page, {"namespace": ""}, name="edit"),
    path(f"{_INSIDE}/edit/form", edit_form_page, name="edit_form"),
    path(f"{_OUTSIDE}/edit/form", edit_form_page, {"namespace": ""}, name="edit_form"),
    path(f"{_INSIDE}/edit/form/<str:step>", edit_form_page, name="edit_form"),
    path(f"{_OUTSIDE}/edit/form/<str:step>", edit_form_page, {"namespace": ""}, name="edit_form"),
    path(f"{_INSIDE}/edit/draft", draft_page, name="draft"),
    path(f"{_OUTSIDE}/edit/draft", draft_page, {"namespace": ""}, name="draft"),
    path(f"{_INSIDE}/edit/proposal", proposal_page, name="proposal"),
    path(f"{_OUTSIDE}/edit/proposal", proposal_page, {"namespace": ""}, name="proposal"),
    path(f"{_INSIDE}/log", log_page, name="log"),
    path("clusters/<cluster:cluster>/projects/<str:namespace>/log", log_page, name="log_of_labels"),
    path(f"{_INSIDE}/files", files_page, name="files"),
    path(f"{_INSIDE}/terminal", terminal_page, name="terminal"),
    path(f"{_INSIDE}/terminal/starting", starting_page, name="starting"),
    path(_INSIDE, detail_page, name="detail"),
    path(f"{_INSIDE}/<str:tab>", detail_page, name="detail"),
    path(_OUTSIDE, detail_page, {"namespace": ""}, name="detail"),
    path(f"{_OUTSIDE}/<str:tab>", detail_page, {"namespace": ""}, name="detail"),
    path("api-reference", reference_page, name="api_reference"),
    path("bulk/<cluster:cluster>/<str:resource>/<str:action>", bulk_page, name="bulk"),
    path("views", saved_views, name="views"),
    path("views/<int:number>", change_view, name="view"),
    path("settings/theme", set_theme, name="set_theme"),
    path("i18n/language", set_language, name="set_language"),
    path("audit/events/<str:cluster_name>", receive_events, name="audit_events"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]

urlpatterns = [
    path("", include(IN_CLUSTERS)),
    path("", include("console.pages.urls")),
    *PAGES,
    path("", include("accounts.urls")),
    path("", include("access.urls")),
    path("", include("workspaces.urls")),
    path("", include("console.pages.kubesphere.urls")),
]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
