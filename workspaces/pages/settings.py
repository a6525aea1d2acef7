"""What a workspace is called, who manages it, whether its network is isolated, and its end."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.forms import Field, Form
from console.kube.gvr import WORKSPACE_TEMPLATES
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.ui.text import visible
from console.views.page import page
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
    form = Form(
        [
            Field("alias", _("Alias"), value=found.alias),
            Field("description", _("Description"), value=found.description),
            Field("manager", _("Manager"), value=found.manager, required=True),
            Field(
                "isolated",
                _("Take traffic from this workspace alone"),
                "checkbox",
                "on" if found.isolated else "",
            ),
        ]
    )
    version = entry.resource_version
    if request.method == "POST":
        form.read(request)
        editing = settings.edit(
            opened.doer,
            request.POST.get("version", ""),
            alias=form["alias"],
            description=form["description"],
            manager=form["manager"],
            isolated=bool(form["isolated"]),
        )
        if await done(form, editing):
            messages.success(request, _("Saved the settings."))
            return HttpResponseRedirect(here)
    return await form_page(
        opened,
        "workspace_settings",
        form,
        title=_("Settings of workspace %(name)s") % {"name": visible(opened.name)},
        button=_("Save settings"),
        back=here,
        version=version,
    )


@page("GET", "POST")
async def delete(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    if not opened.access.can("delete", WORKSPACE_TEMPLATES, name=opened.name):
        raise Denied("delete", WORKSPACE_TEMPLATES)
    entry = settings.template_of(opened.name)
    if entry is None:
        raise Http404
    form = Form(
        [
            Field("keep", _("Keep its projects"), "checkbox"),
            Field("typed", _("Type the name of the workspace to delete it"), required=True),
        ]
    )
    if request.method == "POST":
        form.read(request)
        if form["typed"] != opened.name:
            form.add_error("typed", _("This is not the name of the workspace."))
        if form.is_right:
            ending = settings.delete(
                opened.doer, request.POST.get("version", ""), keep=bool(form["keep"])
            )
            if await done(form, ending):
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
