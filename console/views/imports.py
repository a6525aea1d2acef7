"""Create from YAML: a text with several documents, a dry-run review, and the creation or update of
the objects.

The text is saved as a draft until all objects are written. Each document is written separately
with the viewer's permissions, after the documents it depends on; see `console.views.importing`.
The response to an import that takes longer than `QUICK_SECONDS` is streamed and shows the progress.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from django import forms
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from console.drafts import store as drafts
from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.kube.status_object import status_object
from console.ui.core.clusters import Cluster
from console.ui.core.links import import_draft_url, import_url, openapi_url
from console.ui.core.permissions import may_know_kind
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response, success_object, wants_status
from console.ui.core.threads import in_thread
from console.ui.editing.creating import skeleton
from console.ui.editing.imports import MOST, read_items
from console.ui.editing.manifest import MOST_PROBLEMS, InvalidManifest, ManifestProblem
from console.ui.editing.yaml_text import forget_positions
from console.ui.forms.forms import ConsoleForm, TextField
from console.ui.navigation.page_routes import find_kind
from console.views.audit.manifests import restorable_text
from console.views.draft_pages import (
    DRAFT_ID,
    DraftPage,
    newer_draft_text,
    submitted_proposal,
    submitted_version,
)
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.import_results import DONE, REVIEW, shown_results
from console.views.import_undo import UndoRun, encode_created_objects, parse_created_objects
from console.views.importing import CreatedObject, ImportRun, ObjectResult, digest_of
from console.views.page import page
from console.views.progress_page import Content, respond_with_progress, whole_page
from console.views.starting_points import starting_point

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
    """Submitted form.

    - `invalid_files`: a file is not a UTF-8 text file.
    - `made`: created objects to delete.
    - `reviewed_digest`: digest of the reviewed import, or "".
    - `id`: id of a proposed draft, or "" for the user's own draft.
    """

    steps = frozenset({"review", "create", "edit", "review-undo", "undo"})
    max_length = MOST
    form: ImportForm
    invalid_files: bool = False
    made: Sequence[CreatedObject] = ()
    reviewed_digest: str = ""
    id: str = ""

    @property
    def url(self) -> str:
        return import_url(self.access.cluster.name, draft=self.id)

    @property
    def start_url(self) -> str:
        return import_url(self.access.cluster.name)

    @property
    def draft(self) -> drafts.DraftKey:
        account = self.request.account or ""
        name = f"#{self.id}" if self.id else ""
        return drafts.DraftKey(account, self.access.cluster.name, drafts.NEW, "", name)

    def content(self) -> drafts.DraftContent | None:
        if self.invalid_files or not (self.text.strip() or self.version):
            return None
        project = self.request.POST.get("namespace", "")[:MAX_LABEL_LENGTH]
        return drafts.DraftContent(self.text, project=project, proposal=self.proposal)

    async def keep(self) -> "ImportRequest":
        # API clients don't use drafts, and created objects are deleted without the text.
        return self if wants_status(self.request) or self.made else await DraftPage.keep(self)

    def submitted(self) -> "ImportRequest | None":
        """Return the typed text followed by the uploaded files."""
        post, version = self.request.POST, submitted_version(self.request)
        undoing = post.get("step", "") in ("review-undo", "undo")
        typed = post.get("text", "" if undoing else None)
        if typed is None or version is None:
            return None
        try:
            made = parse_created_objects(post.get("made", "")) if undoing else []
        except msgspec.DecodeError:
            return None
        sent = replace(self, made=made, reviewed_digest=post.get("seen", ""), version=version)
        sent = replace(sent, proposal=submitted_proposal(self.request))
        try:
            uploaded = self.request.FILES.getlist("files")
            files = [file.read().decode("utf-8-sig") for file in uploaded]
        except UnicodeDecodeError:
            return replace(sent, text=typed, invalid_files=True)
        texts = (text.replace("\r\n", "\n") for text in (typed, *files))
        text = "\n---\n".join(text for text in texts if text.strip())
        return replace(sent, text=text)

    async def open(self) -> HttpResponse:
        kept = await self.find_draft()
        if kept is not None and (self.id or self.request.GET.get("draft") == "continue"):
            form, content = ImportForm(initial={"namespace": kept.content.project}), kept.content
            asked = replace(self, form=form, text=content.text, version=kept.version, kept=kept)
            return await _page(replace(asked, proposal=content.proposal))
        if self.id:
            text = _("This draft no longer exists. It was applied or discarded, or has expired.")
            return error_page(self.request, 404, text)
        asked = replace(self, other=kept)
        named = self.request.GET.get("kind", "")
        kind = find_kind(self.access.cluster, named) if named else None
        if named and (kind is None or not may_know_kind(self.access, kind)):
            raise Http404
        if not self.form.is_valid():
            return await _page(asked, status=400)
        if restored := self.request.GET.get("restore", ""):
            manifest = await restorable_text(self.access, restored)
            if manifest is None:
                raise Http404
            return await _page(replace(asked, text=manifest))
        if kind is None:
            return await _page(asked)
        namespace = self.form.cleaned_data["namespace"]
        start = await starting_point(self.request, self.access, kind, namespace)
        return await _page(replace(asked, text=start.text or skeleton(kind, namespace)))

    async def run(self, step: str) -> HttpResponseBase:
        if self.invalid_files:
            wrong = [ManifestProblem(_("One of the files is not a UTF-8 text file."))]
            return await _page(self, wrong, status=400)
        if step == "edit":
            return await _page(self)
        if not self.form.is_valid():
            return await _page(self, status=400)
        if self.made:
            deletion = UndoRun(self.request, self.access)
            work = self._undo(deletion, review=step == "review-undo")
            return await respond_with_progress(self.request, deletion, work, self.title)
        run = ImportRun(self.request, self.access, self.form.cleaned_data["namespace"])
        work = self._import(run, review=step == "review")
        return await respond_with_progress(self.request, run, work, self.title)

    @property
    def title(self) -> str:
        return _("Undo import") if self.made else _("Create from YAML")

    async def _import(self, run: ImportRun, *, review: bool) -> Content | HttpResponse:
        try:
            return await self._imported(run, review=review)
        finally:
            forget_positions()

    async def _imported(self, run: ImportRun, *, review: bool) -> Content | HttpResponse:
        try:
            items, wrong = await in_thread(read_items, self.text, run.namespace)
        except InvalidManifest as error:
            return _answer(self, error.problems, status=error.status)
        results = await run.check(items)
        seen, reviewed = digest_of(results), self.reviewed_digest
        anew = not review and reviewed not in ("", seen)
        if review or wrong or anew:
            status = 400 if wrong else 409 if anew else _status_of(results, 422)
            if wants_status(self.request) and not wrong:
                return _statuses(results, status)
            found = sorted(
                [*wrong, *(problem for one in results for problem in one.problems)],
                key=lambda problem: problem.line,
            )
            return _answer(self, found, results, status=status, more={"seen": seen, "anew": anew})
        results = await run.write(results)
        asked = self
        if self.version and all(one.code < 400 for one in results):
            await self.delete_draft()
            asked = replace(self, version=0)
        status = _status_of(results, 207)
        if wants_status(self.request):
            return _statuses(results, status)
        context = {**_context(asked, results, DONE), "title": _("Import results")}
        context["made"] = encode_created_objects(results)
        return Content("console/_import_done.html", context, status, self.text)

    async def _undo(self, run: UndoRun, *, review: bool) -> Content | HttpResponse:
        results = await run.delete(self.made, dry_run=review)
        status = _status_of(results, 207)
        if wants_status(self.request):
            return _statuses(results, status)
        phase = REVIEW if review else DONE
        context = {**_context(self, results, phase), "title": self.title}
        if review and any(one.code < 400 for one in results):
            context["made"] = msgspec.json.encode(self.made).decode()
        context["undoing"] = phase
        return Content("console/_import_done.html", context, status, self.text)


@sensitive_post_parameters()
@page("GET", "POST")
async def import_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponseBase:
    """GET shows an empty text, the object that was deleted by the action with the audit ID `?restore=`,
    or a new object of `?kind=` for the project `?namespace=`: a skeleton, or what it starts from
    (`console.views.starting_points`). POST (`text`, `files`, `namespace`) runs a `step`.

    `review` checks each document with a dry run, `create` writes the objects, `edit` shows the text
    again, and `discard` deletes the draft. `?draft=continue` loads the user's own draft, and `?draft=`
    with an id a proposed draft (`console.views.proposals`). With `seen`, the digest
    of the review, `create` writes only what was reviewed. `review-undo` and `undo` delete the objects
    in `made`, a JSON list of `console.views.importing.CreatedObject`.
    """
    return await _asked(request).respond()


@sensitive_post_parameters()
@page("POST")
async def import_draft(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """POST (`text`, `namespace`, `version`) saves the draft and returns its new version."""
    return await _asked(request).respond_to_script()


def _asked(request: ConsoleRequest) -> ImportRequest:
    form = ImportForm(request.POST if request.method == "POST" else request.GET)
    id = request.GET.get("draft", "")
    id = id if DRAFT_ID.fullmatch(id) else ""
    return ImportRequest(request=request, access=access_of(request), form=form, id=id)


def _status_of(results: Sequence[ObjectResult], partly: int) -> int:
    """Return the response status: `partly` if an object was refused, 503 if the cluster didn't
    respond at all.
    """
    codes = {one.code if one.code >= 400 else 200 for one in results}
    return 503 if codes == {503} else partly if codes - {200} else 200


async def _page(
    asked: ImportRequest, problems: Sequence[ManifestProblem] = (), *, status: int = 200
) -> HttpResponse:
    """Render the form."""
    answer = _answer(asked, problems, status=status)
    if isinstance(answer, HttpResponse):
        return answer
    return await whole_page(asked.request, answer)


def _answer(
    asked: ImportRequest,
    problems: Sequence[ManifestProblem] = (),
    results: Sequence[ObjectResult] = (),
    *,
    status: int = 200,
    more: Mapping[str, Any] | None = None,
) -> Content | HttpResponse:
    """Return the form. `results` are the results of a review, if any."""
    if wants_status(asked.request) and asked.request.method == "POST":
        causes = [(str(one.line), one.text) for one in problems]
        causes += [(name, str(text)) for name, texts in asked.form.errors.items() for text in texts]
        told = " ".join(text for _at, text in causes[:MOST_PROBLEMS])
        return status_response(status, told, causes=tuple(causes))
    context = {
        **_context(asked, results, REVIEW),
        **(more or {}),
        "updates": any(one.change == "update" for one in results),
        "title": _("Create from YAML"),
        "problems": problems[:MOST_PROBLEMS],
        "problems_more": len(problems[MOST_PROBLEMS:]),
        "schema_url": openapi_url(asked.access.cluster.name, _ANY, "any"),
        "able": not problems and any(one.code < 400 for one in results),
        "draft_url": import_draft_url(asked.access.cluster.name, asked.id),
        "continue_url": import_url(asked.access.cluster.name, draft=asked.id or "continue"),
        "proposal": asked.proposal,
        "kept": asked.kept,
        "other": asked.other,
        "newer": newer_draft_text(),
        "most": MOST,
    }
    # The full text of a request that is too large could not be submitted again.
    return Content("console/_import.html", context, status, asked.text[:MOST])


def _context(asked: ImportRequest, results: Sequence[ObjectResult], phase: str) -> dict[str, Any]:
    return {
        "form": asked.form,
        "import_url": asked.url,
        "version": asked.version,
        "command": "kubectl apply --server-side -f -",
        **shown_results(results, phase),
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
        "change": result.change,
        "uid": made.uid if made is not None else item.uid,
    }
    return {**found, "details": {**details, **found.get("details", {})}}
