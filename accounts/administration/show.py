"""One account: what is known of it, its logins and sessions, and what can be done to it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from accounts.administration.acts import ACTS
from accounts.administration.target import Target, find_target, require, write_target
from accounts.factors.checking import has_factor
from accounts.login_page import too_many
from accounts.oauth.holders import UNINITIALIZED
from accounts.oauth.options import options
from accounts.own.history import history_of
from accounts.protection import attempts, signins
from accounts.states import ACTIVE, DISABLED, LOCKED, lock_left
from accounts.time import now
from accounts.viewing.state import may_view
from accounts.writing import CHANGED_ANNOTATION, Manifest, patch_user
from console.audit.trail import Recording
from console.kube.client import UserClient
from console.kube.errors import ApiError
from console.kube.gvr import LOGIN_RECORDS, USERS, Key
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.clusters import HOST, Cluster
from console.ui.http import ConsoleRequest
from console.ui.links import action_url, list_url
from console.ui.text import visible
from console.views import problems
from console.views.errors import error_page
from console.views.page import page

#: Characters of a uid; Kubernetes' own have 36.
MAX_UID = 128
_SEGMENT = "users.iam.kubesphere.io"


@dataclass(frozen=True, slots=True)
class Button:
    label: str | Promise
    url: str


@page("GET")
async def accounts(request: ConsoleRequest) -> HttpResponse:
    """The list is that of the kind."""
    require(request, "list")
    return HttpResponseRedirect(list_url(HOST, _SEGMENT))


@page("GET")
async def from_list(
    request: ConsoleRequest, cluster: Cluster, resource: str, name: str
) -> HttpResponse:
    """Where the menu of a row leads."""
    if cluster.name != HOST or resource != _SEGMENT:
        raise Http404
    require(request, "patch", name)
    return HttpResponseRedirect(show_url(name))


@page("GET")
async def show(request: ConsoleRequest, name: str) -> HttpResponse:
    target = find_target(request, "get", name)
    if target.entry is None:
        return nobody(request, name)
    return await shown(request, target, target.entry)


@page("POST")
async def act(request: ConsoleRequest, name: str, act: str) -> HttpResponse:
    """`uid`: of the user that was shown."""
    known = ACTS.get(act)
    if known is None:
        raise Http404
    target = find_target(request, "patch", name)
    uid = given_uid(request)
    if target.entry is None:
        return nobody(request, name)
    if act not in await _offered(target, target.entry):
        problem = _("This cannot be done to the user as it is now.")
        return await shown(request, target, target.entry, error=problem, status=409)

    async def write(client: UserClient, user: Manifest, recording: Recording) -> Manifest:
        return await patch_user(client, user, known.patch(), audit_id=recording.audit_id)

    try:
        await write_target(request, target, "patch", act, uid, write)
    except ApiError as error:
        text = problems.words(error)
        return await shown(request, target, target.entry, error=text, status=error.page_code)
    if known.after is not None:
        await known.after(name)
    messages.success(request, known.done % {"name": name})
    return HttpResponseRedirect(show_url(name))


def show_url(name: str) -> str:
    return reverse("accounts:administration:show", args=(name,))


def nobody(request: ConsoleRequest, name: str) -> HttpResponse:
    return error_page(request, 404, _("There is no user %(name)s.") % {"name": visible(name)})


def given_uid(request: ConsoleRequest) -> str:
    return request.POST.get("uid", "")[:MAX_UID]


async def shown(
    request: ConsoleRequest,
    target: Target,
    entry: Entry[User],
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    access, name = target.access, target.name
    may_change = access.can("patch", USERS, name=name)
    context: dict[str, Any] = {
        "name": name,
        "uid": entry.projection.uid,
        "error": error,
        "facts": await _facts(entry),
        "acts": [],
        "delete_url": "",
    }
    # What they may do is a page of its own, above this package.
    context["buttons"] = [Button(_("Rights"), reverse("access:rights", args=(name,)))]
    if not target.is_self and may_view(access.identity, name):
        url = reverse("accounts:viewing:begin", args=(name,))
        context["buttons"].append(Button(_("View as %(name)s") % {"name": visible(name)}, url))
    if may_change:
        context["acts"] = [
            Button(ACTS[act].label, reverse("accounts:administration:act", args=(name, act)))
            for act in await _offered(target, entry)
        ]
        context["buttons"].append(
            Button(_("Edit"), reverse("accounts:administration:edit", args=(name,)))
        )
        if not target.is_self:
            url = reverse("accounts:administration:password", args=(name,))
            context["buttons"].append(Button(_("Reset password"), url))
        context["sessions"] = await sync_to_async(signins.signed_in)(name, now())
    if access.can("delete", USERS, name=name) and not target.is_self:
        context["delete_url"] = action_url("delete", HOST, _SEGMENT, Key("", name))
    if access.can("list", LOGIN_RECORDS):
        context["history"] = await history_of(name)
    return render(request, "accounts/administration/show.html", context, status=status)


async def _offered(target: Target, entry: Entry[User]) -> list[str]:
    """What makes sense now."""
    state = entry.projection.state
    if state == DISABLED:
        return [] if target.is_self else ["enable"]
    found = ["unlock"] if await _wait(entry) is not None or state == LOCKED else []
    found += [] if target.is_self else ["disable"]
    if not target.is_self and await has_factor(entry.projection):
        found.append("reset-second-factor")
    return [*found, "end-sessions"]


async def _wait(entry: Entry[User]) -> float | None:
    """Seconds until the user may try again; None if they may now."""
    limits, moment = options().limits, now()
    wait = await sync_to_async(attempts.locked_for)(entry.key.name, limits, moment)
    if entry.projection.state != LOCKED:
        return wait
    left = lock_left(entry.original().get("status") or {}, limits.duration, moment)
    return max(wait or 0.0, left) or None


async def _facts(entry: Entry[User]) -> list[tuple[str, str]]:
    user, original = entry.projection, entry.original()
    spec, status = original.get("spec") or {}, original.get("status") or {}
    wait = await _wait(entry)
    facts = [
        (_("State"), _state_text(user)),
        (_("Locked"), too_many(wait) if wait and user.state != DISABLED else ""),
        (_("Email"), str(spec.get("email") or "")),
        (_("Display name"), str(spec.get("displayName") or "")),
        (_("Description"), str(spec.get("description") or "")),
        (_("Password"), _password_text(user)),
        (_("Second factor"), _("On") if await has_factor(user) else _("Off")),
        (_("Password changed"), _moment(user.annotations.get(CHANGED_ANNOTATION))),
        (_("Last login"), _moment(status.get("lastLoginTime"))),
    ]
    return [(label, visible(text)) for label, text in facts if text]


def _state_text(user: User) -> str:
    if user.deleted is not None:
        return _("Terminating")
    known = {"": _("Waiting"), ACTIVE: _("Active"), DISABLED: _("Disabled"), LOCKED: _("Locked")}
    return known.get(user.state, user.state)


def _password_text(user: User) -> str:
    if not user.has_password:
        return _("none")
    return _("must change at the next login") if user.annotations.get(UNINITIALIZED) else ""


def _moment(text: object) -> str:
    """To the second, in UTC."""
    try:
        return datetime.fromisoformat(str(text)).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return ""
