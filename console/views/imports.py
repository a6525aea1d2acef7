"""Create from YAML: a text with several documents, a dry-run review, and the creation of the
objects.

The text is saved as a draft until all objects are created. Each document is created separately
with the viewer's permissions, after the documents it depends on; see `console.views.importing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from django import forms
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from django.views.decorators.debug import sensitive_post_parameters

from console.drafts import store as drafts
from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.ui.core.clusters import Cluster
from console.ui.core.links import import_draft_url, import_url, openapi_url
from console.ui.core.permissions import may_know_kind
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_object, status_response, success_object, wants_status
from console.ui.core.threads import in_thread
from console.ui.editing.creating import skeleton
from console.ui.editing.imports import MOST, read_items
from console.ui.editing.manifest import InvalidManifest, ManifestProblem
from console.ui.forms.forms import ConsoleForm, TextField
from console.ui.navigation.page_routes import find_kind
from console.views.draft_pages import DraftPage, newer_draft_text, submitted_version
from console.views.errors import incomplete_form
from console.views.guard import access_of
from console.views.importing import (
    ObjectResult,
    create_objects,
    delete_created,
    parse_created_objects,
    undo_offer,
)
from console.views.page import page

#: Maximum characters of a namespace name (RFC 1123, section 2.1).
MAX_LABEL_LENGTH = 63
#: The editor loads the schemas of all kinds from URLs with the same prefix.
_ANY = GVR("", "v1", "")


class ImportForm(ConsoleForm):
    """Form fields besides the text."""

    namespace = TextField(
        label=gettext_lazy("Project"),
        help_text=gettext_lazy("Used for objects that don't set a project."),
        max_length=MAX_LABEL_LENGTH,
        required=False,
    )

    def clean_namespace(self) -> str:
        name = str(self.cleaned_data["namespace"])
        if name and not is_dns_label(name):
            raise forms.ValidationError(_("This is not a valid project name."))
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest(DraftPage):
    """Submitted form. `invalid_files`: a file is not a UTF-8 text file."""

    steps, max_length = frozenset({"review", "create", "edit"}), MOST
    form: ImportForm
    invalid_files: bool = False

    @property
    def url(self) -> str:
        return import_url(self.access.cluster.name)

    @property
    def draft(self) -> drafts.DraftKey:
        account = self.request.account or ""
        return drafts.DraftKey(account, self.access.cluster.name, drafts.NEW, "", "")

    def content(self) -> drafts.DraftContent | None:
        if self.invalid_files or not (self.text.strip() or self.version):
            return None
        project = self.request.POST.get("namespace", "")[:MAX_LABEL_LENGTH]
        return drafts.DraftContent(self.text, project=project)

    async def keep(self) -> "ImportRequest":
        # API clients don't use drafts.
        return self if wants_status(self.request) else await DraftPage.keep(self)

    def submitted(self) -> "ImportRequest | None":
        """Return the typed text followed by the uploaded files."""
        version, typed = submitted_version(self.request), self.request.POST.get("text")
        if typed is None or version is None:
            return None
        try:
            uploaded = self.request.FILES.getlist("files")
            files = [file.read().decode("utf-8-sig") for file in uploaded]
        except UnicodeDecodeError:
            return replace(self, text=typed, version=version, invalid_files=True)
        texts = (text.replace("\r\n", "\n") for text in (typed, *files))
        text = "\n---\n".join(text for text in texts if text.strip())
        return replace(self, text=text, version=version)

    async def open(self) -> HttpResponse:
        kept = await self.find_draft()
        if kept is not None and self.request.GET.get("draft") == "continue":
            form = ImportForm(initial={"namespace": kept.content.project})
            text, version = kept.content.text, kept.version
            return _page(replace(self, form=form, text=text, version=version, kept=kept))
        asked = replace(self, other=kept)
        named = self.request.GET.get("kind", "")
        kind = find_kind(self.access.cluster, named) if named else None
        if named and (kind is None or not may_know_kind(self.access, kind)):
            raise Http404
        if not self.form.is_valid():
            return _page(asked, status=400)
        namespace = self.form.cleaned_data["namespace"]
        return _page(replace(asked, text=skeleton(kind, namespace) if kind is not None else ""))

    async def run(self, step: str) -> HttpResponse:
        if self.invalid_files:
            wrong = [ManifestProblem(_("One of the files is not a UTF-8 text file."))]
            return _page(self, wrong, status=400)
        if step == "edit":
            return _page(self)
        if not self.form.is_valid():
            return _page(self, status=400)
        try:
            items = await in_thread(read_items, self.text)
        except InvalidManifest as error:
            return _page(self, error.problems, status=error.status)
        namespace, dry_run = self.form.cleaned_data["namespace"], step == "review"
        results = await create_objects(self.request, self.access, items, namespace, dry_run=dry_run)
        asked = self
        if not dry_run and self.version and all(one.code < 400 for one in results):
            await self.delete_draft()
            asked = replace(self, version=0)
        status = _status_of(results, 422 if dry_run else 207)
        if wants_status(self.request):
            return _statuses(results, status)
        if dry_run:
            found = [problem for one in results for problem in one.problems]
            return _page(asked, found, results, status=status)
        context = {
            **_context(asked, results),
            "title": pgettext("result", "Created"),
            "made": sum(one.made is not None for one in results),
            "offer": undo_offer(self.access, results),
        }
        return render(self.request, "console/import_done.html", context, status=status)


@sensitive_post_parameters()
@page("GET", "POST")
async def import_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET shows an empty text, or a skeleton of `?kind=` for the project `?namespace=`. POST
    (`text`, `files`, `namespace`) runs a `step`.

    `review` validates each document with a dry run, `create` creates the objects, `edit` shows
    the text again, and `discard` deletes the draft. `?draft=continue` loads the draft. `undo`
    deletes the objects in `made`, a JSON list of `console.views.importing.CreatedObject`.
    """
    asked = _asked(request)
    undoing = request.method == "POST" and request.POST.get("step") == "undo"
    response = await (_undo(asked) if undoing else asked.respond())
    response["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters()
@page("POST")
async def import_draft(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """POST (`text`, `namespace`, `version`) saves the draft and returns its new version."""
    return await _asked(request).respond_to_script()


def _asked(request: ConsoleRequest) -> ImportRequest:
    form = ImportForm(request.POST if request.method == "POST" else request.GET)
    return ImportRequest(request=request, access=access_of(request), form=form)


async def _undo(asked: ImportRequest) -> HttpResponse:
    post = asked.request.POST
    try:
        made = parse_created_objects(post.get("made", ""))
    except msgspec.DecodeError:
        return incomplete_form(asked.request)
    results = await delete_created(asked.request, asked.access, made)
    status = _status_of(results, 207)
    if wants_status(asked.request):
        return _statuses(results, status)
    context = {
        "title": _("Undo"),
        "import_url": asked.url,
        "version": submitted_version(asked.request) or 0,
        "text": post.get("text", ""),
        "namespace": post.get("namespace", ""),
        "results": results,
        "deleted": sum(one.outcome == "done" for one in results),
    }
    return render(asked.request, "console/import_undone.html", context, status=status)


def _status_of(results: Sequence[ObjectResult], partly: int) -> int:
    """Return the response status: `partly` if an object was refused, 503 if the cluster didn't
    respond at all.
    """
    codes = {one.code if one.code >= 400 else 200 for one in results}
    return 503 if codes == {503} else partly if codes - {200} else 200


def _page(
    asked: ImportRequest,
    problems: Sequence[ManifestProblem] = (),
    results: Sequence[ObjectResult] = (),
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the form. `results` are the results of a review, if any."""
    if wants_status(asked.request) and asked.request.method == "POST":
        causes = [(str(one.line), one.text) for one in problems]
        causes += [(name, str(text)) for name, texts in asked.form.errors.items() for text in texts]
        return status_response(status, " ".join(text for _at, text in causes), causes=tuple(causes))
    context = {
        **_context(asked, results),
        # The full text would exceed the size limit when it is submitted again.
        "text": asked.text[:MOST],
        "title": _("Create from YAML"),
        "problems": problems,
        "schema_url": openapi_url(asked.access.cluster.name, _ANY, "any"),
        "able": not problems and any(one.code < 400 for one in results),
        "draft_url": import_draft_url(asked.access.cluster.name),
        "kept": asked.kept,
        "other": asked.other,
        "newer": newer_draft_text(),
        "most": MOST,
    }
    return render(asked.request, "console/import.html", context, status=status)


def _context(asked: ImportRequest, results: Sequence[ObjectResult]) -> dict[str, Any]:
    return {
        "text": asked.text,
        "form": asked.form,
        "results": results,
        "import_url": asked.url,
        "version": asked.version,
        "command": "kubectl create -f -",
    }


def _statuses(results: Sequence[ObjectResult], status: int) -> HttpResponse:
    """Return a list with a `Status` per object, as kube-apiserver would return it."""
    items = [_status(one) for one in results]
    return JsonResponse({"kind": "List", "apiVersion": "v1", "items": items}, status=status)


def _status(result: ObjectResult) -> dict[str, Any]:
    item, made = result.item, result.made
    text = result.text or " ".join(problem.text for problem in result.problems)
    if result.code < 400:
        found = success_object(text or " ".join(result.warnings))
    else:
        causes = tuple((str(problem.line), problem.text) for problem in result.problems)
        found = status_object(result.code, text, causes=causes)
    details = {
        "apiVersion": item.api_version,
        "name": (made or item).name,
        "namespace": result.namespace,
        "group": item.group,
        "kind": item.kind,
        "line": item.line,
        "outcome": result.outcome,
        "uid": made.uid if made is not None else item.uid,
    }
    return {**found, "details": {**details, **found.get("details", {})}}
