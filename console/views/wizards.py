"""Wizards that create an object, or edit one, step by step (ADR 26).

The form of a step contains the whole draft: the manifests as YAML, and the values that can't be
written into them. Each request writes the submitted fields into the manifests, saves the draft and
redirects to a step, so that every step has a URL and works in several tabs and without JavaScript.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import Any, ClassVar, Self
from urllib.parse import quote, urlencode

import msgspec
from django.http import Http404, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from console.drafts import store as drafts
from console.kube.gvr import GVR
from console.kube.names import is_dns_label
from console.ui.core.access import Access
from console.ui.core.actions import EditForm
from console.ui.core.clusters import Cluster
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.links import (
    create_page_url,
    edit_form_url,
    import_url,
    list_url,
    openapi_url,
    started_url,
    wizard_url,
)
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible, space_mixed_scripts
from console.ui.core.threads import in_thread
from console.ui.editing.manifest import (
    MOST,
    InvalidManifest,
    ManifestProblem,
    original_text,
    syntax_problem,
    without_marks,
)
from console.ui.editing.server_changes import server_changes
from console.ui.editing.yaml_text import UnreadableDocument, read_documents
from console.ui.navigation.page_routes import find_kind
from console.ui.navigation.projects import template_page, workspace_of
from console.ui.wizard.parts import walk
from console.ui.wizard.paths import path_text
from console.ui.wizard.state import Refusals, WizardContext
from console.ui.wizard.wizard import REVIEW, YAML, Step, Wizard, WizardDraft
from console.views.actions import ActionRequest, cause_html, find_subject
from console.views.created_objects import created_rows
from console.views.draft_pages import (
    DRAFT_ID,
    DraftPage,
    newer_draft_text,
    submitted_version,
)
from console.views.edit import EditedForm, EditRequest, edit_request
from console.views.errors import error_page, incomplete_form
from console.views.guard import access_of
from console.views.import_results import DONE, shown_results
from console.views.import_results import REVIEW as REVIEWED
from console.views.importing import ImportRun, ObjectResult, digest_of
from console.views.openapi import remembered_schema
from console.views.page import page
from console.views.progress_page import Content, respond_with_progress, whole_page
from console.views.starting_points import PARAMETERS, key_of, starting_point
from console.views.wizard_attempt import CREATING, DONE_STEP, Attempt, attempted, created_in
from console.views.wizard_review import Review, by_step, draft_quotas, refusals, review_draft
from console.wizards.generated import generated_wizard

#: The editor loads the schemas of all kinds from URLs with the same prefix.
_ANY = GVR("", "v1", "")
#: Seconds until the page of created objects asks for their states again.
POLL_SECONDS = 2
#: Step that returns the manifests as a file.
DOWNLOAD = "manifest.yaml"
_REVIEW_TITLE = pgettext_lazy("step", "Review")
FRAME = "wizard/frame.html"
#: Maximum characters of `WizardRequest.source`: two names and a slash.
MAX_SOURCE = 507
#: Maximum displayed values that are only visible as YAML.
MOST_YAML_ONLY = 20
_Inputs = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardRequest(DraftPage):
    """Request to a step of a wizard. `text` are the manifests as YAML documents.

    - `id`: the draft's id. `step`: the step in the URL.
    - `source`: see `console.drafts.store.DraftContent`.
    - `name`: name of the object. `project`: its namespace, if the text doesn't contain it.
    - `inputs`, `refused`, `visited`: see `console.ui.wizard.wizard.WizardDraft`.
    - `made`: the objects that an attempt to create them created, as JSON, "" without an attempt.
    """

    max_length: ClassVar[int] = MOST
    steps: ClassVar[frozenset[str]] = frozenset()
    is_new: ClassVar[bool] = True
    kind: ResourceKind
    wizard: Wizard
    id: str
    step: str
    project: str = ""
    name: str = ""
    source: str = ""
    inputs: _Inputs
    refused: dict[str, Refusals] = field(default_factory=dict)
    visited: Sequence[str] = ()
    made: str = ""

    @property
    def url(self) -> str:
        return self.step_url(self.step)

    def step_url(self, step: str) -> str:
        return wizard_url(self.access.cluster.name, self.kind.segment, self.id, step)

    @property
    def draft(self) -> drafts.DraftKey:
        account, cluster = self.request.account or "", self.access.cluster.name
        # No object has a name with this character.
        return drafts.DraftKey(account, cluster, self.kind.segment, "", f"#{self.id}")

    @property
    def title(self) -> str:
        return space_mixed_scripts(_("Create %(kind)s") % {"kind": self.kind.singular})

    @property
    def stored_content(self) -> drafts.DraftContent:
        return drafts.DraftContent(
            self.text,
            project=self.project,
            title=self.name,
            step=self.step,
            inputs=self.inputs,
            visited=list(self.visited),
            source=self.source,
            refused=self.refused,
            made=self.made,
        )

    def content(self) -> drafts.DraftContent | None:
        return self.stored_content

    def submitted(self) -> Self | None:
        """Return the request with the draft in the form, before the step's fields are written."""
        post, version = self.request.POST, submitted_version(self.request)
        made = post.get("made", "")
        try:
            inputs = msgspec.json.decode(post.get("inputs", "{}"), type=_Inputs)
            refused = msgspec.json.decode(post.get("refused", "{}"), type=dict[str, Refusals])
            created_in(made)
        except msgspec.DecodeError:
            return None
        if version is None or "text" not in post:
            return None
        ids = post.get("visited", "").split()
        visited = [one for one in ids if self.wizard.step(one) is not None]
        text = post["text"].replace("\r\n", "\n")
        sent = replace(self, text=text, inputs=inputs, visited=visited, version=version)
        sent = replace(sent, source=post.get("source", "")[:MAX_SOURCE])
        return replace(sent, refused=refused, made=made)

    async def open(self) -> HttpResponse:
        kept = await self.find_draft()
        if kept is None:
            # The draft was deleted, or another account created it.
            return HttpResponseRedirect(self.kind.create_url(self.access.cluster.name, ""))
        content = kept.content
        if content.step == DONE_STEP or self.step == DONE_STEP:
            return await self.show_created(kept)
        asked = replace(
            self,
            text=content.text,
            inputs=content.inputs,
            refused=content.refused,
            visited=content.visited,
            version=kept.version,
            project=content.project,
            source=content.source,
            made=content.made,
        )
        if self.step == DOWNLOAD:
            return asked.download()
        if content.step == CREATING and self.step != CREATING:
            return HttpResponseRedirect(self.step_url(CREATING))
        return await asked.show()

    def download(self) -> HttpResponse:
        """Return the manifests as a file."""
        response = HttpResponse(self.text, content_type="application/yaml; charset=utf-8")
        name = content_disposition_header(True, f"{self.read().name or self.kind.segment}.yaml")
        response["Content-Disposition"] = name or "attachment"
        return response

    def read(self) -> WizardDraft:
        """Return the draft. Raise `InvalidManifest` if the text can't be parsed."""
        manifests = read_manifests(self.text)
        main = self.wizard.main
        found = next((one for one in manifests if main.matches(one)), {})
        metadata = found.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        project = namespace if isinstance(namespace, str) else self.project
        context = WizardContext(self.access, project, is_new=self.is_new)
        draft = WizardDraft.of(self.wizard, context, manifests)
        draft.inputs, draft.visited = dict(self.inputs), list(self.visited)
        draft.refused = dict(self.refused)
        return draft

    def written(self, draft: WizardDraft) -> Self:
        """Return the request with the draft's content."""
        inputs = {step: held for step, held in draft.inputs.items() if held}
        refused = {step: held for step, held in draft.refused.items() if held}
        sent = replace(self, text=draft.text, name=draft.name, visited=draft.visited)
        return replace(sent, inputs=inputs, refused=refused)

    @property
    def list_url(self) -> str:
        if not self.access.cluster.kinds.installed(self.kind.gvr):
            return create_page_url(self.access.cluster.name)
        return list_url(self.access.cluster.name, self.kind.segment)

    async def _post(self) -> HttpResponseBase:
        post = self.request.POST
        step = post.get("step", "")
        if step == "discard":
            await self.delete_draft()
            return HttpResponseRedirect(self.list_url)
        sent = self.submitted()
        if sent is None:
            return incomplete_form(self.request)
        if self.step == YAML:
            sent = replace(sent, text=post.get("manifest", "").replace("\r\n", "\n"))
        if self.request.htmx:
            return await sent.respond_with_answer(step)
        try:
            return await sent.run(step)
        except InvalidManifest as error:
            # Only the YAML step can show a text that is not a manifest.
            kept = await replace(sent, step=YAML).keep()
            return await kept.show_yaml(error.problems, status=error.status)

    async def run(self, step: str) -> HttpResponseBase:
        """Write the submitted fields, save the draft, and go to the wanted step."""
        verb, _dot, rest = step.partition(".")
        own = self.wizard.step(self.step)
        focus, wanted, sent = "", self.step, self
        if own is not None:
            draft = self.read()
            act = rest if verb == "act" else ""
            leaves = verb in ("next", "back", "go")
            files = self.request.FILES
            focus = draft.submit(own, self.request.POST, act, files=files, leaves=leaves)
            if verb in ("next", "go", "back") and own.id not in draft.visited:
                draft.visited.append(own.id)
            stays = verb == "next" and draft.errors(own, own=True)
            wanted = self.wizard.step_after(own.id) if verb == "next" and not stays else self.step
            sent = self.written(draft)
            if draft.questions:
                await answer_questions(draft)
                kept = await sent.keep()
                return await kept.show_step(draft, own, focus)
        else:
            sent = replace(self, name=self.read().name)
        if verb == "go" and (self.wizard.step(rest) is not None or rest in (YAML, REVIEW)):
            wanted = rest
        elif verb == "back":
            ids = [one.id for one in self.wizard.steps]
            at = ids.index(self.step) if self.step in ids else len(ids)
            wanted = ids[max(at - 1, 0)]
        if self.wizard.step(wanted) is None and wanted not in (YAML, REVIEW, CREATING):
            raise Http404
        kept = await replace(sent, step=wanted).keep()
        if kept.other is not None and kept.other.content.step in (CREATING, DONE_STEP):
            # The objects were or are being created from another window.
            return HttpResponseRedirect(self.step_url(kept.other.content.step))
        if kept.other is not None or not kept.fits:
            return await kept.show(focus)
        if self.step == REVIEW and verb == "create":
            return await kept._create()
        template_url = kept._template_url() if verb == "template" else ""
        if template_url:
            place = {"cluster": self.access.cluster.name, "kind": self.kind.segment}
            return HttpResponseRedirect(started_url(template_url, **place, draft=self.id))
        query = f"?focus={quote(focus)}" if focus else ""
        return HttpResponseRedirect(f"{self.step_url(wanted)}{query}")

    async def respond_with_answer(self, step: str) -> HttpResponse:
        """Return the answer to a question about the submitted fields. The draft isn't saved."""
        own, (verb, _dot, act) = self.wizard.step(self.step), step.partition(".")
        try:
            draft = await in_thread(self.read)
        except InvalidManifest:
            return incomplete_form(self.request)
        if own is None or verb != "act":
            return incomplete_form(self.request)
        draft.submit(own, self.request.POST, act)
        await answer_questions(draft)
        nodes = (node for one in draft.bound(own) for node in walk(one))
        for asked in draft.questions:
            node = next((one for one in nodes if getattr(one, "name", "") == asked.name), None)
            if node is not None:
                return render(self.request, asked.template, {"node": node})
        return incomplete_form(self.request)

    async def respond_to_script(self) -> HttpResponse:
        """Save the submitted fields and return the draft's new version."""
        sent = self.submitted()
        own = self.wizard.step(self.step)
        if sent is None or own is None:
            return incomplete_form(self.request)
        try:
            draft = sent.read()
        except InvalidManifest:
            return incomplete_form(self.request)
        draft.submit(own, self.request.POST, files=self.request.FILES)
        return await sent.written(draft).save_for_script()

    async def show(self, focus: str = "") -> HttpResponse:
        """Show the step."""
        try:
            draft = await in_thread(self.read)
        except InvalidManifest as error:
            return await self.show_yaml(error.problems)
        if self.step == YAML:
            return await self.show_yaml()
        if self.step == REVIEW:
            return await self.review(draft)
        if self.step == CREATING:
            return await self.show_attempt(draft)
        step = self.wizard.step(self.step)
        if step is None:
            raise Http404
        return await self.show_step(draft, step, focus or self.request.GET.get("focus", ""))

    async def show_step(
        self,
        draft: WizardDraft,
        step: Step,
        focus: str = "",
        others: Sequence[str] = (),
        status: int = 200,
    ) -> HttpResponse:
        """Show the form of the step. `others` are problems that belong to no field."""
        nodes = draft.bound(step, focus)
        context = {
            **self.frame(draft),
            **await self.about(),
            "step": step,
            "nodes": nodes,
            "focus": focus,
            "problems": [
                (field, error)
                for field, error in draft.errors(step)
                if step.id in draft.visited or field.name in draft.refused.get(step.id, ())
            ],
            "refusals": others,
            "next_title": self._next_title(step),
        }
        return await whole_page(self.request, self._page("wizard/step.html", context, status))

    async def about(self) -> dict[str, Any]:
        """Return the context about an existing object."""
        return {}

    def _next_title(self, step: Step) -> Any:
        after = self.wizard.step(self.wizard.step_after(step.id))
        return after.title if after is not None else ""

    async def show_yaml(
        self, problems: Sequence[ManifestProblem] = (), status: int = 200
    ) -> HttpResponse:
        try:
            frame = self.frame(self.read())
        except InvalidManifest:
            frame = self.frame(None)
        context = {
            **frame,
            "problems": problems,
            "schema_url": openapi_url(self.access.cluster.name, _ANY, "any"),
        }
        return await whole_page(self.request, self._page("wizard/yaml.html", context, status))

    def _template_url(self, draft: WizardDraft | None = None) -> str:
        """Return the URL of the page that saves the draft as a template of its workspace, or ""."""
        draft = draft or self.read()
        workspace = workspace_of(self.access, draft.context.namespace) if self.is_new else ""
        return template_page(self.access, workspace) if workspace else ""

    def frame(self, draft: WizardDraft | None) -> dict[str, Any]:
        """Return the context that all steps share."""
        wizard = self.wizard
        only = draft.yaml_only() if draft is not None else []
        scope = draft.scope(draft.state("")) if draft is not None else None
        warnings = wizard.warnings(draft.state("")) if draft is not None else ()
        current = wizard.step(self.step)
        steps = []
        for number, one in enumerate(wizard.steps, 1):
            visited = draft is not None and one.id in draft.visited
            checked = visited or (draft is not None and one.id in draft.refused)
            errors = len(draft.errors(one)) if draft is not None and checked else 0
            facts = one.facts(scope) if one.facts is not None and scope is not None else ""
            steps.append(
                {
                    "step": one,
                    "number": number,
                    "is_current": one.id == self.step,
                    "is_done": visited and not errors,
                    "errors": errors,
                    "facts": facts,
                }
            )
        return {
            "title": self.title,
            "kind": self.kind,
            "wizard": wizard,
            "asked": self,
            "action": self.step_url(self.step),
            "draft_url": self.step_url("save"),
            "list_url": self.list_url,
            "step_list": steps,
            "step_count": len(steps) + 1,
            "step_title": current.title if current is not None else _REVIEW_TITLE,
            "at": next((one["number"] for one in steps if one["is_current"]), len(steps) + 1),
            "current": self.step,
            "name": draft.name if draft is not None else "",
            "namespace": draft.context.namespace if draft is not None else self.project,
            "inputs": json.dumps(self.inputs),
            "refused": json.dumps(draft.refused if draft is not None else self.refused),
            "made": self.made,
            "creating_url": self.step_url(CREATING) if created_in(self.made) else "",
            "quotas": draft_quotas(draft)
            if draft is not None and current is not None and self.is_new
            else (),
            "visited": " ".join(self.visited),
            "yaml_only": len(only),
            "yaml_only_paths": [path_text(path) for _slot, path in only[:MOST_YAML_ONLY]],
            "summary": wizard.facts(scope) if scope is not None else (),
            "warnings": [one for one in warnings if not one.step or one.step in self.visited],
            "newer": newer_draft_text(),
            "other": self.other,
            "can_save_template": bool(draft is not None and self._template_url(draft)),
        }

    async def review(self, draft: WizardDraft) -> HttpResponse:
        """Show the review of a new check."""
        found = await self._check(self._run(), draft)
        return await whole_page(self.request, self._review_page(draft, found))

    async def _check(self, run: ImportRun, draft: WizardDraft) -> Review:
        return await review_draft(run, draft, created_in(self.made))

    def _review_page(self, draft: WizardDraft, found: Review, *, anew: bool = False) -> Content:
        """Return the page of a review. With `anew`, nothing was created, because the result differs
        from the one that the user reviewed.
        """
        draft.refused = {}
        reported = ((one.item.found.document.value, one.problems) for one in found.results)
        places = refusals(draft, reported)
        # Opened steps show the problems at their fields.
        draft.refused = by_step(places)
        shown = shown_results(found.results, REVIEWED)
        changes = [
            (one, server_changes(self.access.cluster.kinds.of(one.gvr), one.body, one.stored))
            for one in found.results
            if one.gvr and one.body and one.stored and one.change == "create"
        ]
        context = {
            **self.frame(draft),
            **shown,
            "found": found,
            "places": places,
            "changes": changes,
            "concerns": self.wizard.warnings(draft.state("")),
            "seen": digest_of(found.results) if found.results else "",
            "anew": anew,
            "command": self._command(draft),
            "download_url": self.step_url(DOWNLOAD),
            "incomplete": [
                (step, errors)
                for step in self.wizard.steps
                if (errors := draft.errors(step, own=True))
            ],
        }
        return self._page("wizard/review.html", context, 409 if anew else 200)

    def _run(self) -> ImportRun:
        """Return the run that creates the objects. Those without a namespace get the main object's."""
        run = ImportRun(self.request, self.access, self.read().context.namespace)
        copied = key_of(self.source)
        if copied.name and self.kind.masked:
            run.copied = (self.kind, copied)
        return run

    def _command(self, draft: WizardDraft) -> str:
        where = f" --namespace {draft.context.namespace}" if draft.context.namespace else ""
        name = draft.name or self.kind.segment
        return escape_invisible(f"kubectl apply --server-side{where} --filename {name}.yaml")

    async def _create(self) -> HttpResponseBase:
        run = self._run()
        return await respond_with_progress(self.request, run, self._created(run), self.title, FRAME)

    async def _created(self, run: ImportRun) -> Content | HttpResponse:
        draft = self.read()
        found = await self._check(run, draft)
        if not found.is_able or digest_of(found.results) != self.request.POST.get("seen", ""):
            return self._review_page(draft, found, anew=True)
        attempt = Attempt(self.draft, self.stored_content, self.version, created_in(self.made))
        await attempt.begin()
        run.on_created = attempt.add
        results = await run.write(found.results)
        if all(one.code < 400 for one in results):
            await attempt.finish()
            return HttpResponseRedirect(self.step_url(DONE_STEP))
        now = replace(self, step=CREATING, made=attempt.encoded, version=attempt.version)
        return now._attempt_page(draft, results)

    async def show_attempt(self, draft: WizardDraft) -> HttpResponse:
        """Show which objects of an interrupted attempt exist."""
        found = await self._check(self._run(), draft)
        if found.problems:
            return await self.show_yaml(found.problems)
        made = created_in(self.made) or ()
        results = [attempted(one, made) for one in found.results]
        return await whole_page(self.request, self._attempt_page(draft, results))

    def _attempt_page(self, draft: WizardDraft, results: Sequence[ObjectResult]) -> Content:
        """Return the page that says which objects exist, and offers to continue or to delete them."""
        context = {
            **self.frame(draft),
            **shown_results(results, DONE),
            "title": _("Not all objects were created"),
            "import_url": import_url(self.access.cluster.name),
        }
        return self._page("wizard/refused.html", context, 207)

    async def show_created(self, kept: drafts.StoredDraft) -> HttpResponse:
        """Show the objects that were created, and their states."""
        made = kept.content.made
        rows = created_rows(self.access, created_in(made) or ())
        ready = all(one.is_ready for one in rows)
        context = {
            "title": _("Objects created"),
            "rows": rows,
            "poll": "" if ready else POLL_SECONDS,
            "ready": ready,
            "made": made,
            "import_url": import_url(self.access.cluster.name),
            "list_url": self.list_url,
            "kind": self.kind,
            "url": next((one.url for one in rows if one.url), ""),
        }
        return await whole_page(self.request, self._page("wizard/created.html", context))

    def _page(self, template: str, context: dict[str, Any], status: int = 200) -> Content:
        # The full text of a request that is too large could not be submitted again.
        return Content(template, context, status, self.text[:MOST], FRAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditWizardRequest(WizardRequest):
    """Request to a step of the wizard that edits an object. The draft is the YAML editor's, which
    also reviews and saves the change.
    """

    is_new: ClassVar[bool] = False
    editing: EditRequest

    def step_url(self, step: str) -> str:
        cluster, key, section = self.access.cluster.name, self.editing.key, self.editing.section
        url = edit_form_url(cluster, self.kind.segment, key, step)
        if section and self.wizard.step(step) is None:
            url = f"{url}?{urlencode({'section': section})}"
        return self.editing.path.with_list(url)

    @property
    def draft(self) -> drafts.DraftKey:
        return self.editing.draft

    @property
    def list_url(self) -> str:
        return self.editing.path.object_url

    @property
    def title(self) -> str:
        return self.editing.title

    def content(self) -> drafts.DraftContent | None:
        original = without_marks(self.kind, self.editing.base)
        if self.text == original and not self.version and not any(self.inputs.values()):
            return None
        content = self.stored_content
        return msgspec.structs.replace(content, base=self.editing.base, uid=self.editing.uid)

    def submitted(self) -> Self | None:
        sent, editing = WizardRequest.submitted(self), self.editing.submitted()
        return replace(sent, editing=editing) if sent is not None and editing is not None else None

    async def open(self) -> HttpResponse:
        kept = await self.find_draft()
        if kept is not None and kept.content.base:
            content = kept.content
            text, base, uid = content.text, content.base, content.uid
            inputs, visited, version = content.inputs, content.visited, kept.version
        else:
            live = await self.editing.live()
            base = await in_thread(original_text, self.kind, live)
            text = without_marks(self.kind, base)
            uid, inputs, visited, version = live["metadata"]["uid"], {}, [], 0
        if len(text) > MOST:
            return error_page(self.request, 422, _("This object is too large to edit here."))
        editing = replace(self.editing, base=base, uid=uid)
        asked = replace(
            self, text=text, editing=editing, inputs=inputs, visited=visited, version=version
        )
        return await asked.show()

    async def about(self) -> dict[str, Any]:
        """Return what users need to know about the object before they edit it."""
        action, path = self.editing.action, self.editing.path
        if not self.editing.section:
            action = self.kind.actions_by_name[EditForm.name]
        key = self.editing.key
        asked = ActionRequest(
            self.request, self.kind, action, key, self.access, path.object_url, path
        )
        subject = await find_subject(asked)
        if subject is None:
            return {}
        return {
            "effect": action.effect(self.kind),
            "notes": action.notes(subject),
            "evidence": await action.extra_html(subject, None),
            "cause": await cause_html(asked, subject),
        }

    async def run(self, step: str) -> HttpResponseBase:
        if self.step != REVIEW or step not in EditRequest.steps:
            return await WizardRequest.run(self, step)
        kept = await self.keep()
        return await kept._edited().run(step)

    async def review(self, draft: WizardDraft) -> HttpResponse:
        for step in self.wizard.steps:
            wrong = {node.name for node, _error in draft.errors(step, own=True)}
            if wrong & draft.inputs.get(step.id, {}).keys():
                # The review would show the change without these values.
                return HttpResponseRedirect(self.step_url(step.id))
        return await self._edited().run("review")

    def _edited(self) -> EditRequest:
        """Return the request to review or save the text."""
        form = EditedForm(
            self.step_url(self.wizard.steps[-1].id), self.step_url(REVIEW), self.show_problems
        )
        return replace(
            self.editing, form=form, text=self.text, version=self.version, other=self.other
        )

    async def show_problems(
        self, editing: EditRequest, problems: Sequence[ManifestProblem], status: int
    ) -> HttpResponse:
        """Show the form with problems of its values, each at its field."""
        asked = replace(self, text=editing.text, editing=editing, refused={})
        draft = asked.read()
        places = [refusals(draft, [(draft.main, [one])]) for one in problems]
        draft.refused = by_step([one for found in places for one in found])
        others = [one.text for one, found in zip(problems, places, strict=True) if not found]
        steps = [one for one in self.wizard.steps if one.id in draft.refused]
        step = steps[0] if steps else self.wizard.steps[-1]
        asked = replace(asked, step=step.id)
        return await asked.show_step(draft, step, others=others, status=status)

    def frame(self, draft: WizardDraft | None) -> dict[str, Any]:
        sent = {"base": self.editing.base, "uid": self.editing.uid}
        return {
            **WizardRequest.frame(self, draft),
            "sent": sent,
            "crumbs": self.editing.path.crumbs(),
        }


async def answer_questions(draft: WizardDraft) -> None:
    """Ask the questions of a submitted step, which are limited in time."""
    for asked in draft.questions:
        draft.answers[asked.name] = await asked.ask()


def read_manifests(text: str) -> list[dict[str, Any]]:
    """Parse YAML documents. Raise `InvalidManifest` if one of them is not a mapping."""
    if len(text) > MOST:
        raise InvalidManifest(_("Use at most %(limit_value)s characters.") % {"limit_value": MOST})
    manifests: list[dict[str, Any]] = []
    problems: list[ManifestProblem] = []
    for found in read_documents(text):
        if isinstance(found, UnreadableDocument):
            problems.append(syntax_problem(found.error, found.part.text, found.part.line))
        elif isinstance(found.value, dict):
            manifests.append(found.value)
        elif found.value is not None:
            place = found.place()
            problems.append(
                ManifestProblem(
                    _("This is not a manifest. A manifest needs apiVersion, kind, and metadata."),
                    place.line,
                    place.column,
                )
            )
    if problems:
        raise InvalidManifest(problems)
    return manifests


@page("GET")
async def new_page(request: ConsoleRequest, cluster: Cluster, resource: str) -> HttpResponseBase:
    """Show a new draft. `?namespace=` is the project, `?step=` the step, the first by default. For
    what it starts from, see `console.views.starting_points`.
    """
    asked = await _asked(request, cluster, resource, token_hex(8), "")
    namespace = request.GET.get("namespace", "")
    if namespace and not is_dns_label(namespace):
        raise Http404
    if asked is None:
        given = {name: request.GET[name] for name in PARAMETERS if name in request.GET}
        url = import_url(cluster.name, resource, namespace)
        return HttpResponseRedirect(started_url(url, **given))
    kind, namespace = asked.kind, namespace if asked.kind.scope is Scope.NAMESPACED else ""
    context = WizardContext(asked.access, namespace)
    start = await starting_point(request, asked.access, kind, namespace)
    draft = WizardDraft.of(asked.wizard, context, start.manifests)
    if start.manifests:
        draft.rename(start.name)
    if start.manifests and "copy" in request.GET:
        draft.begin()
    steps = asked.wizard.steps
    step = request.GET.get("step", steps[0].id)
    if asked.wizard.step(step) is None:
        raise Http404
    source = request.GET.get("copy", "") if kind.masked else ""
    asked = replace(asked.written(draft), step=step, project=context.namespace, source=source)
    response = await asked.show()
    response["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters()
@page("GET", "POST", resumes=True)
async def wizard_page(
    request: ConsoleRequest, cluster: Cluster, resource: str, draft: str, step: str
) -> HttpResponseBase:
    """GET shows a step of a draft. POST (`text`, `inputs`, `visited`, `version` and the step's
    fields) saves the draft, and goes where the button `step` leads: `next`, `back`, `go.STEP`,
    `act.ROWS.ACT`, `create` or `discard`. POST to the step `save` is for scripts.
    """
    saves = step == "save" and request.method == "POST"
    step = request.POST.get("at", "") if saves else step
    asked = await _asked(request, cluster, resource, draft, step)
    if asked is None:
        raise Http404
    return await (asked.respond_to_script() if saves else asked.respond())


@sensitive_post_parameters()
@page("GET", "POST", resumes=True)
async def edit_form_page(
    request: ConsoleRequest,
    cluster: Cluster,
    namespace: str,
    resource: str,
    name: str,
    step: str = "",
) -> HttpResponseBase:
    """GET shows a step of the form that edits an object. POST as for `wizard_page`, with `base` and
    `uid` as for `console.views.edit.edit_page`.

    A step can be a section of the wizard. `?section=` is the section of the other steps, such as the
    review.
    """
    editing = edit_request(request, cluster, namespace, resource, name)
    kind = editing.kind
    declared = await wizard_of(kind, editing.access) if not kind.masked else None
    if declared is None:
        raise Http404
    section = request.GET.get("section", "")
    if any(one.id == step for one in declared.sections):
        section = step
    whole = declared.for_existing if declared.creates else None
    wizard = declared.of_section(section) if section else whole
    action = kind.actions_by_name.get(section or editing.action.name)
    if wizard is None or action is None:
        raise Http404
    editing = replace(editing, section=section, action=action)
    asked = EditWizardRequest(
        request=request,
        access=editing.access,
        kind=kind,
        wizard=wizard,
        id="",
        step=step or wizard.steps[0].id,
        project=namespace,
        inputs={},
        editing=editing,
    )
    if step == "save" and request.method == "POST":
        return await replace(asked, step=request.POST.get("at", "")).respond_to_script()
    return await asked.respond()


async def _asked(
    request: ConsoleRequest, cluster: Cluster, resource: str, draft: str, step: str
) -> WizardRequest | None:
    """Return the request, or None if the type has no wizard. Raise `Denied` if the viewer may create
    no such object anywhere.
    """
    kind, access = find_kind(cluster, resource), access_of(request)
    if kind is None or not DRAFT_ID.fullmatch(draft):
        raise Http404
    if access.namespaces_where("create", kind.gvr) == frozenset():
        raise Denied("create", kind.gvr)
    wizard = await wizard_of(kind, access)
    if wizard is None or not wizard.creates:
        return None
    return WizardRequest(
        request=request,
        access=access,
        kind=kind,
        wizard=wizard,
        id=draft,
        step=step,
        inputs={},
    )


async def wizard_of(kind: ResourceKind, access: Access) -> Wizard | None:
    """Return the wizard of a kind. That of a type without a declaration is generated from its
    schema; return None if the viewer may not read the schema.
    """
    if kind.wizard is not None or not isinstance(kind, GenericKind):
        return kind.wizard
    schema = await remembered_schema(access, (kind.gvr.group, kind.gvr.version, kind.custom.kind))
    if schema is None:
        return None
    namespaced = kind.scope is Scope.NAMESPACED
    return await in_thread(
        partial(generated_wizard, kind.gvr, kind.custom.kind, schema, namespaced=namespaced)
    )
