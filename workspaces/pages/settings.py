"""Page for the settings of a workspace: alias, description, manager, and network isolation."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import WORKSPACE_TEMPLATES, Key
from console.ui.core.clusters import HOST
from console.ui.core.kind import segment_of
from console.ui.core.links import action_url
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from console.views.page import page, success_redirect
from workspaces.pages.base import (
    VisibleWorkspace,
    complete,
    form_page,
    live_page,
    open_workspace,
    render_live_page,
)
from workspaces.pages.forms import SettingsForm
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


@page(
    "GET",
    "POST",
    follows=live_page(_settings, WORKSPACE_TEMPLATES),
    menu=MenuEntry(("workspace",), 60, gettext_lazy("Settings"), "settings"),
)
async def edit(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    if "edit" not in request.GET and request.method != "POST":
        values = _settings(opened)
        return await render_live_page(
            opened, "workspace_settings", "workspaces/_settings.html", values
        )
    opened.rights.require("update", WORKSPACE)
    entry = settings.template_of(opened.name)
    if entry is None:
        raise Http404
    found = entry.projection
    initial = {
        "alias": found.alias,
        "description": found.description,
        "manager": found.manager,
        "isolated": found.isolated,
    }
    form = SettingsForm(posted(request), initial=initial)
    if form.is_valid():
        version = request.POST.get("version", "")
        if await complete(form, settings.edit(opened.actor, version, **form.cleaned_data)):
            return success_redirect(request, _("Settings saved."), opened.url("workspace_settings"))
    return await form_page(
        opened,
        "workspace_settings",
        form,
        title=_("Settings of workspace %(name)s") % {"name": escape_invisible(opened.name)},
        button=_("Save settings"),
        version=entry.resource_version,
    )
