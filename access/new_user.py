"""Page that creates a user with a platform role.

A user who may create users only through a platform role cannot create a username whose existing
bindings exceed the creator's own permissions. As in KubeSphere's form, no further permission is
required to grant the new user a role, but the role must not exceed the creator's own
permissions.
"""

from collections.abc import Mapping

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from access.roles.granting import bind
from access.roles.lookup import ScopedRole, informer_of, is_allowed
from access.roles.writing import Escalation, require_bindable
from accounts.admin.authority import CREATE, administers, check_holds_no_more, may_create
from accounts.admin.forms import NewUserForm, profile_spec
from accounts.admin.views import user_url
from accounts.oauth.holders import UNINITIALIZED
from accounts.signin.new_passwords import busy_text
from accounts.signin.passwords import TooBusy, hash_password
from accounts.time import now
from accounts.users.directory import trusted_users, wait_for_version
from accounts.users.reconciler import FINALIZER
from accounts.users.states import CHANGED_ANNOTATION, time_text
from console.audit.trail import AuditUnavailable
from console.kube.apply import Manifest
from console.kube.errors import ApiError
from console.kube.gvr import USERS, Key
from console.kube.projections.roles import CREATOR_ANNOTATION
from console.ui.core.access import Access
from console.ui.core.clusters import HOST
from console.ui.core.links import list_url
from console.ui.core.menu import USERS_ENTRY
from console.ui.core.permissions import Denied, Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import ChoiceField, posted
from console.views import problems
from console.views.guard import access_of
from console.views.page import page
from console.views.perform import perform
from rbac.levels import TYPES, Level, RoleScope

PLATFORM = RoleScope(Level.GLOBAL)
#: Role of most users, who see only what they are invited to.
REGULAR_ROLE = "platform-regular"
#: KubeSphere's roles of requests without a User, and of all signed-in users.
_NOT_FOR_USERS = frozenset({"anonymous", "authenticated", "pre-registration"})


class NewAccountForm(NewUserForm):
    """Form for a new user. `roles` contains the roles that the viewer may grant, by name."""

    def __init__(self, data: QueryDict | None, roles: Mapping[str, ScopedRole]) -> None:
        super().__init__(data, initial={"role": REGULAR_ROLE if REGULAR_ROLE in roles else ""})
        if roles:
            choices = [("", _("none")), *((name, name) for name in sorted(roles))]
            self.fields["role"] = ChoiceField(
                label=_("Platform role"),
                choices=choices,
                help_text=_("Permissions outside of workspaces. You can change the role later."),
            )


@sensitive_post_parameters("password")
@page("GET", "POST", menu=USERS_ENTRY)
async def new(request: ConsoleRequest) -> HttpResponse:
    access = access_of(request)
    if not may_create(access):
        raise Denied("create", USERS)
    trusted_users()
    roles = grantable_roles(request, access)
    form = NewAccountForm(posted(request), roles)
    if form.is_valid() and await create_user(request, access, form):
        await _grant_role(request, access, form, roles.get(form.cleaned_data.get("role", "")))
        return HttpResponseRedirect(user_url(form.user_name))
    back = list_url(HOST, "users.iam.kubesphere.io")
    template, status = "accounts/admin/new.html", form.page_status
    return render(request, template, {"form": form, "back": back}, status=status)


def grantable_roles(request: ConsoleRequest, access: Access) -> dict[str, ScopedRole]:
    """Return the roles that the viewer may grant: roles without permissions that the viewer does
    not have. Raise `RolesNotCached`.
    """
    types = TYPES[PLATFORM.level]
    if not is_allowed(access, "create", types.bindings, PLATFORM) and not administers(
        access, CREATE
    ):
        return {}
    try:
        entries = informer_of(types.roles).store.snapshot().entries.values()
    except Http404:
        return {}
    roles = (ScopedRole(PLATFORM, entry) for entry in entries)
    found = (role for role in roles if role.is_grantable and role.name not in _NOT_FOR_USERS)
    return {role.name: role for role in found if _may_give(request, role)}


def _may_give(request: ConsoleRequest, role: ScopedRole) -> bool:
    try:
        require_bindable(request, role.place, role.name, role.rules)
    except (Denied, Escalation):
        return False
    return True


async def create_user(request: ConsoleRequest, access: Access, form: NewUserForm) -> bool:
    """Create the user and return True on success. Otherwise, add the error to the form. Raise
    `AuditUnavailable`.
    """
    name = form.user_name
    by_console = not access.can("create", USERS)
    try:
        if by_console:
            check_holds_no_more(access, name, is_new=True)
        body = _manifest(
            form, await hash_password(form.cleaned_data["password"]), access.identity.name
        )
        made = await perform(request, "create", USERS, Key("", name), body, by_console=by_console)
    except ApiError as error:
        problems.add_form_errors(error, form)
        return False
    except Refused as error:
        form.add_error(None, str(error))
        return False
    except TooBusy:
        form.add_error(None, busy_text())
        return False
    await wait_for_version(name, made["metadata"]["resourceVersion"])
    return True


async def _grant_role(
    request: ConsoleRequest, access: Access, form: NewUserForm, role: ScopedRole | None
) -> None:
    """Grant the role to the new user. If this fails, show a message and keep the user."""
    words = {"name": form.user_name, "role": role.name if role else ""}
    if role is None:
        messages.success(request, _("Created user %(name)s.") % words)
        return
    why = ""
    try:
        await bind(request, role, "User", form.user_name, first=administers(access, CREATE))
    except (ApiError, AuditUnavailable) as error:
        why = problems.error_text(error)
    except (Denied, Escalation):
        why = _("You no longer have permission to assign this role.")
    if why:
        text = _("Created user %(name)s, but without the role %(role)s.") % words
        messages.warning(request, f"{text} {why}")
        return
    messages.success(request, _("Created user %(name)s with the role %(role)s.") % words)


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
