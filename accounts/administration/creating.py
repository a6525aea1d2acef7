"""Making a user."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.administration.forms import NewUserForm, profile_spec
from accounts.administration.show import require, show_url
from accounts.controllers import FINALIZER
from accounts.directory import trusted_users, wait_for_version
from accounts.line import TooBusy
from accounts.new_passwords import busy_text
from accounts.oauth.holders import UNINITIALIZED
from accounts.passwords import hash_password
from accounts.time import now
from accounts.writing import CHANGED_ANNOTATION, Manifest, time_text
from console.audit.trail import record, request_action
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.kube.gvr import USERS
from console.kube.projections.roles import CREATOR_ANNOTATION
from console.ui.access import Access
from console.ui.clusters import HOST
from console.ui.forms import posted
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
    template, status = "accounts/administration/new.html", form.page_status
    return render(request, template, {"form": form, "back": back}, status=status)


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
    spec = {
        name: text for name, text in profile_spec(form.cleaned_data).items() if text is not None
    }
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
