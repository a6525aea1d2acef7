"""What a workspace is called, who manages it, whether its network is isolated, and its end."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from console.kube.gvr import WORKSPACE_TEMPLATES
from console.ui.decisions import Denied
from console.ui.forms import posted
from console.ui.http import ConsoleRequest
from console.ui.text import visible
from console.views.page import page
from workspaces.pages.forms import EndForm, SettingsForm
from workspaces.pages.frame import Seen, done, form_page, live, open_workspace, show
from workspaces.quotas import projects_of
from workspaces.rights import ITSELF
from workspaces.services import settings


def _settings(seen: Seen) -> Mapping[str, Any]:
    found, here = seen.workspace, seen.url("workspace_settings")
    there = settings.template_of(seen.name) is not None
    may_edit = there and seen.rights.may("update", ITSELF)
    may_delete = there and seen.access.can("delete", WORKSPACE_TEMPLATES, name=seen.name)
    return {
        "alias": visible(found.alias),
        "description": visible(found.description),
        "manager": visible(found.manager),
        "isolated": found.isolated,
        "edit_url": f"{here}?edit" if may_edit else "",
        "delete_url": seen.url("workspace_delete") if may_delete else "",
    }


@live(_settings, WORKSPACE_TEMPLATES)
@page("GET", "POST")
async def edit(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    if "edit" not in request.GET and request.method != "POST":
        values = _settings(opened)
        return await show(opened, "workspace_settings", "workspaces/_settings.html", values)
    opened.rights.require("update", ITSELF)
    here = opened.url("workspace_settings")
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
        if await done(form, settings.edit(opened.doer, version, **form.cleaned_data)):
            messages.success(request, _("Saved the settings."))
            return HttpResponseRedirect(here)
    return await form_page(
        opened,
        "workspace_settings",
        form,
        title=_("Settings of workspace %(name)s") % {"name": visible(opened.name)},
        button=_("Save settings"),
        back=here,
        version=entry.resource_version,
    )


@page("GET", "POST")
async def delete(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    if not opened.access.can("delete", WORKSPACE_TEMPLATES, name=opened.name):
        raise Denied("delete", WORKSPACE_TEMPLATES)
    entry = settings.template_of(opened.name)
    if entry is None:
        raise Http404
    form = EndForm(opened.name, posted(request))
    if form.is_valid():
        version, keep = request.POST.get("version", ""), form.cleaned_data["keep"]
        if await done(form, settings.delete(opened.doer, version, keep=keep)):
            text = _("Workspace %(name)s is being deleted.") % {"name": opened.name}
            messages.success(request, text)
            return HttpResponseRedirect(reverse("workspace_list"))
    names = ", ".join(visible(project.name) for project in projects_of(opened.name))
    return await form_page(
        opened,
        "workspace_settings",
        form,
        title=_("Delete workspace %(name)s") % {"name": visible(opened.name)},
        button=_("Delete workspace"),
        back=opened.url("workspace_settings"),
        about=_("Its members, roles and departments go with it. Projects: %(names)s")
        % {"names": names or _("none")},
        version=entry.projection.uid,
        danger=True,
    )
