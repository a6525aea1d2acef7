"""`iam.kubesphere.io/v1alpha2`: users.

Users may read their own account and change its profile and password, whatever their permissions.
Other changes are the actions of the account pages, with their checks.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from access.new_user import REGULAR_ROLE, NewAccountForm, create_user, grantable_roles
from access.roles.granting import bind, check_removable, unbind
from access.roles.lookup import ScopedRole, find_role, visible_holders
from accounts.admin.authority import CREATE, administers, may_create
from accounts.admin.forms import ProfileForm, profile_spec
from accounts.myaccount.own_user import own_user, update_own_user
from accounts.myaccount.password import OwnPasswordForm
from accounts.oauth.holders import UNINITIALIZED
from accounts.protection.revocation import revoke_all
from accounts.signin.language import LANGUAGES
from accounts.signin.new_passwords import set_password
from accounts.time import now
from accounts.users.directory import trusted_users
from accounts.users.kubesphere import GLOBAL_ROLE, global_role
from accounts.users.states import ACTIVE, DISABLED, patch_user
from console.gateway.errors import Refusal
from console.gateway.kapis.actions import check_form, form_data, invalid, run_action
from console.gateway.kapis.call import SUCCESS, Call, ObjectList, text_field
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.objects import (
    find_kind,
    get_object,
    list_entries,
    list_objects,
    not_found,
    original,
)
from console.gateway.kapis.query import LIST_PARAMETERS, ListRequest, read_list
from console.gateway.kapis.routes import LIST, MESSAGE, QueryParameter, route
from console.kube.apply import Manifest
from console.kube.gvr import LOGIN_RECORDS, USERS, Key
from console.kube.indexes import indexes_of
from console.kube.projections.tenancy import USER_LABEL
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Denied
from rbac.levels import Level, RoleScope

GROUP = "iam.kubesphere.io/v1alpha2"
_PLATFORM = RoleScope(Level.GLOBAL)
#: Filters of users that need other objects.
_BY_ROLE = ("globalrole", "ingroup", "notingroup")
_USER_FILTERS = (
    QueryParameter("email", "Email address."),
    QueryParameter("globalrole", "Platform role."),
    QueryParameter("ingroup", "Department that the user belongs to."),
    QueryParameter("notingroup", "Department that the user doesn't belong to."),
)


@route(
    *("GET", GROUP, "/users"),
    summary="List users",
    returns=LIST,
    query=(*LIST_PARAMETERS, *_USER_FILTERS),
)
async def list_users(call: Call) -> ObjectList:
    call.require_host()
    asked = read_list(call)
    kind = find_kind(call, USERS.resource)
    if not any(asked.filter(name) for name in _BY_ROLE):
        return await list_objects(call, kind, asked)
    if not call.access.can("list", USERS):
        raise Denied("list", USERS)
    entries = trusted_users().store.snapshot().entries.values()
    found = [one for one in entries if _is_selected(one.projection, asked)]
    return list_entries(call, kind, found, asked.without(*_BY_ROLE))


def _is_selected(user: Any, asked: ListRequest) -> bool:
    role, inside, outside = (asked.filter(name) for name in _BY_ROLE)
    return (
        (not role or global_role(user.name) == role)
        and (not inside or inside in user.groups)
        and (not outside or outside not in user.groups)
    )


@route(*("GET", GROUP, "/users/{user}"), summary="Get a user")
async def get_user(call: Call, user: str) -> Manifest:
    call.require_host()
    if user != call.user:
        return await get_object(call, find_kind(call, USERS.resource), Key("", user))
    return _shown(call, user)


def _shown(call: Call, name: str) -> Manifest:
    entry = trusted_users().store.get(Key("", name))
    if entry is None:
        raise not_found(f"{USERS.qualified} {name}")
    return decorated(call, find_kind(call, USERS.resource), original(entry))


@route(*("POST", GROUP, "/users"), summary="Create a user")
async def post_user(call: Call) -> Manifest:
    call.require_host()
    access, request = call.access, call.request
    if not may_create(access):
        raise Denied("create", USERS)
    body = call.object()
    meta, spec = body["metadata"], mapping(body, "spec")
    notes = mapping(meta, "annotations")
    roles = grantable_roles(request, access)
    wanted = notes.get(GLOBAL_ROLE) or (REGULAR_ROLE if REGULAR_ROLE in roles else "")
    values = {
        "name": text_field(meta, "name"),
        "role": wanted,
        **{name: text_field(spec, name) for name in _PROFILE},
        "password": text_field(spec, "password"),
        **({"change": "on"} if notes.get(UNINITIALIZED) == "true" else {}),
    }
    if wanted and wanted not in roles:
        raise Refusal(403, _("You cannot grant the role %(name)s.") % {"name": wanted})
    form = NewAccountForm(form_data(values), roles)
    check_form(form)
    if not await create_user(request, access, form):
        raise invalid(form)
    if wanted:
        first = administers(access, CREATE)
        await bind(request, roles[wanted], "User", form.user_name, first=first)
    return _shown(call, form.user_name)


_PROFILE = ("email", "displayName", "description")


@route(
    *("PUT", GROUP, "/users/{user}"), summary="Change profile, state and platform role of a user"
)
async def put_user(call: Call, user: str) -> Manifest:
    call.require_host()
    body = call.object()
    _check_version(user, body)
    return await _change(call, user, body)


@route(*("PATCH", GROUP, "/users/{user}"), summary="Change a user with a merge patch")
async def patch_user_object(call: Call, user: str) -> Manifest:
    call.require_host()
    found = call.json()
    if isinstance(found, list):
        found = _merge_patch(found)
    if not isinstance(found, dict):
        raise Refusal(400, _("The patch must be a JSON object or a list of operations."))
    return await _change(call, user, found)


async def _change(call: Call, user: str, body: Manifest) -> Manifest:
    """Apply the fields of a User that KubeSphere's console changes. Absent fields are kept."""
    spec, notes = mapping(body, "spec"), mapping(body, "metadata", "annotations")
    kind, key = find_kind(call, USERS.resource), Key("", user)
    current = await get_user(call, user)
    given = {name: spec[name] for name in _PROFILE if name in spec}
    before = {name: str(mapping(current, "spec").get(name) or "") for name in _PROFILE}
    values = {name: text_field(given, name) if name in given else before[name] for name in _PROFILE}
    if _is_self(call, user):
        await _change_own(call, values, spec)
    elif values != before:
        await run_action(call, kind, "profile", key, values)
    state = mapping(body, "status").get("state")
    if state in (ACTIVE, DISABLED) and state != mapping(current, "status").get("state"):
        await run_action(call, kind, "enable" if state == ACTIVE else "disable", key)
    role = notes.get(GLOBAL_ROLE)
    if isinstance(role, str) and role and role != global_role(user):
        await _set_global_role(call, user, role)
    changed: Manifest = await get_user(call, user)
    return changed


async def _change_own(call: Call, values: Mapping[str, str], spec: Mapping[str, Any]) -> None:
    entry = own_user(call.request)
    form = ProfileForm(form_data(values), user=entry.projection)
    check_form(form)
    changes = profile_spec(form.cleaned_data)
    if "lang" in spec:
        lang = text_field(spec, "lang")
        if lang not in LANGUAGES.values():
            text = _("The language must be one of %(known)s.")
            raise Refusal(400, text % {"known": ", ".join(LANGUAGES.values())})
        changes["lang"] = lang
    known = mapping(original(entry), "spec")
    changes = {name: value for name, value in changes.items() if known.get(name) != value}
    if changes:
        await update_own_user(call.request, "profile", partial(patch_user, patch={"spec": changes}))


async def _set_global_role(call: Call, user: str, name: str) -> None:
    """Give a user this platform role instead of the present ones."""
    role = find_role(call.access, Level.GLOBAL, "", name)
    if role is None or not role.is_grantable:
        raise not_found(f"globalroles {name}")
    await bind(call.request, role, "User", user)
    for other in _held(call, user):
        if other.name != name:
            held = list(visible_holders(call.access, other))
            for one in held:
                if one.subject == f"User {user}":
                    check_removable(other, one, held)
                    await unbind(call.request, other, one)


def _held(call: Call, user: str) -> Iterator[ScopedRole]:
    names = {global_role(user)} - {""}
    found = (find_role(call.access, Level.GLOBAL, "", name) for name in names)
    return (one for one in found if one is not None)


def _merge_patch(operations: list[Any]) -> Manifest:
    """Return the merge patch of a JSON patch on fields of spec. Raise `Refusal` for other paths.

    KubeSphere's console removes the annotation of a first sign-in in this way. The console does that
    itself when the password is changed, so the operation has no effect.
    """
    spec: dict[str, Any] = {}
    for one in operations:
        path = one.get("path") if isinstance(one, dict) else None
        parts = path.split("/") if isinstance(path, str) else []
        if parts[:3] == ["", "metadata", "annotations"] and one.get("op") == "remove":
            continue
        if len(parts) != 3 or parts[1] != "spec" or one.get("op") not in ("add", "replace"):
            raise Refusal(422, _("Only fields of spec can be changed with a JSON patch."))
        spec[parts[2]] = one.get("value")
    return {"spec": spec}


def _check_version(user: str, body: Manifest) -> None:
    """Raise `Refusal` 409 if the body has another resourceVersion than the user."""
    entry = trusted_users().store.get(Key("", user))
    given = body["metadata"].get("resourceVersion")
    if given and entry is not None and given != entry.resource_version:
        text = _("The user was changed. Read the user again and repeat the change.")
        raise Refusal(409, text)


def _is_self(call: Call, user: str) -> bool:
    """Return True for the own account, not while acting as another user."""
    return user == call.user == call.request.account


@route(*("DELETE", GROUP, "/users/{user}"), summary="Delete a user", returns=MESSAGE)
async def delete_user(call: Call, user: str) -> Mapping[str, str]:
    call.require_host()
    await run_action(call, find_kind(call, USERS.resource), "delete", Key("", user))
    return SUCCESS


@route(
    *("PUT", GROUP, "/users/{user}/password"),
    summary="Change the password. All sessions and tokens of the user end",
    returns=MESSAGE,
)
async def put_password(call: Call, user: str) -> Mapping[str, str]:
    call.require_host()
    body = call.json()
    password = text_field(body, "password")
    if not _is_self(call, user):
        kind = find_kind(call, USERS.resource)
        await run_action(call, kind, "password", Key("", user), {"password": password})
        return SUCCESS
    own = own_user(call.request).projection
    current = text_field(body, "currentPassword")
    values = {"current": current, "password": password, "again": password}
    form = OwnPasswordForm(own, form_data(values))
    if not await form.check_current_password(call.request):
        raise invalid(form)
    write = partial(set_password, password=password, now=now(), must_change=False)
    await update_own_user(call.request, "password", write)
    await revoke_all(user, "PasswordChanged", now())
    return SUCCESS


@route(
    *("GET", GROUP, "/users/{user}/loginrecords"),
    summary="List the sign-ins of a user",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_login_records(call: Call, user: str) -> ObjectList:
    call.require_host()
    if user != call.user and not call.access.can("list", LOGIN_RECORDS):
        raise Denied("list", LOGIN_RECORDS)
    kind, runtime = find_kind(call, LOGIN_RECORDS.resource), call.cluster.runtime
    await runtime.wait_synced(LOGIN_RECORDS, timeout=5.0)
    store = runtime.informer(LOGIN_RECORDS).store
    entries = indexes_of(store).by_label.get(f"{USER_LABEL}={user}")
    return list_entries(call, kind, entries, read_list(call))
