"""YAML editor for one object: editing, review of the dry-run result, and saving (ADR 13).

The form contains all state, so it works in several tabs, without JavaScript, and after signing
in again: the text, and the original text `base`. The differences between both are applied to the
current object. A digest identifies the change that the user has reviewed. Each request first
saves the text as a draft, so that no input is lost if the request fails.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_hex
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from console.audit.trail import AuditUnavailable, record, request_action
from console.drafts import store as drafts
from console.history.store import RecordedChange
from console.kube.apply import (
    DryRunResult,
    Manifest,
    OwnedChange,
    dry_run,
    field_tree,
    owned_changes,
    send_patch,
)
from console.kube.clients import UserClient
from console.kube.errors import ApiError, NotFound
from console.kube.errors import Conflict as Changed
from console.kube.gvr import Key
from console.kube.managedfields import Manager, managers_of, path_text
from console.kube.merging import ABSENT, MergeConflict, diff, json_equal, merge
from console.ui.core.access import Access
from console.ui.core.actions import Action
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.links import draft_url, edit_url, object_url, openapi_url
from console.ui.core.manifests import MASK
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response, success_response, wants_status
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.diff import Difference, difference, order_like
from console.ui.editing.manifest import (
    MOST,
    InvalidManifest,
    ManifestProblem,
    ParsedManifest,
    comparable_manifest,
    editable,
    editable_text,
    masked_values,
    parse_manifest,
    unmasked,
)
from console.ui.editing.yaml_text import plain_yaml, yaml_text
from console.ui.lists.rows import short_hash
from console.views import draft_responses, problems
from console.views.actions import MAX_UID, find_action
from console.views.authorization import PermissionsUnconfirmed, check_action
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.history import find_change, record_change
from console.views.line_problems import is_caused_by_text, line_problems
from console.views.page import page

#: Number of retries if the object changes in fields outside the text, such as its status.
MAX_TRIES = 4
STEPS = frozenset({"review", "save", "edit"})
#: Maximum number of displayed fields of other managers, characters of a displayed value, and
#: conflicts that a user can resolve.
MAX_OWNERS, MAX_VALUE_LENGTH, MAX_CONFLICTS = 20, 500, 100
MINE, THEIRS = "mine", "theirs"
#: Placeholders for the texts in the rendered page. Random, so that no content can contain them.
_BASE, _TEXT = (f"{name}-{token_hex(16)}" for name in ("base", "text"))


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Object named in the URL, which may not exist. `other` is the user's draft, if it differs from
    the text of this request.
    """

    request: ConsoleRequest
    kind: ResourceKind
    action: Action
    key: Key
    access: Access
    other: drafts.StoredDraft | None = None

    @property
    def client(self) -> UserClient:
        return self.access.cluster.runtime.as_user(self.access.identity)

    @property
    def url(self) -> str:
        return edit_url(self.access.cluster.name, self.kind.segment, self.key)

    @property
    def draft(self) -> drafts.DraftKey:
        return drafts.DraftKey(
            self.request.account or "", self.access.cluster.name, self.kind.segment, *self.key
        )

    @property
    def words(self) -> dict[str, object]:
        return {"kind": self.kind.singular, "name": escape_invisible(self.key.name)}

    async def live(self) -> Manifest:
        """Read the object with the viewer's permissions. Raise `ApiError`."""
        return await self.client.get(
            self.kind.gvr, namespace=self.key.namespace, name=self.key.name
        )


@dataclass(frozen=True, slots=True)
class SubmittedText:
    """Submitted form.

    - `text`: edited text.
    - `base`: text when the editor was opened.
    - `reviewed_digest`: digest of the reviewed change.
    - `version`: draft version the page was loaded with, 0 for none.
    """

    text: str
    base: str
    uid: str
    reviewed_digest: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class DesiredState:
    """Desired state.

    `manifest` is the desired object with masked values restored. `merged` is True if other users
    have changed the object; `sent.text` then contains their changes, too.
    """

    sent: SubmittedText
    found: ParsedManifest
    manifest: Manifest
    merged: bool


@dataclass(frozen=True, slots=True)
class EditPreview:
    """Preview of the change. Two previews with the same changes have the same `digest`, regardless
    of other fields.
    """

    difference: Difference
    digest: str
    owned: Sequence[OwnedChange]


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Merge conflict for display.

    `name` is the form field, which changes if `theirs` changes. `owner` is the field manager.
    `chosen` is the user's choice, or "".
    """

    name: str
    path: str
    mine: str
    theirs: str
    owner: str
    chosen: str


class UnresolvedConflicts(Exception):
    """The text and the object changed the same fields, and the user must resolve the conflicts.

    `rows` contains at most `MAX_CONFLICTS` + 1 conflicts.
    """

    def __init__(self, rows: Sequence[ConflictRow]) -> None:
        super().__init__()
        self.rows = rows


@sensitive_post_parameters()
@page("GET", "POST")
async def edit_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """GET shows the editor. POST (`text`, `base`, `uid`) runs a `step`.

    `review` shows the change, `save` saves it if it was reviewed (`reviewed_digest`), `edit` shows the
    editor again, and `discard` deletes the draft. `?draft=continue` loads the draft. The fields
    `conflict-…` contain the chosen side of each merge conflict.
    """
    asked = _asked(request, cluster, namespace, resource, name)
    try:
        response = await (_post(asked) if request.method == "POST" else _open(asked))
    except RecursionError:
        return error_page(request, 422, problems.too_deep())
    response["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters()
@page("POST")
async def draft_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """POST (`text`, `base`, `uid`, `version`) saves the draft and returns its new version."""
    asked = _asked(request, cluster, namespace, resource, name)
    sent = _sent(request)
    if sent is None or not _fits(sent):
        return status_response(400, _incomplete())
    try:
        kept = await _keep(asked, sent)
    except drafts.DraftConflict:
        return draft_responses.draft_conflict()
    return draft_responses.draft_saved(kept.version)


def _asked(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> EditRequest:
    """Return the object of the URL. Raise `Denied`.

    Unconfirmed permissions are accepted here, because otherwise the user's text would be lost.
    """
    kind, action = find_action(cluster, namespace, resource, "edit")
    asked = EditRequest(request, kind, action, Key(namespace, name), access_of(request))
    with suppress(PermissionsUnconfirmed):
        check_action(kind, action, asked.access, asked.key)
    return asked


async def _open(asked: EditRequest) -> HttpResponse:
    kept = await sync_to_async(drafts.find)(asked.draft)
    typed = _of_draft(kept) if kept is not None else None
    try:
        check_action(asked.kind, asked.action, asked.access, asked.key)
        live = await asked.live()
    except (ApiError, PermissionsUnconfirmed) as error:
        if typed is not None:
            # The draft can still be read and copied.
            code, text = _error_response(asked, error)
            return await _editor(asked, typed, [ManifestProblem(text)], status=code, kept=kept)
        if not isinstance(error, NotFound):
            raise
        words = {"kind": asked.kind.singular, "key": escape_invisible(str(asked.key))}
        return error_page(asked.request, 404, _("No %(kind)s %(key)s found.") % words)
    if typed is not None and asked.request.GET.get("draft") == "continue":
        return await _editor(asked, typed, kept=kept)
    base = await in_thread(editable_text, asked.kind, live)
    if len(base) > MOST:
        return _too_large(asked)
    uid = live["metadata"]["uid"]
    text = base
    if "undo" in asked.request.GET:
        number = asked.request.GET["undo"]
        change = await find_change(asked.access, asked.kind, asked.key, uid, number)
        if change is None:
            raise Http404
        text = await in_thread(_undone, asked.kind, live, change)
        if len(text) > MOST:
            return _too_large(asked)
    return await _editor(replace(asked, other=kept), SubmittedText(text, base, uid))


def _too_large(asked: EditRequest) -> HttpResponse:
    return error_page(asked.request, 422, _("This object is too large to edit here."))


def _undone(kind: ResourceKind, live: Manifest, change: RecordedChange) -> str:
    """Return the YAML of the object without the given change, but with all later changes."""
    states = change.after, change.before, editable(kind, live)
    return yaml_text(kind, merge(*states, field_tree(live), lambda conflict: conflict.mine))


def _error_response(
    asked: EditRequest, error: ApiError | PermissionsUnconfirmed
) -> tuple[int, str]:
    """Return the status and text of an error."""
    if isinstance(error, PermissionsUnconfirmed):
        return 503, str(error)
    return error.page_code, problems.error_text(error, gone=_gone(asked))


def _of_draft(kept: drafts.StoredDraft) -> SubmittedText:
    return SubmittedText(
        kept.content.text, kept.content.base, kept.content.uid, version=kept.version
    )


async def _post(asked: EditRequest) -> HttpResponse:
    if asked.request.POST.get("step") == "discard":
        await sync_to_async(drafts.delete_draft)(asked.draft)
        return HttpResponseRedirect(asked.url)
    sent = _sent(asked.request)
    step = asked.request.POST.get("step")
    if sent is None or step not in STEPS:
        return error_page(asked.request, 400, _incomplete())
    try:
        sent = await _keep(asked, sent)
    except drafts.DraftConflict:
        asked = replace(asked, other=await sync_to_async(drafts.find)(asked.draft))
    response = await _run_step(asked, sent, step)
    if response.status_code == 302:
        # A redirect means that the object was saved.
        await sync_to_async(drafts.delete_draft)(asked.draft)
    return response


async def _keep(asked: EditRequest, sent: SubmittedText) -> SubmittedText:
    """Save the draft and return `sent` with the new draft version. Raise `Newer`.

    Too long and unchanged texts are not saved.
    """
    if not _fits(sent) or (sent.text == sent.base and not sent.version):
        return sent
    content = drafts.DraftContent(sent.text, sent.base, sent.uid)
    version = await sync_to_async(drafts.store_draft)(asked.draft, content, sent.version)
    return replace(sent, version=version)


def _fits(sent: SubmittedText) -> bool:
    return len(sent.text) <= MOST and len(sent.base) <= MOST


async def _run_step(asked: EditRequest, sent: SubmittedText, step: str) -> HttpResponse:
    try:
        check_action(asked.kind, asked.action, asked.access, asked.key)
    except PermissionsUnconfirmed as error:
        return await _editor(asked, sent, [ManifestProblem(str(error))], status=503)
    if step == "edit":
        return await _editor(asked, sent)
    try:
        return await _review(asked, sent, save=step == "save")
    except InvalidManifest as error:
        return await _editor(asked, sent, error.problems, status=400)
    except UnresolvedConflicts as error:
        if len(error.rows) > MAX_CONFLICTS:
            return await _editor(asked, sent, [ManifestProblem(_far_apart())], status=409)
        context = {**_context(asked), "sent": sent, "rows": error.rows}
        return await _page(asked, "console/edit_conflicts.html", context, 409)


def _sent(request: ConsoleRequest) -> SubmittedText | None:
    """Return the submitted form, or None if it is invalid."""
    uid, version = request.POST.get("uid", ""), draft_responses.submitted_version(request)
    if not uid or len(uid) > MAX_UID or not uid.isprintable() or version is None:
        return None
    # Browsers submit CRLF line breaks.
    text, base = (request.POST.get(name, "").replace("\r\n", "\n") for name in ("text", "base"))
    return SubmittedText(text, base, uid, request.POST.get("seen", ""), version) if base else None


async def _review(asked: EditRequest, sent: SubmittedText, *, save: bool) -> HttpResponse:
    """Review or save the change. Raise `InvalidManifest` or `UnresolvedConflicts`."""
    hide: Callable[[str], str] = str
    wanted: DesiredState | None = None
    try:
        for _try in range(MAX_TRIES):
            live = await asked.live()
            if live["metadata"]["uid"] != sent.uid:
                return await _editor(asked, sent, [ManifestProblem(_another())], status=409)
            hide = _hiding(asked.kind, live)
            wanted = await in_thread(_wanted, asked, sent, live)
            try:
                trial = await dry_run(
                    asked.client, asked.kind.gvr, asked.key, live, wanted.manifest
                )
                outlook = await in_thread(_outlook, asked.kind, live, wanted, trial)
                if not save or outlook.digest != sent.reviewed_digest:
                    return await _confirm(asked, wanted, trial, outlook, anew=save)
                await _save(asked, live, trial)
            except Changed:
                # The object changed after it was read. The change may affect fields of the text, or
                # only the status.
                continue
            return _saved(asked)
        return await _editor(asked, sent, [ManifestProblem(_busy())], status=409)
    except NotFound:
        return await _editor(asked, sent, [ManifestProblem(_gone(asked))], status=404)
    except (ApiError, AuditUnavailable) as error:
        return await _refused(asked, sent, wanted, error, hide)


def _wanted(asked: EditRequest, sent: SubmittedText, live: Manifest) -> DesiredState:
    """Compute the desired state. Raise `InvalidManifest` or `UnresolvedConflicts`."""
    kind, key = asked.kind, asked.key
    found = parse_manifest(sent.text, kind, key, sent.uid)
    now = editable_text(kind, live)
    if sent.base == now:
        return DesiredState(sent, found, unmasked(found, live, kind), False)
    base = parse_manifest(sent.base, kind, key, sent.uid).manifest
    rows: list[ConflictRow] = []
    managers = managers_of(live)

    def choose(conflict: MergeConflict) -> Any:
        rows.append(_row(asked.request, conflict, managers))
        if len(rows) > MAX_CONFLICTS:
            raise UnresolvedConflicts(rows)
        return conflict.theirs if rows[-1].chosen == THEIRS else conflict.mine

    both = merge(base, found.manifest, editable(kind, live), field_tree(live), choose)
    if not all(row.chosen for row in rows):
        raise UnresolvedConflicts(rows)
    sent = replace(sent, base=now)
    merged = not json_equal(both, found.manifest)
    if merged:
        sent = replace(sent, text=yaml_text(kind, both))
        found = replace(parse_manifest(sent.text, kind, key, sent.uid), ignored=found.ignored)
    return DesiredState(sent, found, unmasked(found, live, kind), merged)


def _outlook(
    kind: ResourceKind, live: Manifest, wanted: DesiredState, trial: DryRunResult
) -> EditPreview:
    before, after = editable(kind, live), comparable_manifest(kind, live, trial.result)
    differing = sorted(
        repr((one.path, one.old, one.new)) for one in diff(before, after, field_tree(live))
    )
    return EditPreview(
        difference(wanted.sent.base, yaml_text(kind, order_like(after, before))),
        sha256("\n".join(differing).encode()).hexdigest(),
        tuple(owned_changes(live, wanted.manifest)),
    )


async def _save(asked: EditRequest, live: Manifest, trial: DryRunResult) -> None:
    verb, subresource = asked.action.audit_action
    recorded = request_action(
        asked.request,
        verb,
        asked.kind.gvr,
        namespace=asked.key.namespace,
        name=asked.key.name,
        subresource=subresource,
    )
    async with record(recorded) as entry:
        after = await send_patch(
            asked.client, asked.kind.gvr, asked.key, trial.write, audit_id=entry.audit_id
        )
    uid = live["metadata"]["uid"]
    await record_change(asked.kind, recorded, entry.audit_id, uid, live, after)


def _saved(asked: EditRequest) -> HttpResponse:
    text = _("Saved %(kind)s %(name)s.") % asked.words
    if wants_status(asked.request):
        return success_response(text)
    messages.success(asked.request, text)
    return HttpResponseRedirect(
        object_url(asked.access.cluster.name, asked.kind.segment, asked.key)
    )


async def _refused(
    asked: EditRequest,
    sent: SubmittedText,
    wanted: DesiredState | None,
    error: problems.Problem,
    hide: Callable[[str], str],
) -> HttpResponse:
    """Render the editor with the error. Some errors that kube-apiserver reports as internal are
    caused by the text.
    """
    if isinstance(error, ApiError) and wanted is not None and is_caused_by_text(error):
        found = line_problems(error, wanted.found, hide)
        return await _editor(asked, wanted.sent, found, status=422)
    text = hide(problems.error_text(error, changed=_busy()))
    return await _editor(asked, sent, [ManifestProblem(text)], status=error.page_code)


def _hiding(kind: ResourceKind, live: Manifest) -> Callable[[str], str]:
    secrets = sorted(masked_values(kind, live), key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, MASK)
        return text

    return hide


async def _editor(
    asked: EditRequest,
    sent: SubmittedText,
    found: Sequence[ManifestProblem] = (),
    *,
    status: int = 200,
    kept: drafts.StoredDraft | None = None,
) -> HttpResponse:
    """Render the editor. `kept` is the loaded draft."""
    if found and wants_status(asked.request):
        causes = tuple((str(one.line), one.text) for one in found)
        return status_response(status, found[0].text, causes=causes)
    schema = openapi_url(asked.access.cluster.name, asked.kind.gvr, asked.kind.api_kind)
    context = {
        **_context(asked),
        "sent": sent,
        "problems": found,
        "schema_url": schema,
        "draft_url": draft_url(asked.access.cluster.name, asked.kind.segment, asked.key),
        "kept": kept,
        "newer": draft_responses.draft_conflict_text(),
    }
    return await _page(asked, "console/edit.html", context, status)


async def _confirm(
    asked: EditRequest,
    wanted: DesiredState,
    trial: DryRunResult,
    outlook: EditPreview,
    *,
    anew: bool,
) -> HttpResponse:
    """Render the review. `anew`: the user has reviewed a different change before."""
    owned = [(_path(one.change.path), _names(one.owners)) for one in outlook.owned]
    warnings = [*(one.text for one in wanted.found.ignored), *map(escape_invisible, trial.warnings)]
    context = {
        **_context(asked),
        "sent": wanted.sent,
        "seen": outlook.digest,
        "difference": outlook.difference,
        "owned": owned[:MAX_OWNERS],
        "owned_more": len(owned[MAX_OWNERS:]),
        "warnings": warnings,
        "merged": wanted.merged,
        "anew": anew,
        "command": escape_invisible(asked.action.command(asked.kind, asked.key, {})),
    }
    return await _page(asked, "console/edit_review.html", context, 409 if anew else 200)


async def _page(
    asked: EditRequest, template: str, context: dict[str, Any], status: int
) -> HttpResponse:
    """Render a page and insert the texts of `sent` afterwards.

    Templates would copy the large texts once per enclosing block.
    """
    sent = context["sent"]
    around = {**context, "sent": replace(sent, text=_TEXT, base=_BASE)}
    html = render_to_string(template, around, asked.request)
    return HttpResponse(await in_thread(_filled, html, sent), status=status)


def _filled(html: str, sent: SubmittedText) -> bytes:
    return html.replace(_BASE, escape(sent.base)).replace(_TEXT, escape(sent.text)).encode()


def _context(asked: EditRequest) -> dict[str, Any]:
    words = asked.words
    return {
        "title": _("Edit %(kind)s %(name)s") % words,
        "namespace": escape_invisible(asked.key.namespace),
        "edit_url": asked.url,
        "other": asked.other,
        "cancel_url": object_url(asked.access.cluster.name, asked.kind.segment, asked.key),
    }


def _path(path: tuple[str, ...]) -> str:
    return escape_invisible(path_text(path).removeprefix("."))


def _names(managers: Sequence[Manager]) -> str:
    """Return the names of field managers, for example `kubectl, kube-controller-manager (scale)`."""
    found = (
        f"{one.name or '?'} ({one.subresource})" if one.subresource else one.name or "?"
        for one in managers
    )
    return escape_invisible(", ".join(dict.fromkeys(found)))


def _row(
    request: ConsoleRequest, conflict: MergeConflict, managers: Sequence[Manager]
) -> ConflictRow:
    name = f"conflict-{short_hash((conflict.path, conflict.theirs))}"
    chosen = request.POST.get(name, "")
    managing = tuple(one for one in managers if one.owns(conflict.path))
    return ConflictRow(
        name=name,
        path=_path(conflict.path),
        mine=_value(conflict.mine),
        theirs=_value(conflict.theirs),
        owner=_names(managing),
        chosen=chosen if chosen in (MINE, THEIRS) else "",
    )


def _value(value: Any) -> str:
    """Return a value as YAML, or "" if it is absent."""
    text = "" if value is ABSENT else plain_yaml(value).removesuffix("...\n").strip()
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"


def _another() -> str:
    return _("The object that you opened was replaced by another object with the same name.")


def _far_apart() -> str:
    text = _(
        "This object changed after you opened it, and you edited more than %(most)s of the "
        "changed fields."
    )
    return text % {"most": MAX_CONFLICTS}


def _gone(asked: EditRequest) -> str:
    return _("The %(kind)s %(name)s no longer exists. Your text is kept below.") % asked.words


def _incomplete() -> str:
    return _("The form is incomplete. Reload the page.")


def _busy() -> str:
    return _("This object changes too often to save it now. Try again.")
