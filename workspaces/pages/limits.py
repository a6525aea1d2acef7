"""The default requests and limits of a project's containers."""

from decimal import Decimal

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from accounts.forms import Field, Form
from console.kube.gvr import LIMIT_RANGES
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.ui.text import visible
from console.views.page import page
from workspaces.amounts import Amounts
from workspaces.pages.frame import done, form_page, open_workspace
from workspaces.pages.overview import read_amounts
from workspaces.pages.projects import open_project
from workspaces.services.limits import (
    LIMITS,
    REQUESTS,
    RESOURCES,
    defaults_of,
    limits_entry,
    set_defaults,
)


@page("GET", "POST")
async def limits(request: ConsoleRequest, workspace: str, namespace: str) -> HttpResponse:
    """As the user."""
    opened = await open_workspace(request, workspace)
    name = open_project(opened, namespace).name
    if not opened.access.can("update", LIMIT_RANGES, namespace=name):
        raise Denied("update", LIMIT_RANGES, name)
    entry = limits_entry(name)
    form = _form(defaults_of(entry))
    if request.method == "POST":
        wanted = _read(request, form)
        seen = request.POST.get("version", "")
        if form.is_right and await done(form, set_defaults(opened.doer, name, wanted, seen)):
            messages.success(request, _("Saved the default limits."))
            return HttpResponseRedirect(opened.url("workspace_project", name))
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


def _form(stored: dict[str, dict[str, str]]) -> Form:
    labels = {
        (REQUESTS, "cpu"): _("CPU request"),
        (LIMITS, "cpu"): _("CPU limit"),
        (REQUESTS, "memory"): _("Memory request"),
        (LIMITS, "memory"): _("Memory limit"),
    }
    return Form(
        [
            Field(f"{key}.{resource}", label, value=stored[key].get(resource, ""))
            for (key, resource), label in labels.items()
        ]
    )


def _read(request: ConsoleRequest, form: Form) -> dict[str, Amounts]:
    amounts = read_amounts(request, form)
    found: dict[str, Amounts] = {REQUESTS: {}, LIMITS: {}}
    for name, amount in amounts.items():
        key, _dot, resource = name.partition(".")
        found[key][resource] = amount
    for resource in RESOURCES:
        limit = found[LIMITS].get(resource)
        if limit is not None and found[REQUESTS].get(resource, Decimal(0)) > limit:
            form.add_error(f"{REQUESTS}.{resource}", _("This is more than the limit."))
    return found
