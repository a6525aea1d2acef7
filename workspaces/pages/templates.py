"""Pages for the templates of a workspace: list, save, rename and delete."""

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.drafts import store as drafts
from console.saved.models import SavedTemplate
from console.saved.templates import TemplateText
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.links import started_url
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.creating import creations
from console.ui.editing.manifest import InvalidManifest
from console.ui.forms.forms import posted
from console.ui.navigation.nav import update_counts
from console.ui.navigation.projects import register_template_page
from console.views.page import page
from console.wizards.copies import template_text
from workspaces.pages.base import WorkspacePage, open_workspace, page_head
from workspaces.pages.forms import TemplateForm, WorkspaceForm
from workspaces.pages.views import FormPage, answer_form
from workspaces.rights import TEMPLATES, workspace_rights
from workspaces.services import templates as service

_CURRENT = "workspace_templates"
TEMPLATES_ENTRY = MenuEntry(("workspace",), 45, gettext_lazy("Templates"), "layers")


def new_template_url(access: Access, workspace: str) -> str:
    """Return the URL of the page that saves a template in the workspace, or "" if the viewer may not
    save one.
    """
    if not workspace_rights(access, workspace).is_allowed("create", TEMPLATES):
        return ""
    return reverse("workspace_template_new", args=(workspace,))


register_template_page(new_template_url)


@page("GET", menu=TEMPLATES_ENTRY)
async def templates(request: ConsoleRequest, workspace: str) -> HttpResponse:
    opened = await open_workspace(request, workspace)
    found = await service.templates(opened.actor)
    known = clusters.host.kinds
    wanted = [kind for one in found if (kind := known.find(one.kind)) is not None]
    created = {kind.segment: url for kind, url in creations(opened.access, wanted)}
    await update_counts(request.cluster)
    context = {
        **page_head(opened, _CURRENT),
        "lines": [
            {
                "template": one,
                "kind": kind.singular if (kind := known.find(one.kind)) is not None else one.kind,
                "url": started_url(created[one.kind], template=str(one.pk))
                if one.kind in created
                else "",
                **_changes(opened, one),
            }
            for one in found
        ],
    }
    return render(request, "workspaces/templates.html", context)


def _changes(opened: WorkspacePage, template: SavedTemplate) -> dict[str, str]:
    """Return the URLs of the pages that change a template, "" for those that the viewer may not open."""
    number = str(template.pk)
    return {
        name: opened.url(view, number) if opened.rights.is_allowed(verb, TEMPLATES) else ""
        for name, view, verb in (
            ("change_url", "workspace_template", "update"),
            ("delete_url", "workspace_template_delete", "delete"),
        )
    }


@page("GET", "POST", menu=TEMPLATES_ENTRY)
async def new(request: ConsoleRequest, workspace: str) -> HttpResponse:
    """Save the draft of a wizard as a template. `cluster`, `kind` and `draft` name the draft."""
    opened = await open_workspace(request, workspace)
    opened.rights.require("create", TEMPLATES)
    asked = [request.GET.get(name, "") for name in ("cluster", "kind", "draft")]
    cluster, kind = clusters.get(asked[0]), asked[1]
    place = drafts.DraftKey(request.account or "", asked[0], kind, "", f"#{asked[2]}")
    draft = await sync_to_async(drafts.find)(place)
    if cluster is None or draft is None or not draft.content.text:
        raise Http404
    text = draft.content.text

    async def save(given: dict[str, str]) -> None:
        try:
            content = await in_thread(template_text, cluster.kinds, text)
        except InvalidManifest as error:
            words = " ".join(problem.text for problem in error.problems)
            raise Refused(words) from error
        await service.save_template(opened.actor, kind, TemplateText(**given), content)

    return await answer_form(
        opened,
        _CURRENT,
        FormPage(
            TemplateForm(posted(request), initial={"name": escape_invisible(draft.content.title)}),
            lambda given, _version: save({**given}),
            title=_("Save as template"),
            button=_("Save template"),
            done=_("Saved template %(name)s."),
            named_by="name",
            options={
                "about": _(
                    "Members of the workspace who may create such objects can start from the "
                    "template. Values of Secrets are not saved."
                )
            },
        ),
    )


async def _find(
    request: ConsoleRequest, workspace: str, verb: str, number: int
) -> tuple[WorkspacePage, SavedTemplate]:
    opened = await open_workspace(request, workspace)
    opened.rights.require(verb, TEMPLATES)
    template = await service.find_template(opened.actor, number)
    if template is None:
        raise Http404
    return opened, template


@page("GET", "POST", menu=TEMPLATES_ENTRY)
async def change(request: ConsoleRequest, workspace: str, number: int) -> HttpResponse:
    """Change name and description of a template."""
    opened, template = await _find(request, workspace, "update", number)
    initial = {"name": template.name, "description": template.description}
    return await answer_form(
        opened,
        _CURRENT,
        FormPage(
            TemplateForm(posted(request), initial=initial),
            lambda given, _version: service.change_template(
                opened.actor, template, TemplateText(**given)
            ),
            title=_("Rename template %(name)s"),
            button=_("Save template"),
            done=_("Saved template %(name)s."),
            name=template.name,
            named_by="name",
        ),
    )


@page("GET", "POST", menu=TEMPLATES_ENTRY)
async def delete(request: ConsoleRequest, workspace: str, number: int) -> HttpResponse:
    opened, template = await _find(request, workspace, "delete", number)
    return await answer_form(
        opened,
        _CURRENT,
        FormPage(
            WorkspaceForm(posted(request)),
            lambda _given, _version: service.delete_template(opened.actor, template),
            title=_("Delete template %(name)s"),
            button=_("Delete template"),
            done=_("Deleted template %(name)s."),
            name=template.name,
            options={
                "danger": True,
                "about": _("Objects that were created from the template stay as they are."),
            },
        ),
    )
