"""The default requests and limits of a project's containers."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from console.kube.gvr import LIMIT_RANGES
from console.ui.decisions import Denied
from console.ui.forms import posted
from console.ui.http import ConsoleRequest
from console.ui.text import visible
from console.views.page import finished, page
from workspaces.pages.forms import LimitsForm
from workspaces.pages.frame import done, form_page, open_workspace
from workspaces.pages.projects import open_project
from workspaces.services.limits import defaults_of, limits_entry, set_defaults


@page("GET", "POST")
async def limits(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    """As the user."""
    opened = await open_workspace(request, workspace)
    name = open_project(opened, namespace).name
    if not opened.access.can("update", LIMIT_RANGES, namespace=name):
        raise Denied("update", LIMIT_RANGES, name)
    entry = limits_entry(name)
    form = LimitsForm(defaults_of(entry), posted(request))
    if form.is_valid():
        seen = request.POST.get("version", "")
        if await done(form, set_defaults(opened.actor, name, form.amounts, seen)):
            text = _("Saved the default limits.")
            return finished(request, text, opened.url("workspace_project", name))
    return await form_page(
        opened,
        "workspace_projects",
        form,
        title=_("Default limits of project %(name)s") % {"name": visible(name)},
        button=_("Save default limits"),
        back=opened.url("workspace_project", name),
        about=_("For containers that say nothing themselves. Empty means no default."),
        version=entry.resource_version if entry is not None else "",
    )
