"""Making a user, changing the profile, and setting another password."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.administration.forms import NewUserForm, PasswordForm, ProfileForm
from accounts.administration.show import nobody, show_url
from accounts.administration.target import find_target, require, write_target
from accounts.controllers import FINALIZER
from accounts.directory import trusted_users, wait_for_version
from accounts.new_passwords import busy_text, set_password
from accounts.oauth.holders import UNINITIALIZED
from accounts.passwords import TooBusy, hash_password
from accounts.protection.endings import end_everything
from accounts.time import now
from accounts.writing import CHANGED_ANNOTATION, Manifest, patch_user, time_text
from console.audit.trail import Recording, record, request_action
from console.kube.client import UserClient
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.kube.gvr import USERS
from console.kube.projections.roles import CREATOR_ANNOTATION
from console.ui.access import Access
from console.ui.clusters import HOST
from console.ui.forms import ConsoleForm, posted
from console.ui.http import ConsoleRequest
from console.ui.links import list_url
from console.views import problems
from console.views.page import page


@sensitive_post_parameters("password")
@page("GET", "POST")
async def new(request: ConsoleRequest) -> HttpResponse:
    access = require(request, "create")
    trusted_users()
    form = NewUserForm(posted(request))
    if form.is_valid() and await _made(request, access, form):
        messages.success(request, _("Created user %(name)s.") % {"name": form.user_name})
        return HttpResponseRedirect(show_url(form.user_name))
    back = list_url(HOST, "users.iam.kubesphere.io")
    return _page(request, form, _("Create user"), _("Create user"), back)


@page("GET", "POST")
async def edit(request: ConsoleRequest, name: str) -> HttpResponse:
    target = find_target(request, "patch", name)
    if target.entry is None:
        return nobody(request, name)
    user = target.entry.projection
    spec = target.entry.original().get("spec") or {}
    form = ProfileForm(posted(request), user=user, initial=spec)

    async def write(client: UserClient, user: Manifest, recording: Recording) -> Manifest:
        return await patch_user(client, user, {"spec": form.spec()}, audit_id=recording.audit_id)

    uid = request.POST.get("uid", "") if form.is_bound else user.uid
    try:
        if form.is_valid():
            await write_target(request, target, "patch", "profile", uid, write)
            messages.success(request, _("Saved user %(name)s.") % {"name": name})
            return HttpResponseRedirect(show_url(name))
    except ApiError as error:
        problems.apply(error, form)
    title = _("Edit user %(name)s") % {"name": name}
    return _page(request, form, title, _("Save user"), show_url(name), uid=uid)


@sensitive_post_parameters("password")
@page("GET", "POST")
async def password(request: ConsoleRequest, name: str) -> HttpResponse:
    """Without the old one, which is why nobody does so to themselves: a browser that was left open must
    not give the account away. Everything that the user has ends with it."""
    target = find_target(request, "patch", name)
    if target.entry is None:
        return nobody(request, name)
    if target.is_self:
        return HttpResponseRedirect(reverse("accounts:own:account"))
    user = target.entry.projection
    form = PasswordForm(posted(request), user=user)

    async def write(client: UserClient, user: Manifest, recording: Recording) -> Manifest:
        return await set_password(
            client, user, form.cleaned_data["password"], now(),
            must_change=form.cleaned_data["change"], audit_id=recording.audit_id,
        )  # fmt: skip

    uid = request.POST.get("uid", "") if form.is_bound else user.uid
    try:
        if form.is_valid():
            await write_target(request, target, "patch", "password", uid, write)
            await end_everything(name, "PasswordReset", now())
            text = _("Reset the password of user %(name)s. All sessions and tokens have ended.")
            messages.success(request, text % {"name": name})
            return HttpResponseRedirect(show_url(name))
    except ApiError as error:
        problems.apply(error, form)
    except TooBusy:
        form.add_error(None, busy_text())
    title = _("Reset the password of user %(name)s") % {"name": name}
    return _page(request, form, title, _("Reset password"), show_url(name), uid=uid)


async def _made(request: ConsoleRequest, access: Access, form: NewUserForm) -> bool:
    """True if the user is there; else the form says why not. Raises `AuditUnavailable`."""
    name = form.user_name
    client = get_runtime().as_user(access.identity)
    try:
        hashed = await hash_password(form.cleaned_data["password"])
        async with record(request_action(request, "create", USERS, name=name)) as recording:
            body = _manifest(form, hashed, access.identity.name)
            made = await client.create(USERS, body, audit_id=recording.audit_id)
    except ApiError as error:
        problems.apply(error, form)
        return False
    except TooBusy:
        form.add_error(None, busy_text())
        return False
    await wait_for_version(name, made["metadata"]["resourceVersion"])
    return True


def _manifest(form: NewUserForm, hashed: str, creator: str) -> Manifest:
    annotations = {CREATOR_ANNOTATION: creator, CHANGED_ANNOTATION: time_text(now())}
    if form.cleaned_data["change"]:
        annotations[UNINITIALIZED] = "true"
    spec = {name: text for name, text in form.spec().items() if text is not None}
    return {
        "apiVersion": USERS.group_version,
        "kind": "User",
        "metadata": {
            "name": form.user_name,
            "annotations": annotations,
            "finalizers": [FINALIZER],
        },
        "spec": {**spec, "password": hashed},
    }


def _page(
    request: ConsoleRequest, form: ConsoleForm, title: str, button: str, back: str, *, uid: str = ""
) -> HttpResponse:
    context = {"form": form, "title": title, "button": button, "back": back, "uid": uid}
    status = form.page_status
    return render(request, "accounts/administration/form.html", context, status=status)
