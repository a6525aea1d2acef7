"""Doing something to one object: a page that asks, then the deed as the viewer.

The right is decided before anything is looked up, so a forbidden object that exists and one that does
not give the same answer. It is done to the object that was shown: its uid goes with the request, and
kube-apiserver refuses if another one has taken the name meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.errors import ApiError, NotFound, Overtaken
from console.kube.factory import UnknownKind
from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.actions import Action, Context, Done, Follow, Link, Outcome
from console.ui.clusters import HOST, Cluster
from console.ui.decisions import Denied, NotArrived, Refused
from console.ui.detail import followed
from console.ui.forms import ConsoleForm
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.links import action_url, list_url, object_url
from console.ui.places import DetailPlace, ListPlace, PagePlace, find_kind, find_place
from console.ui.reading import find_entry
from console.ui.states import denied_text
from console.ui.statuses import form_status, success_response, wants_status
from console.ui.subject import Subject
from console.ui.text import visible
from console.views import problems
from console.views.deciding import check_may
from console.views.errors import error_page
from console.views.guard import SAFE_METHODS, access_of
from console.views.history import kept_of, remember_action
from console.views.listbefore import referring_url
from console.views.page import finished, page
from console.views.trying import Outlook, try_as_user

#: Characters of a uid; Kubernetes' own have 36.
MAX_UID = 128
#: What is to become of what was filled in. `REVIEW`: only where the action `reviews`.
REVIEW, EDIT, SAVE = "review", "edit", "save"
#: Fields that are of the page around a form.
_OF_THE_PAGE = frozenset({"csrfmiddlewaretoken", "uid", "step"})
#: Seconds that an object is waited for whose kind nobody has looked at yet.
FIND_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address names: an action on an object, whether or not there is one. `back`: where the
    reader came from."""

    request: ConsoleRequest
    kind: ResourceKind
    action: Action
    key: Key
    access: Access
    back: str

    @property
    def url(self) -> str:
        return self.action.url(self.access.cluster.name, self.kind.segment, self.key)

    async def entry(self) -> Entry[Any] | None:
        """The object, None if there is none. Raises `Denied`, `NotArrived` and `UnknownKind`."""
        return await find_entry(self.kind, self.access, self.key, seconds=FIND_WAIT)


@sensitive_post_parameters()
@page("GET", "POST")
async def action_page(
    request: ConsoleRequest,
    cluster: Cluster,
    namespace: str,
    resource: str,
    name: str,
    action: str,
) -> HttpResponse:
    """GET asks, POST (`uid`, and the fields of the action's form) does it; `next` is the page to return
    to. `step` may be `edit`, which shows the form again and the line of kubectl for what is in it, and of
    an action that `reviews` also `review`, which shows what would come of it. With
    `Accept: application/json` the answer is a `Status`."""
    kind, found = find_action(cluster, namespace, resource, action)
    try:
        return await _answer(request, kind, found, cluster, Key(namespace, name))
    except RecursionError:
        return error_page(request, 422, problems.too_deep())


async def _answer(
    request: ConsoleRequest, kind: ResourceKind, found: Action, cluster: Cluster, key: Key
) -> HttpResponse:
    access = access_of(request)
    if not found.by_console(access, kind.gvr, key):
        check_may(kind, found, access, key)
    if isinstance(found, Link):
        return HttpResponseRedirect(found.url(cluster.name, kind.segment, key))
    await found.check(access, kind.gvr, key)
    back = _back(request, kind, cluster, found, key)
    asked = Asked(request, kind, found, key, access, back)
    if request.method == "POST":
        return await _do(asked)
    if not found.asks:
        return error_page(request, 405, _("This is done with a button of the object's page."))
    entry = await asked.entry()
    if entry is None:
        return _gone(asked)
    if not found.applicable(entry):
        return error_page(request, 409, not_applicable())
    subject = await _subject(asked, entry)
    if found.reads_live:
        subject = replace(subject, live=await _live(asked))
    form = found.make_form(subject, None)
    return _confirm(asked, subject, form, _so_far(form))


def find_action(
    cluster: Cluster, namespace: str, resource: str, action: str
) -> tuple[ResourceKind, Action]:
    """What the parts of an address name, or `Http404`."""
    kind = find_kind(cluster, resource)
    found = kind.shown_actions.get(action) if kind is not None else None
    if kind is None or found is None or kind.view.namespaced is not bool(namespace):
        raise Http404
    return kind, found


@require_http_methods(["GET", "HEAD", "POST"])
async def old_address(
    request: ConsoleRequest,
    resource: str,
    name: str,
    action: str,
    namespace: str = "",
    cluster: Cluster | None = None,
) -> HttpResponse:
    """Where an action was before all of them had one address. `cluster`: the host if none is named."""
    url = action_url(action, cluster.name if cluster else HOST, resource, Key(namespace, name))
    query = request.META.get("QUERY_STRING", "")
    changes = request.method not in SAFE_METHODS
    return HttpResponseRedirect(f"{url}?{query}" if query else url, preserve_request=changes)


async def run_as_user(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    key: Key,
    access: Access,
    uid: str,
    data: Mapping[str, Any] | None = None,
) -> Outcome:
    """Raises `ApiError` and `AuditUnavailable`; in the latter case nothing was sent."""
    verb, subresource = action.recorded
    recorded = request_action(
        request,
        verb,
        kind.gvr,
        namespace=key.namespace,
        name=action.recorded_name(key, data or {}),
        subresource=subresource,
    )
    runtime = access.cluster.runtime
    natively = action.may(access, kind.gvr, key)
    by_console = not natively and action.by_console(access, kind.gvr, key)
    client = runtime.console if by_console else runtime.as_user(access.identity)
    before = kept_of(kind, access, key, uid) if action.stays else None

    async def also(other: Action, other_key: Key, other_uid: str) -> str:
        try:
            check_may(kind, other, access, other_key)
            await run_as_user(request, kind, other, other_key, access, other_uid)
        except Denied as error:
            return denied_text(error, kind.nouns)
        except (NotArrived, Refused) as error:
            return str(error)
        except (ApiError, AuditUnavailable) as error:
            return refusal_text(error)
        return ""

    async with record(recorded) as recording:
        audit_id = recording.audit_id
        context = Context(request, kind, key, uid, access, client, audit_id, also, data or {})
        outcome = await action.run(context)
    if before is not None:
        await remember_action(context, recorded, before)
    return outcome


def refusal_text(error: problems.Problem) -> str:
    another = _("It is not the one you saw: another one has taken its name since.")
    changed = "" if isinstance(error, Overtaken) else another
    return problems.words(error, changed=changed)


async def _do(asked: Asked) -> HttpResponse:
    request, action = asked.request, asked.action
    uid = request.POST.get("uid", "")
    if action.wants_uid and (not uid or len(uid) > MAX_UID or not uid.isprintable()):
        return error_page(request, 400, _("The form is not complete. Load the page again."))
    subject = await _subject_or_none(asked, needed=action.has_form)
    if subject is None and action.has_form:
        return _gone(asked)
    form = action.make_form(subject, request.POST) if subject is not None else None
    step = request.POST.get("step", SAVE)
    if form is not None:
        form.files = request.FILES
        if not form.is_valid():
            # While somebody types, a line of what it was before would be taken for what it is.
            data = None if step == EDIT else _so_far(form)
            return _confirm(asked, subject, form, data, uid=uid, status=400)
    steps = (REVIEW, EDIT, SAVE) if action.reviews else (EDIT, SAVE)
    # A program has no form to go back to.
    if step not in steps or (step == EDIT and wants_status(request)):
        return error_page(request, 400, _("The form is not complete. Load the page again."))
    filled = _so_far(form)
    if step == EDIT:
        return _confirm(asked, subject, form, filled, uid=uid)
    entry = subject.entry if subject is not None else None
    if entry is not None and entry.projection.uid == uid and not action.applicable(entry):
        text = not_applicable()
        return _confirm(asked, subject, form, filled, uid=uid, error=text, status=409)
    data = form.cleaned_data if form is not None else {}
    about = (request, asked.kind, action, asked.key, asked.access, uid, data)
    try:
        if step == REVIEW:
            return _review(asked, subject, uid, data, await try_as_user(*about))
        outcome = await run_as_user(*about)
    except (ApiError, AuditUnavailable) as error:
        return await _refused(asked, form, filled, uid, error)
    if isinstance(outcome, Follow):
        url = object_url(asked.access.cluster.name, asked.kind.segment, asked.key)
        return finished(request, outcome.text, url)
    if isinstance(outcome, Done):
        return finished(request, outcome.text, outcome.url or asked.back)
    response = render(request, outcome.template, dict(outcome.values))
    response["Cache-Control"] = "no-store"
    return response


async def _refused(
    asked: Asked,
    form: ConsoleForm | None,
    data: Mapping[str, Any],
    uid: str,
    error: problems.Problem,
) -> HttpResponse:
    """The form again, with the reason and with the `uid` that was sent: a second try must not take
    another object than the one that was shown."""
    if isinstance(error, NotFound) and not asked.action.asks:
        return _gone(asked)
    if wants_status(asked.request):
        return error_page(asked.request, error.page_code, refusal_text(error))
    code, text = error.page_code, refusal_text(error)
    if form is not None:
        problems.apply(error, form, text)
        text = ""
    subject = await _subject_or_none(asked)
    return _confirm(asked, subject, form, data, uid=uid, error=text, status=code)


async def _subject(asked: Asked, entry: Entry[Any]) -> Subject:
    access = asked.access
    informers = followed(asked.action.reads(asked.kind), access)
    for gvr in informers:
        await access.cluster.runtime.wait_synced(gvr, timeout=FIND_WAIT)
    query = asked.request.GET.dict()
    return Subject(asked.kind, asked.key, entry, access, informers, access.cluster.name, query)


async def _live(asked: Asked) -> Mapping[str, Any]:
    """The object now, as the viewer. Raises `ApiError`."""
    client = asked.access.cluster.runtime.as_user(asked.access.identity)
    return await client.get(asked.kind.gvr, namespace=asked.key.namespace, name=asked.key.name)


async def _subject_or_none(asked: Asked, *, needed: bool = False) -> Subject | None:
    """Kube-apiserver decides what becomes of an object that nobody here can look at, unless that is
    `needed`. Raises as `Asked.entry` then."""
    try:
        entry = await asked.entry()
    except (Denied, NotArrived, UnknownKind):
        if needed:
            raise
        return None
    return await _subject(asked, entry) if entry is not None else None


def _confirm(
    asked: Asked,
    subject: Subject | None,
    form: ConsoleForm | None,
    data: Mapping[str, Any] | None,
    *,
    uid: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    action, kind = asked.action, asked.kind
    if wants_status(asked.request):
        return form_status(form, status, error)
    if not action.asks:
        return error_page(asked.request, status, error)
    entry = subject.entry if subject is not None else None
    context = {
        **_context(asked, subject, data),
        "has_line": type(action).command is not Action.command,
        "effect": action.effect(kind),
        "facts": action.facts(kind, entry) if entry is not None else (),
        "evidence": action.evidence(subject, form) if subject is not None else "",
        "form": form,
        "uid": uid or (entry.projection.uid if entry else ""),
        "error": error,
    }
    return render(asked.request, "console/action.html", context, status=status)


def _review(
    asked: Asked, subject: Subject | None, uid: str, data: Mapping[str, Any], outlook: Outlook
) -> HttpResponse:
    if wants_status(asked.request):
        return success_response(_("It can be done. Nothing is changed yet."))
    sent = [(name, one) for name, values in asked.request.POST.lists() for one in values]
    context = {
        **_context(asked, subject, data),
        "sent": [pair for pair in sent if pair[0] not in _OF_THE_PAGE],
        "difference": outlook.difference,
        "warnings": outlook.warnings,
        "uid": uid,
    }
    return render(asked.request, "console/action_review.html", context)


def _context(
    asked: Asked, subject: Subject | None, data: Mapping[str, Any] | None
) -> dict[str, Any]:
    """`data`: what a line of kubectl is made of, None for none."""
    action, kind, key = asked.action, asked.kind, asked.key
    natively = action.may(asked.access, kind.gvr, key)
    return {
        "title": action.title(kind, visible(key.name)),
        "object_name": visible(key.name),
        "namespace": visible(key.namespace),
        "kind": kind.view,
        "action": action,
        "button": action.button(kind),
        "notes": action.notes(subject) if subject is not None else (),
        # What the console does for somebody they cannot do with kubectl.
        "command": visible(action.command(kind, key, data))
        if natively and data is not None
        else "",
        "action_url": f"{asked.url}?{urlencode({'next': asked.back})}",
        "cancel_url": asked.back,
    }


def _so_far(form: ConsoleForm | None) -> dict[str, Any]:
    """What is filled in as far as it is right, and what the form begins with."""
    return {**form.initial, **getattr(form, "cleaned_data", {})} if form is not None else {}


def _gone(asked: Asked) -> HttpResponse:
    words = {"kind": asked.kind.singular, "key": visible(str(asked.key))}
    return error_page(asked.request, 404, _("There is no %(kind)s %(key)s.") % words)


def not_applicable() -> str:
    return _("This cannot be done to it as it is now.")


def _back(
    request: ConsoleRequest, kind: ResourceKind, cluster: Cluster, action: Action, key: Key
) -> str:
    """The list or page that the viewer came from, by `next` or else by the referring page; only ours.
    From a page of an object that does not stay it is the list above."""
    links = [one for one in kind.actions if isinstance(one, Link)]
    pages = {one.url(cluster.name, kind.segment, key) for one in links}
    pages.add(object_url(cluster.name, kind.segment, key))
    for url in (request.GET.get("next", ""), referring_url(request)):
        place = find_place(url)
        if isinstance(place, ListPlace) and not place.spec.errors:
            return place.url
        if isinstance(place, PagePlace):
            return place.url
        if isinstance(place, DetailPlace):
            above = list_url(place.cluster.name, place.kind.segment, place.key.namespace)
            return place.url if action.stays else above
        if url in pages and action.stays:
            return url
    return list_url(cluster.name, kind.segment)
