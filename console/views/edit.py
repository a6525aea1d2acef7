"""YAML editor for one object: editing, review of the dry-run result, and saving (ADR 13).

The form contains the text and the original text `base`, which has marks instead of placeholders for
masked values. The differences between both are applied to the current object. A digest identifies the
change that the user has reviewed.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from console.audit.trail import AuditUnavailable, record, request_action
from console.drafts import store as drafts
from console.kube.apply import (
    DryRunResult,
    Manifest,
    dry_run,
    field_tree,
    send_patch,
    writable_content,
)
from console.kube.clients import UserClient
from console.kube.errors import ApiError, NotFound
from console.kube.errors import Conflict as Changed
from console.kube.gvr import Key
from console.kube.managedfields import Manager, Path, managers_of
from console.kube.merging import ABSENT, MergeConflict, json_equal, merge
from console.ui.core.actions import Action
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.links import draft_url, edit_url, openapi_url
from console.ui.core.manifests import MASK
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response, wants_status
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.manifest import (
    MOST,
    InvalidManifest,
    ManifestProblem,
    ParsedManifest,
    marked,
    masked_at,
    masked_values,
    original_text,
    parse_manifest,
    unmasked,
    with_marks,
    without_marks,
)
from console.ui.editing.yaml_text import plain_yaml, yaml_text
from console.ui.lists.rows import short_hash
from console.views import problems
from console.views.actions import MAX_UID, find_action
from console.views.authorization import PermissionsUnconfirmed, check_action
from console.views.back_link import ObjectPath, object_path
from console.views.change_preview import names_of, preview_change, shown_path
from console.views.draft_pages import (
    DraftPage,
    newer_draft_text,
    submitted_proposal,
    submitted_version,
)
from console.views.errors import error_page, object_not_found
from console.views.guard import access_of
from console.views.history import (
    describe_change,
    find_change,
    is_change_number,
    record_change,
    undo_title,
)
from console.views.line_problems import is_caused_by_text, line_problems
from console.views.page import page, success_redirect
from console.views.wizard_review import change_quotas

#: Number of attempts to save while others change the object.
MAX_TRIES = 10
#: Maximum characters of a displayed value, and number of conflicts that a user can resolve.
MAX_VALUE_LENGTH, MAX_CONFLICTS = 500, 100
MINE, THEIRS, ORIGINAL = "mine", "theirs", "original"
#: Placeholders for the texts in the rendered page. Random, so that no content can contain them.
_BASE, _TEXT = (f"{name}-{token_hex(16)}" for name in ("base", "text"))


@dataclass(frozen=True, slots=True)
class EditedForm:
    """The form that changed the text, instead of the editor.

    - `url`: URL of the form. `review_url`: URL of the review and of the page with conflicts.
    - `show`: shows the form with problems of the text, which it can change. The other argument is the
      status code.
    """

    url: str
    review_url: str
    show: Callable[["EditRequest", Sequence[ManifestProblem], int], Awaitable[HttpResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest(DraftPage):
    """Submitted form and object named in the URL, which may not exist. `reviewed_digest` is the
    digest of the reviewed change. `undo` is the number of the change to undo, or "".
    """

    steps, max_length = frozenset({"review", "save", "edit"}), MOST
    kind: ResourceKind
    action: Action
    key: Key
    uid: str = ""
    reviewed_digest: str = ""
    undo: str = ""
    #: Name of the action whose fields are edited, or "" for all.
    section: str = ""
    form: EditedForm | None = None

    @property
    def client(self) -> UserClient:
        return self.access.cluster.runtime.as_user(self.access.identity)

    @property
    def path(self) -> ObjectPath:
        return object_path(self.request, self.kind, self.access, self.key)

    @property
    def url(self) -> str:
        if self.form is not None:
            return self.form.review_url
        return self.path.with_list(edit_url(self.access.cluster.name, self.kind.segment, self.key))

    @property
    def draft(self) -> drafts.DraftKey:
        namespace, name = self.key
        # No object has a name with this character.
        name = f"{name}#{self.section}" if self.section else name
        account = self.request.account or ""
        return drafts.DraftKey(
            account, self.access.cluster.name, self.kind.segment, namespace, name
        )

    @property
    def title(self) -> str:
        if self.undo:
            return undo_title(self.kind, self.key)
        if self.section:
            return self.action.title(self.kind, escape_invisible(self.key.name))
        return _("Edit %(kind)s %(name)s") % self.words

    @property
    def words(self) -> dict[str, object]:
        return {"kind": self.kind.singular, "name": escape_invisible(self.key.name)}

    def content(self) -> drafts.DraftContent | None:
        if self.text == without_marks(self.kind, self.base) and not self.version:
            return None
        return drafts.DraftContent(self.text, self.base, self.uid, proposal=self.proposal)

    def submitted(self) -> "EditRequest | None":
        post, version = self.request.POST, submitted_version(self.request)
        uid = post.get("uid", "")
        if not uid or len(uid) > MAX_UID or not uid.isprintable() or version is None:
            return None
        # Browsers submit CRLF line breaks.
        text, base = (post.get(name, "").replace("\r\n", "\n") for name in ("text", "base"))
        sent = replace(self, text=text, base=base, uid=uid, version=version)
        sent = replace(sent, reviewed_digest=post.get("seen", ""), undo=post.get("undo", ""))
        sent = replace(sent, proposal=submitted_proposal(self.request))
        return sent if base and (not sent.undo or is_change_number(sent.undo)) else None

    async def live(self) -> Manifest:
        """Read the object with the viewer's permissions. Raise `ApiError`."""
        return await self.client.get(
            self.kind.gvr, namespace=self.key.namespace, name=self.key.name
        )

    async def open(self) -> HttpResponse:
        kept = await self.find_draft()
        drafted = None
        if kept is not None:
            text, base, uid = kept.content.text, kept.content.base, kept.content.uid
            drafted = replace(self, text=text, base=base, uid=uid, version=kept.version, kept=kept)
            drafted = replace(drafted, proposal=kept.content.proposal)
        try:
            check_action(self.kind, self.action, self.access, self.key)
            live = await self.live()
        except (ApiError, PermissionsUnconfirmed) as error:
            if drafted is not None:
                # The draft can still be read and copied.
                code, text = 503, str(error)
                if isinstance(error, ApiError):
                    code, text = error.page_code, problems.error_text(error, gone=_gone(self))
                return await _editor(drafted, [ManifestProblem(text)], status=code)
            if not isinstance(error, NotFound):
                raise
            return object_not_found(self.request, self.kind, self.key)
        if drafted is not None and self.request.GET.get("draft") == "continue":
            return await _editor(drafted)
        uid = live["metadata"]["uid"]
        base = await in_thread(original_text, self.kind, live)
        if len(base) <= MOST and "undo" in self.request.GET:
            number = self.request.GET["undo"]
            change = await find_change(self.access, self.kind, self.key, uid, number)
            if change is None:
                raise Http404
            # The reverse change is merged with later changes like any other edit.
            states = change.before, change.after
            text, base = [await in_thread(yaml_text, self.kind, one) for one in states]
            asked = replace(self, other=kept, text=text, base=base, uid=uid, undo=number)
            return await asked.run("review")
        if len(base) > MOST:
            return error_page(self.request, 422, _("This object is too large to edit here."))
        text = without_marks(self.kind, base)
        return await _editor(replace(self, other=kept, text=text, base=base, uid=uid))

    async def run(self, step: str) -> HttpResponse:
        try:
            check_action(self.kind, self.action, self.access, self.key)
        except PermissionsUnconfirmed as error:
            return await _editor(self, [ManifestProblem(str(error))], status=503)
        if step == "edit" and self.form is not None and self.other is None:
            return HttpResponseRedirect(self.form.url)
        if step == "edit":
            return await _editor(self)
        try:
            response = await _review(self, save=step == "save")
        except InvalidManifest as error:
            return await _editor(self, error.problems, status=error.status)
        except UnresolvedConflicts as error:
            if len(error.rows) > MAX_CONFLICTS:
                text = _(
                    "This object changed after you opened it, and you edited more than %(most)s of "
                    "the changed fields."
                )
                text %= {"most": MAX_CONFLICTS}
                return await _editor(self, [ManifestProblem(text)], status=409)
            return await _page(self, "console/edit_conflicts.html", {"rows": error.rows}, 409)
        if response.status_code == 302:
            # A redirect means that the object was saved.
            await self.delete_draft()
        return response


@dataclass(frozen=True, slots=True)
class DesiredState:
    """Desired state.

    `manifest` is the desired object with masked values restored. `merged` is True if other users
    have changed the object; the text of `asked` then contains their changes, too.
    """

    asked: EditRequest
    found: ParsedManifest
    manifest: Manifest
    merged: bool


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Merge conflict for display.

    `name` is the form field, which changes if `theirs` changes. `original` is the value when the user
    opened the object. `owner` is the field manager.
    `chosen` is the user's choice, or "".
    """

    name: str
    path: str
    mine: str
    theirs: str
    original: str
    owner: str
    chosen: str

    @property
    def has_original(self) -> bool:
        """Return False for a masked value: the form does not contain it."""
        return MASK not in self.original


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
) -> HttpResponseBase:
    """GET shows the editor. POST (`text`, `base`, `uid`) runs a `step`.

    `review` shows the change, `save` saves it if it was reviewed (`reviewed_digest`), `edit` shows the
    editor again, and `discard` deletes the draft. `?draft=continue` loads the draft, and `?undo=`
    reviews the reverse of the recorded change with this number. The fields `conflict-…` contain the
    chosen side of each merge conflict.
    """
    try:
        return await edit_request(request, cluster, namespace, resource, name).respond()
    except RecursionError:
        return error_page(request, 422, problems.too_deep())


@sensitive_post_parameters()
@page("POST")
async def draft_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """POST (`text`, `base`, `uid`, `version`) saves the draft and returns its new version."""
    return await edit_request(request, cluster, namespace, resource, name).respond_to_script()


def edit_request(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> EditRequest:
    """Return the object of the URL. Raise `Denied`.

    Unconfirmed permissions are accepted here, because otherwise the user's text would be lost.
    """
    kind, action = find_action(cluster, namespace, resource, "edit")
    key, access = Key(namespace, name), access_of(request)
    with suppress(PermissionsUnconfirmed):
        check_action(kind, action, access, key)
    return EditRequest(request=request, access=access, kind=kind, action=action, key=key)


async def _review(asked: EditRequest, *, save: bool) -> HttpResponse:
    """Review or save the change. Raise `InvalidManifest` or `UnresolvedConflicts`."""
    hide: Callable[[str], str] = str
    wanted: DesiredState | None = None
    busy = _("This object changes too often to save it now. Try again.")
    try:
        for left in reversed(range(MAX_TRIES)):
            live = await asked.live()
            if live["metadata"]["uid"] != asked.uid:
                text = _(
                    "The object that you opened was replaced by another object with the same name."
                )
                raise InvalidManifest(text, 409)
            hide = _hiding(asked.kind, live)
            wanted = await in_thread(_wanted, asked, live)
            try:
                trial = await dry_run(
                    asked.client, asked.kind.gvr, asked.key, live, wanted.manifest
                )
                preview = await in_thread(_preview, wanted, live, trial)
                if not save or preview["seen"] != asked.reviewed_digest:
                    # The dry run also contains changes of others after `live` was read.
                    if left and await _has_changed(asked, live):
                        continue
                    # `anew`: the user has reviewed a different change before.
                    quotas = await change_quotas(asked.access, asked.kind.gvr, live, trial.result)
                    context = {**preview, "anew": save, "quotas": quotas}
                    status = 409 if save else 200
                    return await _page(wanted.asked, "console/edit_review.html", context, status)
                await _save(asked, live, trial)
            except Changed:
                # The object changed after it was read. The change may affect fields of the text.
                continue
            text = _("Saved %(kind)s %(name)s.") % asked.words
            return success_redirect(asked.request, text, asked.path.object_url)
        raise InvalidManifest(busy, 409)
    except NotFound as error:
        raise InvalidManifest(_gone(asked), 404) from error
    except (ApiError, AuditUnavailable) as error:
        # Some errors that kube-apiserver reports as internal are caused by the text.
        if isinstance(error, ApiError) and wanted is not None and is_caused_by_text(error):
            found = await in_thread(line_problems, error, wanted.found, hide)
            return await _editor(wanted.asked, found, status=422)
        text = hide(problems.error_text(error, changed=busy))
        raise InvalidManifest(text, error.page_code) from error


async def _has_changed(asked: EditRequest, live: Manifest) -> bool:
    """Return True if more than the status of the object changed since `live` was read."""
    states = writable_content(await asked.live()), writable_content(live)
    return not await in_thread(json_equal, *states)


def _wanted(asked: EditRequest, live: Manifest) -> DesiredState:
    """Compute the desired state. Raise `InvalidManifest` or `UnresolvedConflicts`."""
    kind, key = asked.kind, asked.key
    found = parse_manifest(asked.text, kind, key, asked.uid)
    now = original_text(kind, live)
    if asked.base == now:
        return DesiredState(asked, found, unmasked(found, live, kind), False)
    base = parse_manifest(asked.base, kind, key, asked.uid).manifest
    rows: list[ConflictRow] = []
    managers = managers_of(live)

    def choose(conflict: MergeConflict) -> Any:
        rows.append(_row(asked, conflict, managers))
        if len(rows) > MAX_CONFLICTS:
            raise UnresolvedConflicts(rows)
        sides = {THEIRS: conflict.theirs, ORIGINAL: conflict.base}
        return sides.get(rows[-1].chosen, conflict.mine)

    mine, theirs = with_marks(found.manifest, base), marked(kind, live)
    both = without_marks(kind, merge(base, mine, theirs, field_tree(live), choose))
    if not all(row.chosen for row in rows):
        raise UnresolvedConflicts(rows)
    asked = replace(asked, base=now)
    merged = not json_equal(both, found.manifest)
    if merged:
        asked = replace(asked, text=yaml_text(kind, both))
        parsed = parse_manifest(asked.text, kind, key, asked.uid)
        found = replace(parsed, ignored=found.ignored)
    return DesiredState(asked, found, unmasked(found, live, kind), merged)


def _preview(wanted: DesiredState, live: Manifest, trial: DryRunResult) -> dict[str, Any]:
    """Return the template context of the review."""
    asked, kind = wanted.asked, wanted.asked.kind
    preview = preview_change(kind, live, trial.result, wanted.manifest)
    return {
        **{field: getattr(preview, field) for field in preview.__slots__},
        "warnings": [
            *(one.text for one in wanted.found.ignored),
            *map(escape_invisible, trial.warnings),
        ],
        "merged": wanted.merged,
        "command": escape_invisible(
            asked.action.command(
                kind, asked.key, {"before": writable_content(live), "after": wanted.manifest}
            )
        ),
    }


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
            asked.client, asked.kind.gvr, asked.key, live, trial.write, audit_id=entry.audit_id
        )
        await describe_change(entry, asked.kind, asked.uid, live, after)
    await record_change(asked.kind, recorded, entry.audit_id, asked.uid, live, after)


def _hiding(kind: ResourceKind, live: Manifest) -> Callable[[str], str]:
    secrets = sorted(masked_values(kind, live), key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, MASK)
        return text

    return hide


async def _editor(
    asked: EditRequest, found: Sequence[ManifestProblem] = (), *, status: int = 200
) -> HttpResponse:
    """Render the editor, or the form that changed the text."""
    if asked.form is not None and found:
        return await asked.form.show(asked, found, status)
    if found and wants_status(asked.request):
        causes = tuple((str(one.line), one.text) for one in found)
        return status_response(status, found[0].text, causes=causes)
    cluster, kind = asked.access.cluster.name, asked.kind
    context = {
        "problems": found,
        "schema_url": openapi_url(cluster, kind.gvr, kind.api_kind),
        "draft_url": draft_url(cluster, kind.segment, asked.key),
        "kept": asked.kept,
        "newer": newer_draft_text(),
    }
    return await _page(asked, "console/edit.html", context, status)


async def _page(
    asked: EditRequest, template: str, context: dict[str, Any], status: int
) -> HttpResponse:
    """Render a page and insert the texts afterwards.

    Templates would copy the large texts once per enclosing block.
    """
    path = asked.path
    common = {
        "title": asked.title,
        "namespace": escape_invisible(asked.key.namespace),
        "crumbs": path.crumbs(),
        "edit_url": asked.url,
        "is_form": asked.form is not None,
        "continue_url": asked.form.url
        if asked.form is not None
        else f"{asked.url}{'?' if path.query is None else '&'}draft=continue",
        "other": asked.other,
        "cancel_url": path.object_url,
        "sent": replace(asked, text=_TEXT, base=_BASE),
    }
    html = render_to_string(template, {**common, **context}, asked.request)

    def filled() -> bytes:
        texts = html.replace(_BASE, escape(asked.base)).replace(_TEXT, escape(asked.text))
        return texts.encode()

    return HttpResponse(await in_thread(filled), status=status)


def _row(asked: EditRequest, conflict: MergeConflict, managers: Sequence[Manager]) -> ConflictRow:
    name = f"conflict-{short_hash((conflict.path, conflict.theirs))}"
    chosen = asked.request.POST.get(name, "")
    original = _value(asked.kind, conflict.path, conflict.base)
    sides = (MINE, THEIRS, *(() if MASK in original else (ORIGINAL,)))
    managing = tuple(one for one in managers if one.owns(conflict.path))
    return ConflictRow(
        name=name,
        path=shown_path(conflict.path),
        mine=_value(asked.kind, conflict.path, conflict.mine, changed=_("(new value)")),
        theirs=_value(asked.kind, conflict.path, conflict.theirs),
        original=original,
        owner=names_of(managing),
        chosen=chosen if chosen in sides else "",
    )


def _value(kind: ResourceKind, path: Path, value: Any, *, changed: str = "") -> str:
    """Return a value as YAML, or "" if it is absent. `changed` is added to a masked value."""
    if value is ABSENT:
        return ""
    value = masked_at(kind, [part.removeprefix("f:") for part in path], value)
    if value == MASK and changed:
        return f"{MASK} {changed}"
    text = plain_yaml(value).removesuffix("...\n").strip()
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"


def _gone(asked: EditRequest) -> str:
    return _("The %(kind)s %(name)s no longer exists. Your text is kept below.") % asked.words
