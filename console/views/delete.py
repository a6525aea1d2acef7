"""Deleting one object: a page that says what goes, then the deletion as the viewer.

The right is decided before anything is looked up, so a forbidden object that exists and one that does
not give the same answer. What is deleted is the object that was shown: its uid goes with the request,
and kube-apiserver refuses if another one has taken the name meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.errors import ApiError
from console.kube.gvr import Key
from console.kube.runtime import UnknownKind
from console.kube.store import Entry
from console.ui.access import Access, Doubting
from console.ui.clusters import Cluster
from console.ui.decisions import Denied, check_seen, lacking
from console.ui.http import ConsoleRequest
from console.ui.kind import Fact, ResourceKind
from console.ui.links import action_url, list_url
from console.ui.places import DetailPlace, ListPlace, find_kind, find_place
from console.ui.reading import find_entry
from console.ui.text import visible
from console.views import problems
from console.views.denial import denied_page
from console.views.errors import error_page
from console.views.guard import access_of, refuse_anonymous

ACTION = "delete"
#: Characters of a uid; Kubernetes' own have 36.
MAX_UID = 128
#: Seconds that an object is waited for whose kind nobody has looked at yet.
FIND_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Target:
    """The object that the address names, whether or not there is one."""

    kind: ResourceKind
    cluster: str
    key: Key
    back: str

    @property
    def url(self) -> str:
        url = action_url(ACTION, self.cluster, self.kind.segment, self.key)
        return f"{url}?{urlencode({'next': self.back})}"


@require_http_methods(["GET", "HEAD", "POST"])
async def delete_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """GET shows what would be deleted, POST (`uid`) deletes it; `next` is the list to return to."""
    refusal = refuse_anonymous(request)
    if refusal is not None:
        return refusal
    kind = find_kind(cluster, resource)
    if kind is None or ACTION not in kind.shown_actions:
        raise Http404
    if kind.view.namespaced is not bool(namespace):
        raise Http404
    access = access_of(request)
    target = Target(kind, cluster.name, Key(namespace, name), _back(request, kind, cluster))
    try:
        check_seen(kind, access, target.key)
        action = kind.shown_actions[ACTION]
        if not action.may(access, kind.gvr, target.key):
            if not is_in_doubt(access):
                missing = action.missing(access, kind.gvr, target.key)
                raise lacking(missing or action.needs[0], kind.gvr, namespace)
            # Rights that nobody can confirm now change nothing; that is not the same as having none.
            text = _("The cluster does not answer, so nothing can be deleted now.")
            return error_page(request, 503, text)
    except Denied as denied:
        return denied_page(request, denied, kind)
    if request.method == "POST":
        return await _delete(request, target, access)
    try:
        entry = await find_entry(kind, access, target.key, seconds=FIND_WAIT)
    except Denied as denied:
        return denied_page(request, denied, kind)
    except UnknownKind as error:
        raise Http404 from error
    return _gone(request, target) if entry is None else _confirm(request, target, entry)


def is_in_doubt(access: Access) -> bool:
    """True if a missing right may be one that nobody can confirm now. Types that say nothing about
    rights may be away or refused to the console for ever."""
    return isinstance(access, Doubting) and access.in_doubt()


def _back(request: ConsoleRequest, kind: ResourceKind, cluster: Cluster) -> str:
    """The list that the viewer came from, by `next` or else by the referring page; only lists of ours.
    From a detail it is the one above."""
    own = f"{request.scheme}://{request.get_host()}/"
    referrer = request.headers.get("Referer", "")
    came_from = "/" + referrer.removeprefix(own) if referrer.startswith(own) else ""
    for url in (request.GET.get("next", ""), came_from):
        place = find_place(url)
        if isinstance(place, ListPlace) and not place.spec.errors:
            return place.url
        if isinstance(place, DetailPlace):
            return list_url(place.cluster.name, place.kind.segment, place.key.namespace)
    return list_url(cluster.name, kind.segment)


async def _delete(request: ConsoleRequest, target: Target, access: Access) -> HttpResponse:
    uid = request.POST.get("uid", "")
    if not uid or len(uid) > MAX_UID or not uid.isprintable():
        return error_page(request, 400, _("The form is not complete. Load the page again."))
    try:
        await delete_as_user(request, target.kind, target.key, access, uid)
    except (ApiError, AuditUnavailable) as error:
        return await _refused(request, target, access, uid, error.page_code, refusal_text(error))
    words = {"kind": target.kind.singular, "name": visible(target.key.name)}
    messages.success(request, _("Deleted %(kind)s %(name)s.") % words)
    return HttpResponseRedirect(target.back)


async def delete_as_user(
    request: ConsoleRequest, kind: ResourceKind, key: Key, access: Access, uid: str
) -> None:
    """Raises `ApiError` and `AuditUnavailable`; in the latter case nothing was sent."""
    action = request_action(request, ACTION, kind.gvr, namespace=key.namespace, name=key.name)
    client = access.cluster.runtime.as_user(access.identity)
    async with record(action) as recording:
        await client.delete(
            kind.gvr,
            namespace=key.namespace,
            name=key.name,
            uid=uid,
            audit_id=recording.audit_id,
        )


async def _refused(
    request: ConsoleRequest, target: Target, access: Access, uid: str, code: int, text: str
) -> HttpResponse:
    """The form again, with the reason and with the `uid` that was sent: a second try must not take
    another object than the one that was shown."""
    try:
        entry = await find_entry(target.kind, access, target.key, seconds=FIND_WAIT)
    except (Denied, UnknownKind):
        entry = None
    return _confirm(request, target, entry, uid=uid, error=text, status=code)


def _confirm(
    request: ConsoleRequest,
    target: Target,
    entry: Entry[Any] | None,
    *,
    uid: str = "",
    error: str | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "title": _("Delete %(kind)s %(name)s")
        % {"kind": target.kind.singular, "name": visible(target.key.name)},
        "object_name": visible(target.key.name),
        "namespace": visible(target.key.namespace),
        "kind": target.kind.view,
        "facts": _facts(target.kind, entry),
        "action_url": target.url,
        "cancel_url": target.back,
        "uid": uid or (entry.projection.uid if entry else ""),
        "error": error,
    }
    return render(request, "console/confirm_delete.html", context, status=status)


def _gone(request: ConsoleRequest, target: Target) -> HttpResponse:
    words = {"kind": target.kind.singular, "key": visible(str(target.key))}
    return error_page(request, 404, _("There is no %(kind)s %(key)s.") % words)


def _facts(kind: ResourceKind, entry: Entry[Any] | None) -> Sequence[Fact]:
    return kind.facts(entry) if entry is not None else ()


def refusal_text(error: problems.Problem) -> str:
    changed = _("It is not the one you saw: another one has taken its name since.")
    unsure = _("The cluster did not answer, so it may or may not be deleted.")
    return problems.words(error, changed=changed, unsure=unsure)
