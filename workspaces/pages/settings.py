"""Page for the settings of a workspace: alias, description, manager, and network isolation."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_TEMPLATES, Key
from console.ui.core.clusters import HOST
from console.ui.core.kind import segment_of
from console.ui.core.links import action_url
from console.ui.core.menu import MenuEntry
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from workspaces.pages.base import VisibleWorkspace, WorkspacePage
from workspaces.pages.forms import SettingsForm
from workspaces.pages.views import FormPage, Live, form_view
from workspaces.rights import WORKSPACE
from workspaces.services import settings


def _settings(seen: VisibleWorkspace) -> Mapping[str, Any]:
    found, here = seen.workspace, seen.url("workspace_settings")
    there = settings.template_of(seen.name) is not None
    may_edit = there and seen.rights.is_allowed("update", WORKSPACE)
    segment = segment_of(WORKSPACE_TEMPLATES)
    may_delete = there and seen.access.can("delete", WORKSPACE_TEMPLATES, name=seen.name)
    return {
        "alias": escape_invisible(found.alias),
        "description": escape_invisible(found.description),
        "manager": escape_invisible(found.manager),
        "isolated": found.isolated,
        "edit_url": f"{here}?edit" if may_edit else "",
        "delete_url": action_url("delete", HOST, segment, Key("", seen.name)) if may_delete else "",
    }


_SETTINGS = Live("workspaces/_settings.html", _settings, (WORKSPACE_TEMPLATES,))


@form_view(
    "workspace_settings",
    "update",
    WORKSPACE,
    menu=MenuEntry(("workspace",), 60, gettext_lazy("Settings"), "settings"),
    live=_SETTINGS,
)
def edit(opened: WorkspacePage) -> FormPage:
    entry = settings.template_of(opened.name)
    if entry is None:
        raise Http404
    fields = ("alias", "description", "manager", "isolated")
    initial = {name: getattr(entry.projection, name) for name in fields}
    return FormPage(
        SettingsForm(posted(opened.request), initial=initial),
        lambda given, seen: settings.edit(opened.actor, seen, **given),
        title=_("Settings of workspace %(name)s"),
        button=_("Save settings"),
        done=_("Settings saved."),
        name=opened.name,
        options={"version": entry.resource_version},
    )
