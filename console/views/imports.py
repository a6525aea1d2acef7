"""Create from YAML: a text with several documents, a dry-run review, and the creation of the
objects.

The form contains all state, so it works without JavaScript and after signing in again. The text
is saved as a draft until all objects are created. Each document is created separately with the
viewer's permissions, after the documents it depends on; see `console.views.importing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from asgiref.sync import sync_to_async
from django import forms
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from django.views.decorators.debug import sensitive_post_parameters

from console.drafts import store as drafts
from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.ui.core.access import Access
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
from console.views import draft_responses
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.importing import CreationResult, create_objects
from console.views.page import page
from console.views.undo import UndoResult, parse_created_objects, undo, undo_offer

STEPS = frozenset({"review", "create", "edit"})
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


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Request state.

    `version` is the draft version the page was loaded with, 0 for none. `kept` is the loaded
    draft, `other` a draft that is not loaded.
    """

    request: ConsoleRequest
    access: Access
    form: ImportForm
    version: int = 0
    kept: drafts.StoredDraft | None = None
    other: drafts.StoredDraft | None = None

    @property
    def url(self) -> str:
        return import_url(self.access.cluster.name)

    @property
    def draft(self) -> drafts.DraftKey:
        return drafts.DraftKey(
            self.request.account or "", self.access.cluster.name, drafts.NEW, "", ""
        )


@sensitive_post_parameters()
@page("GET", "POST")
async def import_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET shows an empty text, or a skeleton of `?kind=` for the project `?namespace=`. POST
    (`text`, `files`, `namespace`) runs a `step`.

    `review` validates each document with a dry run, `create` creates the objects, `edit` shows
    the text again, and `discard` deletes the draft. `?draft=continue` loads the draft. `undo`
    deletes the objects in `made`, a JSON list of `console.views.undo.CreatedObjectData`.
    """
    given = request.POST if request.method == "POST" else request.GET
    asked = ImportRequest(request, access_of(request), ImportForm(given))
    response = await (_post(asked) if request.method == "POST" else _open(asked))
    response["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters()
@page("POST")
async def import_draft(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """POST (`text`, `namespace`, `version`) saves the draft and returns its new version."""
    asked = ImportRequest(request, access_of(request), ImportForm(request.POST))
    version, text = draft_responses.submitted_version(request), request.POST.get("text", "")
    if version is None or len(text) > MOST:
        return _incomplete(asked)
    try:
        found = await _keep(replace(asked, version=version), text.replace("\r\n", "\n"))
    except drafts.DraftConflict:
        return draft_responses.draft_conflict()
    return draft_responses.draft_saved(found.version)


async def _keep(asked: ImportRequest, text: str) -> ImportRequest:
    """Save the draft and return `asked` with the new draft version. Raise `Newer`."""
    if len(text) > MOST or not (text.strip() or asked.version):
        return asked
    project = asked.request.POST.get("namespace", "")[:MAX_LABEL_LENGTH]
    content = drafts.DraftContent(text, project=project)
    version = await sync_to_async(drafts.store_draft)(asked.draft, content, asked.version)
    return replace(asked, version=version)


async def _open(asked: ImportRequest) -> HttpResponse:
    kept = await sync_to_async(drafts.find)(asked.draft)
    if kept is not None and asked.request.GET.get("draft") == "continue":
        form = ImportForm(initial={"namespace": kept.content.project})
        return _page(replace(asked, form=form, version=kept.version, kept=kept), kept.content.text)
    asked = replace(asked, other=kept)
    named = asked.request.GET.get("kind", "")
    kind = find_kind(asked.access.cluster, named) if named else None
    if named and (kind is None or not may_know_kind(asked.access, kind)):
        raise Http404
    if not asked.form.is_valid():
        return _page(asked, "", status=400)
    namespace = asked.form.cleaned_data["namespace"]
    return _page(asked, skeleton(kind, namespace) if kind is not None else "")


async def _post(asked: ImportRequest) -> HttpResponse:
    step = asked.request.POST.get("step")
    if step == "undo":
        return await _undo(asked)
    if step == "discard":
        await sync_to_async(drafts.delete_draft)(asked.draft)
        return HttpResponseRedirect(asked.url)
    version = draft_responses.submitted_version(asked.request)
    if step not in STEPS or "text" not in asked.request.POST or version is None:
        return _incomplete(asked)
    asked = replace(asked, version=version)
    try:
        text = _sent(asked.request)
    except UnicodeDecodeError:
        wrong = [ManifestProblem(_("One of the files is not a UTF-8 text file."))]
        return _page(asked, asked.request.POST["text"], wrong, status=400)
    if not wants_status(asked.request):
        # API clients don't use drafts.
        try:
            asked = await _keep(asked, text)
        except drafts.DraftConflict:
            asked = replace(asked, other=await sync_to_async(drafts.find)(asked.draft))
    if step == "edit":
        return _page(asked, text)
    if not asked.form.is_valid():
        return _page(asked, text, status=400)
    try:
        items = await in_thread(read_items, text)
    except InvalidManifest as error:
        return _page(asked, text, error.problems, status=400)
    namespace = asked.form.cleaned_data["namespace"]
    dry_run = step == "review"
    results = await create_objects(asked.request, asked.access, items, namespace, dry_run=dry_run)
    if not dry_run and asked.version and all(one.code < 400 for one in results):
        await sync_to_async(drafts.delete_draft)(asked.draft)
        asked = replace(asked, version=0)
    return _answer(asked, text, results, dry_run=dry_run)


async def _undo(asked: ImportRequest) -> HttpResponse:
    post = asked.request.POST
    try:
        made = parse_created_objects(post.get("made", ""))
    except msgspec.DecodeError:
        return _incomplete(asked)
    results = await undo(asked.request, asked.access, made)
    status = _status_of(results, 207)
    if wants_status(asked.request):
        return _data([_status_undone(one) for one in results], status)
    context = {
        "title": _("Undo"),
        "import_url": asked.url,
        "version": draft_responses.submitted_version(asked.request) or 0,
        "text": post.get("text", ""),
        "namespace": post.get("namespace", ""),
        "results": results,
        "deleted": sum(one.outcome == "done" for one in results),
    }
    return render(asked.request, "console/import_undone.html", context, status=status)


def _incomplete(asked: ImportRequest) -> HttpResponse:
    return error_page(asked.request, 400, _("The form is incomplete. Reload the page."))


def _sent(request: ConsoleRequest) -> str:
    """Return the typed text followed by the uploaded files. Raise `UnicodeDecodeError`."""
    files = (file.read().decode("utf-8-sig") for file in request.FILES.getlist("files"))
    texts = (text.replace("\r\n", "\n") for text in (request.POST["text"], *files))
    return "\n---\n".join(text for text in texts if text.strip())


def _answer(
    asked: ImportRequest, text: str, results: Sequence[CreationResult], *, dry_run: bool
) -> HttpResponse:
    status = _status_of(results, 422 if dry_run else 207)
    if wants_status(asked.request):
        return _data(list(map(_status, results)), status)
    if not dry_run:
        return _done(asked, text, results, status)
    found = [problem for one in results for problem in one.problems]
    return _page(asked, text, found, results, status=status)


def _status_of(results: Sequence[CreationResult] | Sequence[UndoResult], partly: int) -> int:
    """Return the response status: `partly` if an object was refused, 503 if the cluster didn't
    respond at all.
    """
    codes = {one.code if one.code >= 400 else 200 for one in results}
    return 503 if codes == {503} else partly if codes - {200} else 200


def _done(
    asked: ImportRequest, text: str, results: Sequence[CreationResult], status: int
) -> HttpResponse:
    context = {
        **_context(asked, text, results),
        "title": pgettext("result", "Created"),
        "made": sum(one.made is not None for one in results),
        "offer": undo_offer(asked.access, results),
    }
    return render(asked.request, "console/import_done.html", context, status=status)


def _page(
    asked: ImportRequest,
    text: str,
    found: Sequence[ManifestProblem] = (),
    results: Sequence[CreationResult] = (),
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the form. `results` are the results of a review, if any."""
    problems = list(found)
    if len(text) > MOST:
        # The full text would exceed the size limit when it is submitted again.
        text = text[:MOST]
    if wants_status(asked.request) and asked.request.method == "POST":
        causes = [(str(one.line), one.text) for one in problems]
        causes += [(name, str(text)) for name, texts in asked.form.errors.items() for text in texts]
        return status_response(status, " ".join(text for _at, text in causes), causes=tuple(causes))
    able = any(one.code < 400 for one in results)
    context = {
        **_context(asked, text, results),
        "title": _("Create from YAML"),
        "problems": problems,
        "schema_url": openapi_url(asked.access.cluster.name, _ANY, "any"),
        "able": able and not problems,
        "draft_url": import_draft_url(asked.access.cluster.name),
        "kept": asked.kept,
        "other": asked.other,
        "newer": draft_responses.draft_conflict_text(),
        "most": MOST,
    }
    return render(asked.request, "console/import.html", context, status=status)


def _context(asked: ImportRequest, text: str, results: Sequence[CreationResult]) -> dict[str, Any]:
    return {
        "text": text,
        "form": asked.form,
        "results": results,
        "import_url": asked.url,
        "version": asked.version,
        "command": "kubectl create -f -",
    }


def _data(items: Sequence[dict[str, Any]], status: int) -> HttpResponse:
    """Return a list with a `Status` per object, as kube-apiserver would return it."""
    answer = JsonResponse({"kind": "List", "apiVersion": "v1", "items": items})
    answer.status_code = status
    return answer


def _status(result: CreationResult) -> dict[str, Any]:
    item = result.item
    text = result.text or " ".join(problem.text for problem in result.problems)
    if result.code < 400:
        found = success_object(text or " ".join(result.warnings))
    else:
        causes = tuple((str(problem.line), problem.text) for problem in result.problems)
        found = status_object(result.code, text, causes=causes)
    details = {
        "apiVersion": item.found.manifest["apiVersion"],
        "name": result.made.key.name if result.made is not None else item.name,
        "namespace": result.namespace,
        "group": item.group,
        "kind": item.kind,
        "line": item.line,
        "outcome": result.outcome,
        "uid": result.made.uid if result.made is not None else "",
    }
    return {**found, "details": {**details, **found.get("details", {})}}


def _status_undone(result: UndoResult) -> dict[str, Any]:
    made = result.made
    known = result.code < 400
    found = success_object(result.text) if known else status_object(result.code, result.text)
    details = {
        **msgspec.to_builtins(made),
        "group": made.group_and_version[0],
        "outcome": result.outcome,
    }
    return {**found, "details": {**details, **found.get("details", {})}}
